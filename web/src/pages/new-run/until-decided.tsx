// Option for a two-step study: end as soon as the comparison of the steps is decided.
import { Checkbox, MultiSelect } from '@mantine/core';
import { lookMetric } from '../../model/study/looks';
import type { StudyEditor } from './use-study';

/** Metrics that are useful for deciding when a study ends. */
const METRICS = [
  'read_iops',
  'read_lat_mean_ns',
  'read_lat_p50_ns',
  'read_lat_p99_ns',
  'write_iops',
  'write_lat_mean_ns',
  'write_lat_p50_ns',
  'write_lat_p99_ns',
  'sync_lat_p99_ns',
].map((value) => ({ value, label: lookMetric(value) }));

export function UntilDecided({ study: { draft, change, problems } }: { study: StudyEditor }) {
  const set = (untilDecided: string[] | undefined) => change((old) => ({ ...old, untilDecided }));
  const { untilDecided } = draft;
  // The server verifies that there are two steps, or one step with two swept values.
  if ((draft.repeats ?? 1) < 2 && !untilDecided) return null;
  const error = problems.get(-1)?.find(({ option }) => option?.startsWith('until_decided'));
  return (
    <>
      <Checkbox
        mt={10}
        label="End as soon as the comparison of the two steps is decided"
        checked={untilDecided !== undefined}
        onChange={({ currentTarget }) => set(currentTarget.checked ? [] : undefined)}
      />
      {untilDecided && (
        <MultiSelect
          mt={10}
          maw={420}
          label="Metrics to decide"
          placeholder={untilDecided.length === 0 ? 'IOPS' : ''}
          data={METRICS}
          maxValues={6}
          value={untilDecided}
          onChange={set}
          error={error && `${error.detail} ${error.remedy}`}
        />
      )}
    </>
  );
}
