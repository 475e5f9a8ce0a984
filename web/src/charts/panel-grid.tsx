// A run's charts, in one chart group. Lazy-loaded, because Chart.js is not needed for the
// first paint.
import { useComputedColorScheme } from '@mantine/core';
import { useMemo } from 'react';
import type { HeatSource } from '../model/fold/heat-source';
import type { Band } from '../model/fold/missing-time';
import type { SeriesView } from '../model/fold/series-view';
import type { WholeValue } from '../model/fold/whole-run';
import type { Mark } from '../model/run/marks';
import type { ChartGroup, Range } from './chart-group';
import { HeatMap } from './heat-map';
import type { Panel } from './panels';
import { TimeChart } from './time-chart';

interface PanelGridProps {
  panels: readonly Panel[];
  view: SeriesView;
  chartGroup: ChartGroup;
  fullRange: () => Range;
  /** Time ranges to mark, evaluated at every flush. */
  bands: () => readonly Band[];
  /** Points in time to mark, evaluated at every flush. */
  marks: () => readonly Mark[];
  /** Values for the whole run after it has finished. Must be stable between renders. */
  whole?: () => WholeValue | null;
  heat: HeatSource;
  /** Points screen readers to the table with the same numbers. */
  tableHint?: string;
}

/** Number of panels before the heat map, which is then below the latency panel. */
const BEFORE_HEAT_MAP = 3;

/** Forces a new heat map when the theme changes, because a heat map reads its colors only once. */
export default function PanelGrid({ panels, heat, ...rest }: PanelGridProps) {
  const scheme = useComputedColorScheme();
  const charts = panels.map((panel) => <PanelChart key={panel.key} panel={panel} {...rest} />);
  return (
    <div className="charts">
      {charts.slice(0, BEFORE_HEAT_MAP)}
      <HeatMap key={scheme} heat={heat} chartGroup={rest.chartGroup} fullRange={rest.fullRange} />
      {charts.slice(BEFORE_HEAT_MAP)}
    </div>
  );
}

function PanelChart({
  panel,
  view,
  chartGroup,
  fullRange,
  bands,
  marks,
  whole,
  tableHint,
}: Omit<PanelGridProps, 'panels' | 'heat'> & { panel: Panel }) {
  const lines = useMemo(
    () => panel.lines.map((line) => ({ ...line, view, whole: () => whole?.()?.(line.columns) })),
    [panel, view, whole],
  );
  return (
    <TimeChart
      panel={panel}
      lines={lines}
      chartGroup={chartGroup}
      fullRange={fullRange}
      bands={bands}
      marks={marks}
      tableHint={tableHint}
    />
  );
}
