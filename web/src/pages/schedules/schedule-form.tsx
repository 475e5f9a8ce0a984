// Form for a schedule. The server returns the next five due times.
import { Button, Textarea, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  createSchedule,
  getRun,
  replaceSchedule,
  type Schedule,
  type SchedulePlan,
  type ScheduleRequest,
} from '../../api';
import { invalidateSchedules, schedulePlanQuery } from '../../api/queries';
import { parseDocument } from '../../model/schedule/text';
import { notifyError } from '../../ui/notify';
import { Card } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { DueTimes } from './due-times';

const DEBOUNCE_MS = 400;
const LOCAL_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;

interface Draft {
  name: string;
  cron: string;
  zone: string;
  tags: string;
  quietFrom: string;
  quietTo: string;
  document: string;
}

function toDraft(schedule: Schedule | undefined): Draft {
  const [quiet] = schedule?.quiet_hours ?? [];
  return {
    name: schedule?.name ?? 'Nightly',
    cron: schedule?.cron ?? '30 2 * * *',
    zone: schedule?.time_zone ?? LOCAL_ZONE,
    tags: schedule?.tags.join(', ') ?? '',
    quietFrom: quiet?.from ?? '',
    quietTo: quiet?.to ?? '',
    document: schedule ? JSON.stringify(schedule.document, null, 2) : '',
  };
}

/**
 * A script may have created a schedule with more than one quiet period. Keep the additional ones.
 */
function toRequest(draft: Draft, document: Record<string, unknown>, old?: Schedule) {
  const { quietFrom: from, quietTo: to } = draft;
  const further = old?.quiet_hours.slice(1) ?? [];
  const tags = draft.tags.split(',').map((tag) => tag.trim());
  const request: ScheduleRequest = {
    name: draft.name,
    cron: draft.cron,
    time_zone: draft.zone,
    document,
    tags: tags.filter(Boolean),
    quiet_hours: from || to ? [{ from, to }, ...further] : further,
    enabled: old?.enabled ?? true,
  };
  return request;
}

export function ScheduleForm({ schedule, close }: { schedule?: Schedule; close: () => void }) {
  const [draft, setDraft] = useState(() => toDraft(schedule));
  const set = (change: Partial<Draft>) => setDraft((old) => ({ ...old, ...change }));
  const { document, error } = parseDocument(draft.document);
  const request = document && toRequest(draft, document, schedule);
  const [planned] = useDebouncedValue(request, DEBOUNCE_MS);
  const plan = useQuery({ ...schedulePlanQuery(planned ?? EMPTY), enabled: planned !== undefined });
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: (body: ScheduleRequest) =>
      schedule ? replaceSchedule({ path: { n: schedule.number }, body }) : createSchedule({ body }),
    onSuccess: async () => {
      await invalidateSchedules(queryClient);
      close();
    },
    onError: notifyError,
  });
  return (
    <Card title={schedule ? `Edit ${schedule.name}` : 'New schedule'}>
      <div className="schedule-fields">
        <Field label="Name" value={draft.name} change={(name) => set({ name })} />
        <Field
          label="Cron expression"
          description="Minute, hour, day, month, day of the week"
          value={draft.cron}
          change={(cron) => set({ cron })}
        />
        <Field
          label="Time zone"
          description="For example Europe/Berlin"
          value={draft.zone}
          change={(zone) => set({ zone })}
        />
        <Field
          label="Quiet hours from"
          description="No runs start during quiet hours. HH:MM, optional"
          value={draft.quietFrom}
          change={(quietFrom) => set({ quietFrom })}
        />
        <Field
          label="Quiet hours to"
          description="HH:MM, optional"
          value={draft.quietTo}
          change={(quietTo) => set({ quietTo })}
        />
        <Field
          label="Tags"
          description="Separated by commas"
          value={draft.tags}
          change={(tags) => set({ tags })}
        />
        <CopyRun copy={(text) => set({ document: text })} />
        <Textarea
          className="wide"
          classNames={{ input: 'mono' }}
          label="Run or study (JSON)"
          description="Body of POST /runs or POST /studies. Runs that overwrite data cannot be scheduled."
          autosize
          minRows={5}
          maxRows={20}
          spellCheck={false}
          value={draft.document}
          error={draft.document.trim() ? error : undefined}
          onChange={({ currentTarget }) => set({ document: currentTarget.value })}
        />
      </div>
      {document && <ProblemNotice error={plan.error} />}
      {document && plan.data && !plan.error && <Preview plan={plan.data} />}
      <div className="row form-buttons">
        <Button
          variant="filled"
          disabled={!request || plan.isError}
          loading={save.isPending}
          onClick={() => request && save.mutate(request)}
        >
          {schedule ? 'Save' : 'Create schedule'}
        </Button>
        <Button onClick={close}>Cancel</Button>
        {!draft.document.trim() && (
          <span className="mute small">Enter the run or study that the schedule starts.</span>
        )}
      </div>
    </Card>
  );
}

/** Placeholder for an invalid document. Never sent. */
const EMPTY: ScheduleRequest = { name: '', cron: '', document: {} };

interface FieldProps {
  label: string;
  description?: string;
  value: string;
  change: (value: string) => void;
}

const Field = ({ change, ...props }: FieldProps) => (
  <TextInput
    {...props}
    inputWrapperOrder={['label', 'input', 'description']}
    onChange={({ currentTarget }) => change(currentTarget.value)}
  />
);

function CopyRun({ copy }: { copy: (document: string) => void }) {
  const [number, setNumber] = useState('');
  const load = useMutation({
    mutationFn: async () => {
      const { data } = await getRun({ path: { n: Number(number) }, throwOnError: true });
      const { jobs, sample_ms } = data.requested;
      copy(JSON.stringify({ name: data.name, jobs, sample_ms }, null, 2));
    },
    onError: notifyError,
  });
  return (
    <div className="row tight wide">
      <TextInput
        aria-label="Run number"
        placeholder="Run number"
        value={number}
        onChange={({ currentTarget }) => setNumber(currentTarget.value)}
      />
      <Button
        disabled={!/^\d+$/.test(number)}
        loading={load.isPending}
        onClick={() => load.mutate()}
      >
        Copy jobs of run
      </Button>
    </div>
  );
}

const Preview = ({ plan: { next } }: { plan: SchedulePlan }) => (
  <div className="preview">
    <p>The next due times:</p>
    <DueTimes next={next} />
  </div>
);
