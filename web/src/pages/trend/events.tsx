// A list of changes, newest first: the metric's change points, and host changes.
import type { Trend, TrendChange } from '../../api';
import { formatValue } from '../../model/compare/metrics';
import { withGroups } from '../../model/compare/selection';
import { dateTime, shortDate } from '../../model/format/time';
import { changeOf, factText } from '../../model/trend/text';
import { LinkButton } from '../../ui/link-button';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

/** Number of rows to show. More rows would hide the important ones. */
const MAX_ROWS = 50;

interface EventsProps {
  trend: Trend;
  onSelect: (index: number) => void;
}

export function Events({ trend, onSelect }: EventsProps) {
  const { points, changes } = trend;
  const changeAt = new Map(changes.map((change) => [change.point, change]));
  const rows = points
    .map((point, index) => ({ point, index, change: changeAt.get(index) }))
    .filter(({ point, change }) => change || point.host_changes.length > 0)
    .toReversed();
  return (
    <Card title="Changes" className="events">
      {rows.length === 0 && (
        <p className="mute">
          No change of at least {trend.threshold_percent} % was detected, and the host facts are the
          same in all groups.
        </p>
      )}
      {rows.length > 0 && (
        <NamedRows
          className="left"
          label="Changes"
          corner="Group"
          headers={['Change', 'Host', '']}
          rows={rows.slice(0, MAX_ROWS).map(({ point, index, change }) => ({
            key: String(index),
            name: (
              <button
                type="button"
                className="plain link"
                title={dateTime(point.started_at_ms)}
                onClick={() => onSelect(index)}
              >
                {shortDate(point.started_at_ms)}
              </button>
            ),
            cells: [
              change && <ChangeText key="change" change={change} unit={trend.unit} />,
              point.host_changes.map((fact) => <div key={fact.name}>{factText(fact)}</div>),
              change && <CompareChange key="compare" change={change} />,
            ],
          }))}
        />
      )}
      {rows.length > MAX_ROWS && (
        <p className="mute small">{rows.length - MAX_ROWS} older changes are not listed.</p>
      )}
    </Card>
  );
}

function ChangeText({ change, unit }: { change: TrendChange; unit: Trend['unit'] }) {
  const { percent, is_better, mean_before, mean_after } = change;
  const tone = is_better == null ? '' : is_better ? 'better' : 'worse';
  return (
    <>
      <b className={tone}>{changeOf(percent)}</b>{' '}
      <span className="mute">
        {formatValue(mean_before, unit)} → {formatValue(mean_after, unit)}
      </span>
    </>
  );
}

function CompareChange({ change: { runs_before, runs_after } }: { change: TrendChange }) {
  if (runs_before.length === 0 || runs_after.length === 0) return null;
  return (
    <LinkButton
      to="/compare"
      size="xs"
      search={withGroups({}, [runs_before.join(','), runs_after.join(',')])}
    >
      Compare
    </LinkButton>
  );
}
