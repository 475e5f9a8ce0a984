// Fields for the main job options.
import {
  Autocomplete,
  type ComboboxItem,
  NativeSelect,
  type OptionsFilter,
  SegmentedControl,
  TextInput,
} from '@mantine/core';
import { type ChangeEvent, memo } from 'react';
import { CACHE_STATES, FILE_STATES, isDestructive, PATTERNS } from '../../model/job/form-options';
import { ioModeOf } from '../../model/job/io-mode';
import { Card } from '../../ui/parts';
import { DevicePicker } from './device-picker';
import { type FieldState, fieldProps, fieldState, optionProps } from './option-field';
import { StateField } from './state-field';
import type { JobForm } from './use-job-form';

const SUGGESTIONS: Record<string, string[]> = {
  bs: ['512', '4k', '8k', '16k', '64k', '128k', '1m', '4m'],
  iodepth: ['1', '4', '8', '16', '32', '64', '128', '256'],
  numjobs: ['1', '2', '4', '8', '16'],
  size: ['256m', '1g', '4g', '16g', '100%'],
  runtime: ['10s', '30s', '60s', '5m', '10m', '1h'],
  ramp_time: ['2s', '5s', '10s', '30s'],
};
const FIELDS = [
  { option: 'bs', label: 'Block size (bs)', placeholder: '4k' },
  { option: 'iodepth', label: 'Queue depth (iodepth)', placeholder: '1' },
  { option: 'numjobs', label: 'Jobs (numjobs)', placeholder: '1' },
  { option: 'size', label: 'Size', placeholder: 'Whole file or device' },
  { option: 'runtime', label: 'Runtime', placeholder: 'Until size is reached' },
  { option: 'ramp_time', label: 'Ramp time (ramp_time)', placeholder: 'None' },
] as const;

export const BasicFields = memo(({ form }: { form: JobForm }) => {
  const { job } = form;
  const isRaw = ioModeOf(job) === 'raw';
  const pattern = (job.rw ?? 'read').split(':')[0] ?? '';
  const isKnown = PATTERNS.some(({ value }) => value === pattern);
  const fields = FIELDS.map((field) => (
    <SuggestedField key={field.option} {...field} {...fieldState(form, field.option)} />
  ));
  return (
    <Card title="Workload">
      <JobChoice {...form} />
      <div className="fields">
        <NativeSelect
          {...optionProps(form, 'rw')}
          label="Pattern (rw)"
          value={isKnown ? pattern : ''}
          data={[...(isKnown ? [] : [{ value: '', label: job.rw ?? '' }]), ...PATTERNS]}
        />
        {fields.slice(0, 3)}
        {!isRaw && (
          <TextInput
            {...optionProps(form, 'filename')}
            label="Target (filename)"
            placeholder="Name, or path under a target root"
            spellCheck={false}
          />
        )}
        {fields.slice(3)}
      </div>
      <div className="states">
        {!isRaw && (
          <StateField
            form={form}
            option="file_state"
            label="Initial file state (file_state)"
            states={FILE_STATES}
          />
        )}
        <StateField
          form={form}
          option="cache_state"
          label="Initial cache state (cache_state)"
          states={CACHE_STATES}
        />
      </div>
      {isRaw && <DevicePicker form={form} isWriting={isDestructive(job.rw)} />}
    </Card>
  );
});

/** Maximum number of jobs to show as buttons. More jobs are in a menu. */
const MAX_JOB_BUTTONS = 8;

type JobChoiceProps = Pick<JobForm, 'names' | 'active' | 'setActive'>;

/** Selects the job that the form shows, if there is more than one. */
function JobChoice({ names, active, setActive }: JobChoiceProps) {
  if (names.length < 2) return null;
  const props = {
    size: 'xs',
    mb: 10,
    'aria-label': 'Job to edit',
    value: String(active),
    data: names.map((label, index) => ({ value: String(index), label })),
  };
  if (names.length <= MAX_JOB_BUTTONS)
    return <SegmentedControl {...props} onChange={(value) => setActive(Number(value))} />;
  const change = ({ currentTarget }: ChangeEvent<HTMLSelectElement>) =>
    setActive(Number(currentTarget.value));
  return <NativeSelect {...props} onChange={change} />;
}

/**
 * If the input is one of the suggestions, returns all of them. Otherwise, returns those that start
 * with the input.
 */
const suggest: OptionsFilter = ({ options, search }) => {
  const known = options as ComboboxItem[];
  return known.some(({ value }) => value === search)
    ? known
    : known.filter(({ value }) => value.startsWith(search));
};

type SuggestedFieldProps = FieldState & (typeof FIELDS)[number];

const SuggestedField = memo(({ option, label, placeholder, ...state }: SuggestedFieldProps) => (
  <Autocomplete
    {...fieldProps(state, option)}
    label={label}
    placeholder={placeholder}
    data={SUGGESTIONS[option] ?? []}
    filter={suggest}
    selectFirstOptionOnChange={false}
  />
));
