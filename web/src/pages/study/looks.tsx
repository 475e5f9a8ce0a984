// The interim looks at a study with `until_decided`, each with its interval.
import type { Study } from '../../api';
import { ForestAxis, ForestRow } from '../../charts/forest-mark';
import { formatChange, intervalText, VERDICTS } from '../../model/compare/metrics';
import { confidenceText, lookRows, lookScale, looksText } from '../../model/study/looks';
import { NamedRows } from '../../ui/named-rows';
import { Card, Notice } from '../../ui/parts';

export function Looks({ study }: { study: Study }) {
  const { until_decided: until, looks } = study;
  if (!until) return null;
  const decision = looks.find(({ outcome }) => outcome === 'decided');
  const scale = lookScale(study);
  const rows = lookRows(study).map(({ key, look, metric, change, note }) => ({
    key,
    name: `${look.pairs} pairs`,
    cells: [
      metric,
      confidenceText(look.confidence_percent),
      change?.percent == null ? (
        <span key="note" className="mute">
          {note || 'No value'}
        </span>
      ) : (
        <span key="change">
          {formatChange(change.percent)} <span className="mute small">{intervalText(change)}</span>
        </span>
      ),
      change && (
        <span key="verdict" className={`verdict ${change.verdict}`}>
          {VERDICTS[change.verdict]}
        </span>
      ),
      change?.percent != null && (
        <ForestRow key="plot" scale={scale} change={{ ...change, percent: change.percent }} />
      ),
    ],
  }));
  return (
    <>
      {decision && (
        <Notice
          badge={`Decided after ${decision.pairs} pairs`}
          title={decision.sentence}
          detail={decision.reasons.map((reason) => <p key={reason}>{reason}</p>)}
        />
      )}
      <Card title="Interim looks" aside={<span className="mute small">{looksText(until)}</span>}>
        <NamedRows
          className="looks"
          label="Interim looks"
          corner="Interim look"
          headers={[
            'Metric',
            'Level',
            'Change',
            'Verdict',
            <ForestAxis key="axis" scale={scale} />,
          ]}
          rows={rows}
        />
      </Card>
    </>
  );
}
