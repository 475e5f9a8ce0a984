// Schedules: when each one starts next, the results of its latest due times, and a form.
import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { deleteSchedule, replaceSchedule, type Schedule, type ScheduleStart } from '../../api';
import { invalidateSchedules, schedulesQuery } from '../../api/queries';
import { count, plural } from '../../model/format/numbers';
import { dateTime, shortDateTime } from '../../model/format/time';
import { documentText, resultText, resultTone, toRequest } from '../../model/schedule/text';
import { DamagedRows } from '../../ui/damaged-rows';
import { notifyError } from '../../ui/notify';
import { Badge, Card, Empty, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { RunLink, StudyLink } from '../../ui/run-links';
import { DueTimes } from './due-times';
import { ScheduleForm } from './schedule-form';
import './schedules.css';

export function SchedulesPage() {
  const query = useQuery(schedulesQuery);
  const [edited, setEdited] = useState<Schedule | 'new' | null>(null);
  const queryClient = useQueryClient();
  const { schedules, damaged } = query.data ?? { schedules: [], damaged: [] };
  const isEmpty = schedules.length + damaged.length === 0;
  const close = () => setEdited(null);
  return (
    <Page title="Schedules" className="schedules">
      <div className="row">
        <h1>Schedules</h1>
        {query.isSuccess && <span className="mute">{count(schedules.length)}</span>}
        <span className="push" />
        {!edited && !isEmpty && (
          <Button variant="filled" onClick={() => setEdited('new')}>
            New schedule
          </Button>
        )}
      </div>
      <ProblemNotice error={query.error} retry={query.refetch} />
      {edited && (
        <ScheduleForm
          key={edited === 'new' ? 0 : edited.number}
          schedule={edited === 'new' ? undefined : edited}
          close={close}
        />
      )}
      <DamagedRows
        kind="schedule"
        numbers={damaged}
        remove={(number) => deleteSchedule({ path: { n: number } })}
        onRemoved={() => invalidateSchedules(queryClient)}
      />
      {query.isSuccess && isEmpty && !edited && (
        <Empty
          title="No schedules yet"
          actions={
            <Button variant="filled" h={36} onClick={() => setEdited('new')}>
              New schedule
            </Button>
          }
        >
          A schedule starts a run or a study repeatedly, for example every night, so that its trend
          shows changes on the host.
        </Empty>
      )}
      {schedules.map((schedule) => (
        <ScheduleCard key={schedule.number} schedule={schedule} edit={() => setEdited(schedule)} />
      ))}
    </Page>
  );
}

function ScheduleCard({ schedule, edit }: { schedule: Schedule; edit: () => void }) {
  const { number, name, cron, time_zone, enabled, next, missed, starts } = schedule;
  const quiet = schedule.quiet_hours.map(({ from, to }) => `${from} to ${to}`);
  const { document, tags } = schedule;
  const facts = [
    tags.length > 0 && `Tags: ${tags.join(', ')}`,
    nextText(schedule),
    quiet.length > 0 && `Quiet hours: ${quiet.join(', ')}`,
    missed > 0 && `${plural(missed, 'start')} missed in the last 30 days`,
  ].filter(Boolean);
  const queryClient = useQueryClient();
  const onSuccess = () => invalidateSchedules(queryClient);
  const toggle = useMutation({
    mutationFn: () =>
      replaceSchedule({
        path: { n: number },
        body: { ...toRequest(schedule), enabled: !enabled },
      }),
    onSuccess,
    onError: notifyError,
  });
  const remove = useMutation({
    mutationFn: () => deleteSchedule({ path: { n: number } }),
    onSuccess,
    onError: notifyError,
  });
  return (
    <Card
      title={name}
      aside={
        <>
          <Button onClick={edit}>Edit</Button>
          <Button loading={toggle.isPending} onClick={() => toggle.mutate()}>
            {enabled ? 'Disable' : 'Enable'}
          </Button>
          <Button
            loading={remove.isPending}
            onClick={() =>
              confirm(`Delete schedule ${name}? Its runs are kept.`) && remove.mutate()
            }
          >
            Delete
          </Button>
        </>
      }
    >
      <p className="breaks">{documentText(document)}</p>
      <p>
        <span className="mono">{cron}</span> <span className="mute">({time_zone})</span>
      </p>
      {next.length > 0 && <DueTimes next={next} />}
      {facts.length > 0 && <p className="mute">{facts.join(' · ')}</p>}
      {starts.length > 0 && <Starts starts={starts} />}
    </Card>
  );
}

/**
 * The next start as text. Null if the list of due times already shows it in the schedule's time
 * zone.
 */
function nextText({ enabled, next_start_ms, next }: Schedule): string | null {
  if (!enabled) return 'Disabled';
  if (!next_start_ms) return 'No more starts outside quiet hours';
  if (next.some(({ at_ms }) => at_ms === next_start_ms)) return null;
  return `Next start after the quiet hours: ${dateTime(next_start_ms)} (your time zone)`;
}

function Starts({ starts }: { starts: readonly ScheduleStart[] }) {
  return (
    <ul className="starts">
      {starts.slice(0, 5).map((start) => (
        <li key={start.due_at_ms}>
          <span className="mono" title={dateTime(start.due_at_ms)}>
            {shortDateTime(start.due_at_ms)}
          </span>
          <Badge tone={resultTone(start)}>{resultText(start)}</Badge>
          {start.run && <RunLink n={start.run}>Run #{start.run}</RunLink>}
          {start.study && <StudyLink n={start.study}>Study #{start.study}</StudyLink>}
          {start.reason && <span className="mute reason">{start.reason}</span>}
        </li>
      ))}
    </ul>
  );
}
