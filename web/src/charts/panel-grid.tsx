// The panels of a run, one chart each, on one stage. Loaded late: Chart.js is not needed for the first picture.
import { useComputedColorScheme } from '@mantine/core';
import { useMemo } from 'react';
import type { SeriesView } from '../model/fold/series-view';
import type { ChartGroup, Range } from './chart-group';
import type { Panel } from './panels';
import { TimeChart } from './time-chart';

interface PanelGridProps {
  panels: readonly Panel[];
  view: SeriesView;
  chartGroup: ChartGroup;
  whole: () => Range;
  /** Where the same numbers can be read, in half a sentence. */
  elsewhere?: string;
}

/** All panels. Colours are read once, so that another theme makes other charts. */
export default function PanelGrid({ panels, ...rest }: PanelGridProps) {
  const scheme = useComputedColorScheme();
  return (
    <div className="charts">
      {panels.map((panel) => (
        <PanelChart key={panel.key + scheme} panel={panel} {...rest} />
      ))}
    </div>
  );
}

function PanelChart({
  panel,
  view,
  chartGroup,
  whole,
  elsewhere,
}: Omit<PanelGridProps, 'panels'> & { panel: Panel }) {
  const lines = useMemo(() => panel.lines.map((line) => ({ ...line, view })), [panel, view]);
  return (
    <TimeChart
      panel={panel}
      lines={lines}
      chartGroup={chartGroup}
      whole={whole}
      elsewhere={elsewhere}
    />
  );
}
