// The selected group: its runs, its excluded runs, and comparisons with other groups.
import { Button } from '@mantine/core';
import type { Trend, TrendPoint } from '../../api';
import { usePin } from '../../charts/use-baseline';
import { withGroups } from '../../model/compare/selection';
import { percent, plural, text } from '../../model/format/numbers';
import { dateTime } from '../../model/format/time';
import { factText, isPinnedGroup, originText, statisticsText } from '../../model/trend/text';
import { Facts } from '../../ui/facts';
import { LinkButton } from '../../ui/link-button';
import { Badge, Card } from '../../ui/parts';
import { RunLink, StudyLink } from '../../ui/run-links';

export function Group({ trend, index }: { trend: Trend; index: number }) {
  const point = trend.points[index];
  const { pin, pending } = usePin(trend);
  if (!point) return null;
  const { runs, excluded, study, statistics } = point;
  const isPinned = isPinnedGroup(point, trend);
  return (
    <Card
      title="Selected group"
      aside={isPinned && <Badge>Baseline</Badge>}
      className="selected-group"
    >
      <Facts facts={toFacts(point, trend)} />
      <p className="runs">
        <span className="mute">{plural(runs.length, 'run')}</span>
        {runs.map((run) => (
          <RunLink key={run} n={run}>
            #{run}
          </RunLink>
        ))}
      </p>
      {excluded.length > 0 && (
        <p className="runs">
          <span className="mute">Excluded</span>
          {excluded.map(({ run, reason }) => (
            <span key={run}>
              <RunLink n={run}>#{run}</RunLink> {reason}
            </span>
          ))}
        </p>
      )}
      {statistics.outliers.length > 0 && (
        <p className="mute small">Outliers (included): {statistics.outliers.join(', ')}</p>
      )}
      <div className="row tight no-print">
        <CompareWithPrevious trend={trend} index={index} />
        {!isPinned && (
          <Button disabled={runs.length === 0} loading={pending} onClick={() => pin(runs)}>
            Pin as baseline
          </Button>
        )}
        {study && <StudyLink n={study}>Open study #{study}</StudyLink>}
      </div>
    </Card>
  );
}

function toFacts(point: TrendPoint, { unit }: Trend) {
  const { statistics, host_changes, started_at_ms } = point;
  const spread = statistics.spread_percent;
  const facts: [string, string][] = [
    ['Started', dateTime(started_at_ms)],
    ['Group', originText(point)],
    ['Median', statisticsText(point, unit)],
  ];
  if (spread != null) facts.push(['Spread', text(percent(spread))]);
  if (host_changes.length > 0)
    facts.push(['Changed since the previous group', host_changes.map(factText).join('; ')]);
  return facts;
}

/** The closest preceding group that has runs. */
function CompareWithPrevious({ trend, index }: { trend: Trend; index: number }) {
  const previous = trend.points.slice(0, index).findLast(({ runs }) => runs.length > 0);
  const runs = trend.points[index]?.runs ?? [];
  if (!previous || runs.length === 0) return null;
  return (
    <LinkButton to="/compare" search={withGroups({}, [previous.runs.join(','), runs.join(',')])}>
      Compare with previous
    </LinkButton>
  );
}
