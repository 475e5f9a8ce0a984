// Fields for the options that every job needs.
import {
  Autocomplete,
  type ComboboxItem,
  NativeSelect,
  type OptionsFilter,
  SegmentedControl,
  TextInput,
} from '@mantine/core';
import { CACHE_STATES, FILE_STATES, isDestructive, PATTERNS } from '../../model/job/form-options';
import { ioModeOf } from '../../model/job/io-mode';
import { Card } from '../../ui/parts';
import { DevicePicker } from './device-picker';
import { optionProps } from './option-field';
import { StateField } from './state-field';
import type { JobDraft } from './use-job-text';

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

export function BasicFields({ draft }: { draft: JobDraft }) {
  const { job, jobs, active, setActive } = draft;
  const isRaw = ioModeOf(job) === 'raw';
  const pattern = (job.rw ?? 'read').split(':')[0] ?? '';
  const isKnown = PATTERNS.some(({ value }) => value === pattern);
  const fields = FIELDS.map((field) => (
    <SuggestedField key={field.option} draft={draft} {...field} />
  ));
  return (
    <Card title="Workload">
      {jobs.length > 1 && (
        <SegmentedControl
          size="xs"
          mb={10}
          aria-label="Job to edit"
          value={String(active)}
          onChange={(value) => setActive(Number(value))}
          data={jobs.map(({ name }, index) => ({
            value: String(index),
            label: name ?? `Job ${index + 1}`,
          }))}
        />
      )}
      <div className="fields">
        <NativeSelect
          {...optionProps(draft, 'rw')}
          label="Pattern (rw)"
          value={isKnown ? pattern : ''}
          data={[...(isKnown ? [] : [{ value: '', label: job.rw ?? '' }]), ...PATTERNS]}
        />
        {fields.slice(0, 3)}
        {!isRaw && (
          <TextInput
            {...optionProps(draft, 'filename')}
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
            draft={draft}
            option="file_state"
            label="Initial file state (file_state)"
            states={FILE_STATES}
          />
        )}
        <StateField
          draft={draft}
          option="cache_state"
          label="Initial cache state (cache_state)"
          states={CACHE_STATES}
        />
      </div>
      {isRaw && <DevicePicker draft={draft} isWriting={isDestructive(job.rw)} />}
    </Card>
  );
}

/** All suggestions if the input is one of them, else those that start with the input. */
const suggest: OptionsFilter = ({ options, search }) => {
  const known = options as ComboboxItem[];
  return known.some(({ value }) => value === search)
    ? known
    : known.filter(({ value }) => value.startsWith(search));
};

type SuggestedFieldProps = { draft: JobDraft } & (typeof FIELDS)[number];

function SuggestedField({ draft, option, ...labels }: SuggestedFieldProps) {
  return (
    <Autocomplete
      {...optionProps(draft, option)}
      {...labels}
      data={SUGGESTIONS[option] ?? []}
      filter={suggest}
      selectFirstOptionOnChange={false}
    />
  );
}
