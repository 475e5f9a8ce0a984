// Strip plots of the main metrics, which show each run as a dot.
import type { Comparison } from '../../api';
import { StripPlot } from '../../charts/strip-plot';
import { areSingleRuns, countDirections, metricName } from '../../model/compare/metrics';
import { Card } from '../../ui/parts';

const SHOWN = /^(read|write|trim)_(iops|lat_p50_ns|lat_p99_ns)$/;

/** Renders nothing if each group is a single run. */
export function Strips({ comparison }: { comparison: Comparison }) {
  if (areSingleRuns(comparison)) return null;
  const { metrics } = comparison;
  const directions = countDirections(metrics);
  return (
    <Card title="Individual runs">
      <div className="strips">
        {metrics
          .filter(({ name }) => SHOWN.test(name))
          .map((metric) => (
            <StripPlot
              key={metric.name}
              comparison={comparison}
              metric={metric}
              title={metricName(metric, directions)}
            />
          ))}
      </div>
    </Card>
  );
}
