// The charts of a run in one group. Lazy-loaded: Chart.js is not needed for the first paint.
import { useComputedColorScheme } from '@mantine/core';
import { useMemo } from 'react';
import type { Band } from '../model/fold/missing-time';
import type { RunFold } from '../model/fold/run-fold';
import type { SeriesView } from '../model/fold/series-view';
import type { WholeValue } from '../model/fold/whole-run';
import type { ChartGroup, Range } from './chart-group';
import { HeatMap } from './heat-map';
import type { Panel } from './panels';
import { TimeChart } from './time-chart';

interface PanelGridProps {
  panels: readonly Panel[];
  view: SeriesView;
  chartGroup: ChartGroup;
  fullRange: () => Range;
  /** Ranges to mark, evaluated at every flush. */
  bands: () => readonly Band[];
  /** Values for the whole run once it is finished; must be stable between renders. */
  whole?: () => WholeValue | null;
  /** The run whose windows have histograms; null if its series is loaded in buckets, without them. */
  fold?: RunFold | null;
  /** Refers screen readers to the table with the same numbers. */
  tableHint?: string;
}

/** Charts are recreated when the theme changes, because they read colors once. */
export default function PanelGrid({ panels, fold, ...rest }: PanelGridProps) {
  const scheme = useComputedColorScheme();
  return (
    <div className="charts">
      {panels.map((panel) => (
        <PanelChart key={panel.key + scheme} panel={panel} {...rest} />
      ))}
      {fold && (
        <HeatMap key={scheme} fold={fold} chartGroup={rest.chartGroup} fullRange={rest.fullRange} />
      )}
    </div>
  );
}

function PanelChart({
  panel,
  view,
  chartGroup,
  fullRange,
  bands,
  whole,
  tableHint,
}: Omit<PanelGridProps, 'panels' | 'fold'> & { panel: Panel }) {
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
      tableHint={tableHint}
    />
  );
}
