// Time series of multiple groups in the same charts, and their percentile curves. Lazy-loaded with
// Chart.js.
import { useComputedColorScheme } from '@mantine/core';
import { useCallback, useMemo } from 'react';
import { groupSeriesText } from '../model/compare/group-time-series';
import type { SeriesView } from '../model/fold/series-view';
import { meanOf } from '../model/fold/whole-run';
import type { Column } from '../model/series/columns';
import type { LineStyle } from '../model/series/line-style';
import { ChartGroup } from './chart-group';
import { type Distribution, PercentileChart } from './distribution';
import { getPanels, type Panel } from './panels';
import { TimeChart } from './time-chart';
import { ZoomRow } from './zoom-row';

interface OverlaidGroup extends LineStyle {
  label: string;
  view: SeriesView;
  /** Medians of whole-run results. A column that has none shows its mean over time. */
  whole: { [name in Column]?: number | null };
}

/** The charts to show. Their columns combine all directions. */
const OVERLAID: readonly { panel: string; title: string; column: Column }[] = [
  { panel: 'iops', title: 'IOPS', column: 'iops' },
  { panel: 'latency', title: 'p99 latency', column: 'lat_p99_ns' },
  { panel: 'bandwidth', title: 'Bandwidth', column: 'bytes_per_second' },
];
const PANELS = getPanels({ reads: true, writes: true, trims: true });

interface OverlayProps {
  groups: readonly OverlaidGroup[];
  curves: readonly Distribution[];
  /** Duration of the longest run's measurement, in seconds. */
  longest_s: number;
}

export default function OverlayCharts({ groups, curves, longest_s }: OverlayProps) {
  const scheme = useComputedColorScheme();
  const chartGroup = useMemo(() => new ChartGroup(), []);
  const fullRange = useCallback(() => ({ from: 0, to: longest_s }), [longest_s]);
  const isBanded = groups.some(({ view }) => view.banded);
  return (
    <section className="stack" aria-label="Time series of all runs">
      <ZoomRow chartGroup={chartGroup} />
      <div className="charts two-by-two">
        {OVERLAID.map(({ panel, title, column }) => {
          const drawn = PANELS.find(({ key }) => key === panel);
          return (
            drawn && (
              <Overlay
                key={panel}
                panel={drawn}
                {...{ title, column, groups, chartGroup, fullRange }}
              />
            )
          );
        })}
        {curves.length > 0 && (
          <PercentileChart key={scheme} title={percentileTitle(curves)} of={curves} />
        )}
      </div>
      {isBanded && (
        <p className="mute small">
          Each line is the median of a group’s runs at the same time since the start of the
          measurement, and its band spans the range from the lowest to the highest run.
        </p>
      )}
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
  column: Column;
  groups: readonly OverlaidGroup[];
  chartGroup: ChartGroup;
  fullRange: () => { from: number; to: number };
}

function Overlay({ panel, title, column, groups, chartGroup, fullRange }: OverlayChartProps) {
  const titled = useMemo(() => ({ ...panel, title }), [panel, title]);
  const lines = useMemo(
    () =>
      groups.map(({ whole, ...group }) => ({
        ...group,
        columns: [column],
        whole: () => {
          const value = whole[column];
          return value === undefined ? meanOf(group.view, [column]) : value;
        },
      })),
    [groups, column],
  );
  const summary = useMemo(
    () => groups.map((group) => groupSeriesText({ ...group, column }, panel.format)),
    [groups, column, panel],
  );
  // Chart.js matches datasets by index, so another set of groups requires a new chart.
  return (
    <TimeChart
      key={groups.map(({ label, view }) => `${label}/${view.banded}`).join()}
      panel={titled}
      lines={lines}
      chartGroup={chartGroup}
      fullRange={fullRange}
      summary={summary}
    />
  );
}
