// The numbers, one row each, with their change against the baseline. A change is not coloured: with single runs nobody
// knows whether it is one.
import type { ComparedMetric, Comparison } from '../../api';
import { Legend } from '../../charts/legend';
import { changeInWords, directionsIn, metricName, strokeOf, valueInUnit } from '../../model/compare';

/** The table. */
export function Numbers({ comparison: { metrics, runs } }: { comparison: Comparison }) {
  const directions = directionsIn(metrics);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className="scroll-x" tabIndex={0} aria-label="Numbers, scrollable">
      <table className="numbers">
        <thead>
          <tr>
            <th scope="col">number</th>
            {runs.map(({ run }, place) => (
              <th key={run.number} scope="col">
                <Legend entries={[{ label: `#${run.number}`, ...strokeOf(place) }]} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {metrics.map((metric) => (
            <MetricRow key={metric.name} metric={metric} name={metricName(metric, directions)} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function MetricRow({ metric: { values, unit, change_percent, better }, name }: { metric: ComparedMetric; name: string }) {
  return (
    <tr>
      <th scope="row">
        {name}{' '}
        {better && (
          <span className="mute" title={`${better} is better`}>
            <span aria-hidden>{better === 'higher' ? '↑' : '↓'}</span>
            <span className="hidden">{better} is better</span>
          </span>
        )}
      </th>
      {values.map((value, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: values stand in the order of the runs
        <td key={place}>
          {valueInUnit(value ?? null, unit)} <span className="change">{changeInWords(change_percent[place] ?? null)}</span>
        </td>
      ))}
    </tr>
  );
}
