// Runs selected under the current filter. Changing the filter clears the selection; changing the
// sort order keeps it, even if a selected run moves to a page that is not loaded.
import { useMemo, useState } from 'react';
import type { RunSummary } from '../../api';

type Runs = ReadonlyMap<number, RunSummary>;
const NONE: Runs = new Map();

/** `chosen`: sorted by number. Its summaries are kept up to date from the list. */
export function useSelection(filter: string | undefined, listed: readonly RunSummary[]) {
  const [stored, store] = useState({ filter, runs: NONE });
  const previous = stored.filter === filter ? stored.runs : NONE;
  const known: Runs = useMemo(
    () => new Map([...previous, ...listed.map((run) => [run.number, run] as const)]),
    [previous, listed],
  );
  const selected: ReadonlySet<number> = useMemo(() => new Set(previous.keys()), [previous]);
  const runsOf = (numbers: ReadonlySet<number>) =>
    [...numbers].sort((a, b) => a - b).flatMap((number) => known.get(number) ?? []);
  const select = (numbers: ReadonlySet<number>) =>
    store({ filter, runs: new Map(runsOf(numbers).map((run) => [run.number, run])) });
  return { selected, chosen: runsOf(selected), select };
}
