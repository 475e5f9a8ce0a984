// The server's plan of what is being built, a run or a study. Nothing is started by it.
import { useDebouncedValue } from '@mantine/hooks';
import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query';

/** How long typing must rest before the server is asked, in ms. */
const REST_MS = 250;

/** What is known of a plan. */
interface Planned<Plan> {
  plan: Plan | undefined;
  /** Whether the plan is that of what is wanted as it stands. */
  planned: boolean;
  error: Error | null;
}

/** Asks with `queryOf` for the plan of what is wanted, when typing rests; not while `complete` is false. */
export function usePlan<Wanted, Plan, Key extends QueryKey>(
  wanted: Wanted,
  queryOf: (wanted: Wanted) => UseQueryOptions<Plan, Error, Plan, Key>,
  complete: boolean,
): Planned<Plan> {
  const [asked] = useDebouncedValue(wanted, REST_MS);
  const { data, error, isPlaceholderData } = useQuery({ ...queryOf(asked), enabled: complete });
  if (!complete) return { plan: undefined, planned: false, error: null };
  return {
    plan: data,
    planned: data !== undefined && asked === wanted && !isPlaceholderData,
    error,
  };
}
