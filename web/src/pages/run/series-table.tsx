// Time series as a table, one row per point of the charts.
import type { ChartGroup } from '../../charts/chart-group';
import type { Panel } from '../../charts/panels';
import { useTick } from '../../charts/use-live';
import type { SeriesView } from '../../model/fold/series-view';
import { Card, ScrollRegion } from '../../ui/parts';

interface SeriesTableProps {
  view: SeriesView;
  panels: readonly Panel[];
  chartGroup: ChartGroup;
}

export function SeriesTable({ view, panels, chartGroup }: SeriesTableProps) {
  useTick(chartGroup);
  const columns = panels.flatMap((panel) =>
    panel.lines.map((line) => ({ panel, line, key: panel.key + line.label })),
  );
  return (
    <Card title="Samples">
      <ScrollRegion label="Samples" className="series-table">
        <table>
          <thead>
            <tr>
              <th scope="col">Time</th>
              {columns.map(({ key, panel, line }) => (
                <th key={key} scope="col">
                  {panel.title.replace(/ \(.*/, '')} {line.label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {Array.from({ length: view.length }, (_, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: points have no other identity
              <tr key={index}>
                <th scope="row">{view.seconds(index).toFixed(2)} s</th>
                {columns.map(({ key, panel, line }) => (
                  <td key={key}>{panel.format(view.value(index, line.columns))}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </Card>
  );
}
