// Which runs are selected: of those that the filter shows, so that nothing is done to runs that nobody sees. Under another
// filter nothing is selected. Another order changes nothing, even where it puts a run on a page that is yet to be loaded.
import { useMemo, useState } from 'react';
import type { RunSummary } from '../../api';

type Runs = ReadonlyMap<number, RunSummary>;
const NONE: Runs = new Map();

/** The selected runs in the order of their numbers, as fresh as the list, and how to select others. */
export function useSelection(filter: string | undefined, listed: readonly RunSummary[]) {
  const [kept, keep] = useState({ filter, runs: NONE });
  const old = kept.filter === filter ? kept.runs : NONE;
  const known: Runs = useMemo(
    () => new Map([...old, ...listed.map((run) => [run.number, run] as const)]),
    [old, listed],
  );
  const selected: ReadonlySet<number> = useMemo(() => new Set(old.keys()), [old]);
  const among = (numbers: ReadonlySet<number>) =>
    [...numbers].sort((a, b) => a - b).flatMap((number) => known.get(number) ?? []);
  const select = (numbers: ReadonlySet<number>) =>
    keep({ filter, runs: new Map(among(numbers).map((run) => [run.number, run])) });
  return { selected, chosen: among(selected), select };
}
