// A run's time series as a table, with one row per chart point.
import type { ChartGroup } from '../../charts/chart-group';
import type { Panel } from '../../charts/panels';
import { useTick } from '../../charts/use-live-run';
import type { SeriesView } from '../../model/fold/series-view';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

interface SeriesTableProps {
  view: SeriesView;
  panels: readonly Panel[];
  chartGroup: ChartGroup;
}

export function SeriesTable({ view, panels, chartGroup }: SeriesTableProps) {
  useTick(chartGroup);
  const columns = panels.flatMap((panel) => panel.lines.map((line) => ({ panel, line })));
  return (
    <Card title="Samples">
      <NamedRows
        region="series-table"
        label="Samples"
        corner="Time"
        groups={panels.map(({ title, lines }) => ({ label: title, span: lines.length }))}
        headers={columns.map(({ line }) => line.label)}
        rows={Array.from({ length: view.length }, (_, index) => ({
          key: String(index),
          name: secondsText(view.seconds(index)),
          cells: columns.map(({ panel, line }) => panel.format(view.value(index, line.columns))),
        }))}
      />
    </Card>
  );
}

/** Times during the ramp are negative. */
const secondsText = (seconds: number) =>
  `${seconds.toFixed(2)} s`.replace(/^-(0\.00 )/, '$1').replace('-', '−');
