// The course as a table: for those who do not see the charts, and for copying. One row a point, as drawn.

import type { ChartGroup } from '../../charts/chart-group';
import type { Panel } from '../../charts/panels';
import { useTick } from '../../charts/use-live';
import type { SeriesView } from '../../model/fold/series-view';
import { Card } from '../../ui/parts';

/** All lines of all panels, column by column. */
export function SeriesTable({
  view,
  panels,
  chartGroup,
}: {
  view: SeriesView;
  panels: readonly Panel[];
  chartGroup: ChartGroup;
}) {
  useTick(chartGroup);
  const rows = Array.from({ length: view.length }, (_, at) => at);
  return (
    <Card title="Course as a table">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className="series-table" tabIndex={0} aria-label="Course, scrollable">
        <table>
          <thead>
            <tr>
              <th scope="col">time</th>
              {panels.flatMap((panel) =>
                panel.lines.map((line) => (
                  <th key={panel.key + line.label} scope="col">
                    {panel.title.replace(/ \(.*/, '')} {line.label}
                  </th>
                )),
              )}
            </tr>
          </thead>
          <tbody>
            {rows.map((at) => (
              <tr key={at}>
                <th scope="row">{view.seconds(at).toFixed(2)} s</th>
                {panels.flatMap((panel) =>
                  panel.lines.map((line) => (
                    <td key={panel.key + line.label}>
                      {panel.format(view.value(at, line.columns))}
                    </td>
                  )),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </Card>
  );
}
