// Courses of several runs laid over each other, and their percentile curves. Loaded late, as all that needs Chart.js.
import { useComputedColorScheme } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import type { SeriesView } from '../model/fold/series-view';
import type { Column } from '../model/series/columns';
import type { LineStyle } from '../model/series/line-style';
import { ChartGroup } from './chart-group';
import { type Distribution, PercentileChart } from './distribution';
import { type Panel, panelsOf } from './panels';
import { TimeChart } from './time-chart';
import { ZoomRow } from './zoom-row';

/** The course of one run with its stroke. */
interface OverlaidRun extends LineStyle {
  label: string;
  view: SeriesView;
}

/** What is laid over each other: one number of all directions together. */
const OVERLAID: readonly { panel: string; title: string; columns: readonly Column[] }[] = [
  { panel: 'iops', title: 'IOPS', columns: ['read_iops', 'write_iops', 'trim_iops'] },
  { panel: 'latency', title: 'p99 latency (log)', columns: ['lat_p99_ns'] },
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
  /** The longest measured window in seconds. */
  longest_s: number;
}

/** All charts of a comparison. */
export default function OverlayCharts({ runs, curves, longest_s }: OverlayProps) {
  const scheme = useComputedColorScheme();
  const chartGroup = useMemo(() => new ChartGroup(), []);
  const whole = useCallback(() => ({ from: 0, to: longest_s }), [longest_s]);
  return (
    <section className="stack" aria-label="Courses over each other">
      <ZoomRow chartGroup={chartGroup} />
      <div className="charts two-by-two" key={scheme}>
        {OVERLAID.map(({ panel, title, columns }) => {
          const drawn = PANELS.find(({ key }) => key === panel);
          return (
            drawn && (
              <Overlay key={panel} panel={drawn} {...{ title, columns, runs, chartGroup, whole }} />
            )
          );
        })}
        {curves.length > 0 && <PercentileChart title="Latency percentiles" of={curves} />}
      </div>
    </section>
  );
}

interface OneProps {
  panel: Panel;
  title: string;
  columns: readonly Column[];
  runs: readonly OverlaidRun[];
  chartGroup: ChartGroup;
  whole: () => { from: number; to: number };
}

function Overlay({ panel, title, columns, runs, chartGroup, whole }: OneProps) {
  const titled = useMemo(() => ({ ...panel, title }), [panel, title]);
  const lines = useMemo(() => runs.map((run) => ({ ...run, columns })), [runs, columns]);
  // Chart.js matches datasets by place: another set of runs is another chart.
  return (
    <TimeChart
      key={runs.map(({ label }) => label).join()}
      panel={titled}
      lines={lines}
      chartGroup={chartGroup}
      whole={whole}
    />
  );
}
