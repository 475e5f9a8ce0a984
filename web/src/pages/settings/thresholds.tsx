// The smallest changes that matter, for each metric.
import { Button, NumberInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { replaceSettings } from '../../api';
import { invalidateSettings, settingsQuery } from '../../api/queries';
import { metricLabel } from '../../model/compare/metrics';
import { notifyError } from '../../ui/notify';
import { Card } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';

/** Main metrics. Other metrics are shown only if a script has set their threshold. */
const METRICS = [
  'read_iops',
  'write_iops',
  'read_bytes_per_second',
  'write_bytes_per_second',
  'read_lat_mean_ns',
  'write_lat_mean_ns',
  'read_lat_p99_ns',
  'write_lat_p99_ns',
  'sync_lat_p99_ns',
];
const DEFAULT_PERCENT = 2;
const MIN_PERCENT = 0.01;
const MAX_PERCENT = 1000;
const BOTH_DIRECTIONS = 2;

interface ThresholdsProps {
  /** Whether `Save thresholds` is the primary button on the page. */
  isPrimary: boolean;
}

export function ThresholdsCard({ isPrimary }: ThresholdsProps) {
  const query = useQuery(settingsQuery);
  return (
    <>
      <ProblemNotice error={query.error} retry={query.refetch} />
      {query.data && (
        <ThresholdFields
          key={JSON.stringify(query.data.thresholds)}
          stored={query.data.thresholds}
          isPrimary={isPrimary}
        />
      )}
    </>
  );
}

type Thresholds = { [metric: string]: number };

function ThresholdFields({ stored, isPrimary }: ThresholdsProps & { stored: Thresholds }) {
  const [thresholds, setThresholds] = useState(stored);
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: () => replaceSettings({ body: { thresholds } }),
    onSuccess: () => invalidateSettings(queryClient),
    onError: notifyError,
  });
  const set = (metric: string, percent: number | string) => {
    const { [metric]: _, ...others } = thresholds;
    setThresholds(typeof percent === 'number' ? { ...others, [metric]: percent } : others);
  };
  const others = Object.keys(stored).filter((name) => !METRICS.includes(name));
  return (
    <Card title="Smallest changes that matter">
      <p className="mute">
        Comparisons and trends use these thresholds unless they have their own. The default is{' '}
        {DEFAULT_PERCENT} %.
      </p>
      <div className="threshold-fields">
        {[...METRICS, ...others].map((metric) => (
          <NumberInput
            key={metric}
            label={metricLabel(metric, BOTH_DIRECTIONS)}
            suffix=" %"
            placeholder={`${DEFAULT_PERCENT} %`}
            min={MIN_PERCENT}
            max={MAX_PERCENT}
            value={thresholds[metric] ?? ''}
            onChange={(percent) => set(metric, percent)}
          />
        ))}
      </div>
      <div className="row form-buttons">
        <Button
          variant={isPrimary ? 'filled' : undefined}
          loading={save.isPending}
          onClick={() => save.mutate()}
        >
          Save thresholds
        </Button>
      </div>
    </Card>
  );
}
