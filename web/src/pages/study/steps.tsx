// The steps as a table: the numbers from here, where they came from, and beside them what others published.
import { Link } from '@tanstack/react-router';
import type { Study } from '../../api';
import { VerdictBadge } from '../../charts/verdict-badge';
import { publishedHeads, type StepRow, stepRows } from '../../model/study/rows';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

const HEADS = [
  'IOPS',
  'against step 1',
  'bandwidth',
  'p99',
  <span key="went">where the I/O went</span>,
];

/** The table. */
export function Steps({ study }: { study: Study }) {
  const published = publishedHeads(study.published);
  const groups = [
    { word: 'here', span: HEADS.length },
    { word: 'published', span: published.length },
  ];
  return (
    <Card
      title="Its steps"
      aside={study.published && <span className="small">{study.published.source}</span>}
    >
      <NamedRows
        className="steps"
        label="Steps"
        corner="step"
        heads={[...HEADS, ...published]}
        groups={published.length > 0 ? groups : undefined}
        rows={stepRows(study).map((row) => ({
          key: `${row.step}${row.name}`,
          name: <StepName {...row} />,
          cells: cellsOf(row),
        }))}
      />
    </Card>
  );
}

function StepName({ step, name, note, run }: StepRow) {
  const title = step > 0 ? `${step} ${name}` : name;
  return (
    <div className="step-name">
      {run === null ? (
        title
      ) : (
        <Link to="/runs/$n" params={{ n: String(run) }}>
          {title}
        </Link>
      )}
      <div className="mute small">{note}</div>
    </div>
  );
}

function cellsOf({ iops, change, bandwidth, p99, badge, sentence, status, published }: StepRow) {
  const went = (
    <div key="went" className="went">
      {badge && <VerdictBadge badge={badge} />} {sentence || status}
    </div>
  );
  const beside = published.map((cell, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: cells stand in the order of the columns
    <span key={place} className="published">
      {cell}
    </span>
  ));
  return [<b key="iops">{iops}</b>, change, bandwidth, p99, went, ...beside];
}
