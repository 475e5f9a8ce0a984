// The steps as a table: results on this host next to the published results.
import type { Study } from '../../api';
import { VerdictBadge } from '../../charts/verdict-badge';
import { plural } from '../../model/format/numbers';
import {
  hiddenQueuedSteps,
  notNeededText,
  publishedHeaders,
  type StepRow,
  stepRows,
  stepsNotNeeded,
} from '../../model/study/rows';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';
import { RunLink } from '../../ui/run-links';

const HEADERS = ['IOPS', 'vs step 1', 'Bandwidth', 'p99', <span key="verdict">Verdict</span>];

export function Steps({ study }: { study: Study }) {
  const notNeeded = stepsNotNeeded(study);
  const later = hiddenQueuedSteps(study);
  const hidden = new Set([...notNeeded, ...later]);
  const steps = study.steps.filter((step) => !hidden.has(step));
  const published = publishedHeaders(study.published);
  const groups = [
    { label: 'This host', span: HEADERS.length },
    { label: 'Published', span: published.length },
  ];
  return (
    <Card
      title="Steps"
      aside={study.published && <span className="small">{study.published.source}</span>}
    >
      <NamedRows
        className="steps"
        label="Steps"
        corner="Step"
        headers={[...HEADERS, ...published]}
        groups={published.length > 0 ? groups : undefined}
        rows={stepRows({ ...study, steps }).map((row) => ({
          key: `${row.step}.${row.repeat}${row.name}`,
          name: <StepName {...row} />,
          cells: toCells(row),
        }))}
      />
      {later.length > 0 && <p className="mute small">{plural(later.length, 'more run')} queued.</p>}
      {notNeeded.length > 0 && <p className="mute small">{notNeededText(notNeeded)}</p>}
    </Card>
  );
}

function StepName({ step, repeat, name, note, run }: StepRow) {
  const numbered = step > 0 ? `${step} · ${name}` : name;
  const title = [numbered, repeat].filter(Boolean).join(' · ');
  return (
    <div className="step-name">
      {run === null ? title : <RunLink n={run}>{title}</RunLink>}
      <div className="mute small">{note}</div>
    </div>
  );
}

function toCells({ iops, change, bandwidth, p99, badge, sentence, status, published }: StepRow) {
  const verdict = (
    <div key="verdict" className="verdict">
      {badge && <VerdictBadge badge={badge} />} {sentence || status}
    </div>
  );
  const publishedCells = published.map((cell, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the order is fixed
    <span key={index} className="published">
      {cell}
    </span>
  ));
  return [<b key="iops">{iops}</b>, change, bandwidth, p99, verdict, ...publishedCells];
}
