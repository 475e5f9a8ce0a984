// Determines which runs still exist after the server rejects a comparison because a run is
// missing.
import { useQueries } from '@tanstack/react-query';
import { ApiProblem } from '../../api';
import { runQuery } from '../../api/queries';

const isMissing = (error: unknown) => error instanceof ApiProblem && error.status === 404;

/** Null while the runs are loading, or if `error` does not report a missing run. */
export function useExistingRuns(
  numbers: readonly number[],
  error: unknown,
): { existing: number[]; missing: number[] } | null {
  const enabled = isMissing(error);
  const runs = useQueries({
    queries: numbers.map((number) => ({ ...runQuery(number), enabled })),
  });
  if (!enabled || runs.some(({ isPending }) => isPending)) return null;
  const missing = numbers.filter((_, index) => isMissing(runs[index]?.error));
  if (missing.length === 0) return null;
  return { existing: numbers.filter((number) => !missing.includes(number)), missing };
}
