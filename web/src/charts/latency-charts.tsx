// Histogram and percentile curves side by side. Loaded late, as all that needs Chart.js.
import { useComputedColorScheme } from '@mantine/core';
import { type Distribution, HistogramChart, PercentileChart } from './distribution';

/** The distributions of one run; the first is also drawn as a histogram. */
export default function LatencyCharts({ of, title }: { of: readonly Distribution[]; title: string }) {
  const scheme = useComputedColorScheme();
  const [first] = of;
  if (!first) return null;
  return (
    <div className="charts" key={scheme}>
      {of.map((distribution) => (
        <HistogramChart
          key={distribution.label}
          title={`${title} histogram${of.length > 1 ? `, ${distribution.label}` : ''}`}
          of={distribution}
        />
      ))}
      <PercentileChart title={`${title} percentiles`} of={of} />
    </div>
  );
}
