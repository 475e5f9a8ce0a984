// What the disk itself does, where memory answered: the history is asked for runs that look alike, and the server for
// every setting in which they differ.
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { ComparedRun, Run, Verdicts } from '../../api';
import { compareQuery, runsQuery } from '../../api/queries';
import { directRun, directRunCandidates, directRunFilter } from '../../model/compare/direct-run';
import { isServedFromMemory } from '../../model/run/verdict';

/** The same job done direct, whose number is the disk's; null where there is none, undefined until that is known. */
export function useDirectRun(
  run: Run,
  verdicts: Verdicts | null | undefined,
): ComparedRun | null | undefined {
  const q = isServedFromMemory(verdicts) ? directRunFilter(run) : null;
  const list = useInfiniteQuery({ ...runsQuery({ q: q ?? '' }), enabled: q !== null });
  const candidates =
    q === null ? [] : directRunCandidates(run, list.data?.pages.flatMap(({ runs }) => runs) ?? []);
  const held = useQuery({
    ...compareQuery([run.number, ...candidates], run.number),
    enabled: candidates.length > 0,
  });
  if (held.data) return directRun(held.data, run.number);
  const isAsking = q !== null && (list.isPending || (candidates.length > 0 && held.isPending));
  return isAsking ? undefined : null;
}
