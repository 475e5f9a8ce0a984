// Time series of several runs in the same charts, and their percentile curves. Lazy-loaded with
// Chart.js.
import { useComputedColorScheme } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import type { SeriesView } from '../model/fold/series-view';
import { meanOf } from '../model/fold/whole-run';
import type { Column } from '../model/series/columns';
import type { LineStyle } from '../model/series/line-style';
import { ChartGroup } from './chart-group';
import { type Distribution, PercentileChart } from './distribution';
import { type Panel, panelsOf } from './panels';
import { TimeChart } from './time-chart';
import { ZoomRow } from './zoom-row';

interface OverlaidRun extends LineStyle {
  label: string;
  view: SeriesView;
  /** Latency p99 of the whole run, in ns. */
  lat_p99_ns?: number | null;
}

/** Metrics for all directions combined. */
const OVERLAID: readonly { panel: string; title: string; columns: readonly Column[] }[] = [
  { panel: 'iops', title: 'IOPS', columns: ['read_iops', 'write_iops', 'trim_iops'] },
  { panel: 'latency', title: 'p99 latency', columns: ['lat_p99_ns'] },
  {
    panel: 'bandwidth',
    title: 'Bandwidth',
    columns: ['read_bytes_per_second', 'write_bytes_per_second'],
  },
];
const PANELS = panelsOf({ reads: true, writes: true, trims: true });

interface OverlayProps {
  runs: readonly OverlaidRun[];
  curves: readonly Distribution[];
  /** Duration of the longest measurement, in seconds. */
  longest_s: number;
}

export default function OverlayCharts({ runs, curves, longest_s }: OverlayProps) {
  const scheme = useComputedColorScheme();
  const chartGroup = useMemo(() => new ChartGroup(), []);
  const fullRange = useCallback(() => ({ from: 0, to: longest_s }), [longest_s]);
  return (
    <section className="stack" aria-label="Time series of all runs">
      <ZoomRow chartGroup={chartGroup} />
      <div className="charts two-by-two">
        {OVERLAID.map(({ panel, title, columns }) => {
          const drawn = PANELS.find(({ key }) => key === panel);
          return (
            drawn && (
              <Overlay
                key={panel}
                panel={drawn}
                {...{ title, columns, runs, chartGroup, fullRange }}
              />
            )
          );
        })}
        {curves.length > 0 && (
          <PercentileChart key={scheme} title={percentileTitle(curves)} of={curves} />
        )}
      </div>
    </section>
  );
}

const percentileTitle = (curves: readonly Distribution[]) =>
  curves.some(({ band }) => band?.length)
    ? 'Latency percentiles (band: range of the runs)'
    : 'Latency percentiles';

interface OverlayChartProps {
  panel: Panel;
  title: string;
  columns: readonly Column[];
  runs: readonly OverlaidRun[];
  chartGroup: ChartGroup;
  fullRange: () => { from: number; to: number };
}

function Overlay({ panel, title, columns, runs, chartGroup, fullRange }: OverlayChartProps) {
  const titled = useMemo(() => ({ ...panel, title }), [panel, title]);
  const lines = useMemo(
    () =>
      runs.map((run) => ({
        ...run,
        columns,
        whole: () => (columns[0] === 'lat_p99_ns' ? run.lat_p99_ns : meanOf(run.view, columns)),
      })),
    [runs, columns],
  );
  // Chart.js matches datasets by index, so a different set of runs needs a new chart.
  return (
    <TimeChart
      key={runs.map(({ label }) => label).join()}
      panel={titled}
      lines={lines}
      chartGroup={chartGroup}
      fullRange={fullRange}
    />
  );
}
