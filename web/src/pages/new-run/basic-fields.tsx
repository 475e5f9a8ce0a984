// What and how much: the options that every run has.
import {
  Autocomplete,
  type ComboboxItem,
  NativeSelect,
  type OptionsFilter,
  SegmentedControl,
  TextInput,
} from '@mantine/core';
import {
  CACHE_STATES,
  FILE_STATES,
  ioModeOf,
  isDestructive,
  PATTERNS,
} from '../../model/job/job-form';
import { Card } from '../../ui/parts';
import { DevicePicker } from './device-picker';
import { errorOf } from './option-field';
import { StateField } from './state-field';
import type { JobDraft } from './use-job';

const SUGGESTED: Record<string, string[]> = {
  bs: ['512', '4k', '8k', '16k', '64k', '128k', '1m', '4m'],
  iodepth: ['1', '4', '8', '16', '32', '64', '128', '256'],
  numjobs: ['1', '2', '4', '8', '16'],
  size: ['256m', '1g', '4g', '16g', '100%'],
  runtime: ['10s', '30s', '60s', '5m', '10m', '1h'],
  ramp_time: ['2s', '5s', '10s', '30s'],
};
const FIELDS = [
  { option: 'bs', label: 'block size · bs', default: '4k' },
  { option: 'iodepth', label: 'queue depth · iodepth', default: '1' },
  { option: 'numjobs', label: 'jobs · numjobs', default: '1' },
  { option: 'size', label: 'size', default: 'the whole file or device' },
  { option: 'runtime', label: 'time · runtime', default: 'until size is done' },
  { option: 'ramp_time', label: 'warm-up · ramp_time', default: 'none' },
] as const;

/** The fields. */
export function BasicFields({ draft }: { draft: JobDraft }) {
  const { job, set, jobs, active, setActive } = draft;
  const raw = ioModeOf(job) === 'raw';
  const pattern = (job.rw ?? 'read').split(':')[0] ?? '';
  const known = PATTERNS.some(({ value }) => value === pattern);
  return (
    <Card title="What and how much">
      {jobs.length > 1 && (
        <SegmentedControl
          size="xs"
          mb={10}
          aria-label="Job that the fields show"
          value={String(active)}
          onChange={(value) => setActive(Number(value))}
          data={jobs.map((one, i) => ({ value: String(i), label: one.name ?? `job ${i}` }))}
        />
      )}
      <div className="fields">
        <NativeSelect
          label="pattern · rw"
          value={known ? pattern : ''}
          onChange={({ currentTarget }) => set('rw', currentTarget.value)}
          data={[...(known ? [] : [{ value: '', label: job.rw ?? '' }]), ...PATTERNS]}
          error={errorOf(draft, 'rw')}
        />
        {FIELDS.slice(0, 3).map((field) => (
          <Suggested key={field.option} draft={draft} {...field} />
        ))}
        {!raw && (
          <TextInput
            label="target · filename"
            placeholder="a name, or a path under a target root"
            value={job.filename ?? ''}
            onChange={({ currentTarget }) => set('filename', currentTarget.value)}
            onBlur={() => draft.unsetIfEmpty('filename')}
            error={errorOf(draft, 'filename')}
            spellCheck={false}
          />
        )}
        {FIELDS.slice(3).map((field) => (
          <Suggested key={field.option} draft={draft} {...field} />
        ))}
      </div>
      <div className="states">
        {!raw && (
          <StateField
            draft={draft}
            option="file_state"
            label="file to begin with · file_state"
            decisions={FILE_STATES}
          />
        )}
        <StateField
          draft={draft}
          option="cache_state"
          label="page cache to begin with · cache_state"
          decisions={CACHE_STATES}
        />
      </div>
      {raw && <DevicePicker draft={draft} writing={isDestructive(job.rw)} />}
    </Card>
  );
}

/** All suggestions while one of them is chosen, else those that begin as typed. */
const suggest: OptionsFilter = ({ options, search }) => {
  const known = options as ComboboxItem[];
  return known.some(({ value }) => value === search)
    ? known
    : known.filter(({ value }) => value.startsWith(search));
};

function Suggested({
  draft,
  option,
  label,
  default: fallback,
}: {
  draft: JobDraft;
  option: string;
  label: string;
  default: string;
}) {
  return (
    <Autocomplete
      label={label}
      placeholder={fallback}
      data={SUGGESTED[option] ?? []}
      filter={suggest}
      value={draft.job[option] ?? ''}
      onChange={(value) => draft.set(option, value)}
      onBlur={() => draft.unsetIfEmpty(option)}
      error={errorOf(draft, option)}
      selectFirstOptionOnChange={false}
    />
  );
}
