// The numbers of the compared runs, as in the URL `runs=1,2`. They are separate from the metrics,
// because the router needs them to load the first page.
/** Limits on the number of compared runs. A chart with more runs would be unreadable. */
export const MIN_RUNS = 2;
export const MAX_RUNS = 8;

function allRunNumbers(runs: string | undefined): number[] {
  const numbers = (runs ?? '').split(/[\s,#]+/).map(Number);
  return [...new Set(numbers.filter((n) => Number.isInteger(n) && n > 0))];
}

/** Parses `runs=1,2,3`. Ignores numbers that are invalid, repeated or beyond the limit. */
export const parseRunNumbers = (runs: string | undefined): number[] =>
  allRunNumbers(runs).slice(0, MAX_RUNS);

/** The numbers beyond the limit. */
export const omittedRunNumbers = (runs: string | undefined): number[] =>
  allRunNumbers(runs).slice(MAX_RUNS);
