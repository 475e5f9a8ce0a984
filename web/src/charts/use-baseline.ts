// Pins and unpins a series' baseline. Errors are shown as toasts.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { pinBaseline, type TrendSeries, unpinBaseline } from '../api';
import { invalidateTrends } from '../api/queries';
import { notifyError } from '../ui/notify';

type SeriesId = Pick<TrendSeries, 'job_fingerprint' | 'machine_fingerprint'>;

const pathOf = ({ job_fingerprint: job, machine_fingerprint: machine }: SeriesId) => ({
  job,
  machine,
});

export function usePin(series: SeriesId) {
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: (runs: number[]) => pinBaseline({ path: pathOf(series), body: { runs } }),
    onSuccess: () => invalidateTrends(client),
    onError: notifyError,
  });
  return { pin: mutate, pending: isPending };
}

export function useUnpin(series: SeriesId) {
  const client = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => unpinBaseline({ path: pathOf(series) }),
    onSuccess: () => invalidateTrends(client),
    onError: notifyError,
  });
  return { unpin: () => mutate(), pending: isPending };
}
