// Histogram and percentile curves side by side. Loaded late, as all that needs Chart.js.
import { useComputedColorScheme } from '@mantine/core';
import { type Distribution, HistogramChart, PercentileChart } from './distribution';

interface LatencyChartsProps {
  of: readonly Distribution[];
  title: string;
  /** Where the same numbers can be read, in half a sentence. */
  elsewhere?: string;
}

/** The distributions of one run, each also as a histogram. */
export default function LatencyCharts({ of, title, elsewhere }: LatencyChartsProps) {
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
          elsewhere={elsewhere}
        />
      ))}
      <PercentileChart title={`${title} percentiles`} of={of} elsewhere={elsewhere} />
    </div>
  );
}
