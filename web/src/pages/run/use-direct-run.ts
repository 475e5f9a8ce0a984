// Finds a run that executed the same job with direct I/O. Candidates come from the history, and a
// comparison verifies that their settings match.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ComparedRun, Run, Verdicts } from '../../api';
import { compareRunsQuery, runsQuery } from '../../api/queries';
import { directRun, directRunCandidates, directRunFilter } from '../../model/compare/direct-run';
import { isServedFromMemory } from '../../model/run/verdict';
import { useIsSaved } from '../../ui/saved';

/** Null if there is none, or if memory did not serve `run`. Undefined while loading. */
export function useDirectRun(
  run: Run,
  verdicts: Verdicts | null | undefined,
): ComparedRun | null | undefined {
  const isSaved = useIsSaved();
  const q = !isSaved && isServedFromMemory(verdicts) ? directRunFilter(run) : null;
  const list = useInfiniteQuery({ ...runsQuery({ q: q ?? '' }), enabled: q !== null });
  const listed = list.data?.pages.flatMap(({ runs }) => runs) ?? [];
  const candidates = q === null ? [] : directRunCandidates(run, listed);
  const hasCandidates = candidates.length > 0;
  const comparison = useQuery({
    ...compareRunsQuery([run.number, ...candidates]),
    enabled: hasCandidates,
  });
  if (comparison.data) return directRun(comparison.data, run.number);
  const isLoading = q !== null && (list.isPending || (hasCandidates && comparison.isPending));
  return isLoading ? undefined : null;
}
