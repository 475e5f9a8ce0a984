// Latency histograms and percentile curves side by side. Lazy-loaded with Chart.js.
import { useComputedColorScheme } from '@mantine/core';
import { type Distribution, HistogramChart, PercentileChart } from './distribution';

interface LatencyChartsProps {
  distributions: readonly Distribution[];
  title: string;
  /** Points screen readers to the table with the same numbers. */
  tableHint?: string;
}

export default function LatencyCharts({ distributions, title, tableHint }: LatencyChartsProps) {
  const scheme = useComputedColorScheme();
  const [first] = distributions;
  if (!first) return null;
  return (
    <div className="charts" key={scheme}>
      {distributions.map((distribution) => (
        <HistogramChart
          key={distribution.label}
          title={`${title} histogram${distributions.length > 1 ? `: ${distribution.label}` : ''}`}
          of={distribution}
          tableHint={tableHint}
        />
      ))}
      <PercentileChart title={`${title} percentiles`} of={distributions} tableHint={tableHint} />
    </div>
  );
}
