// The server's plan for a draft. Planning does not start anything.
import { useDebouncedValue } from '@mantine/hooks';
import { type QueryKey, type UseQueryOptions, useQuery } from '@tanstack/react-query';
import type { ProblemDetails } from '../../api';

const DEBOUNCE_MS = 250;

export interface PlanState<Plan> {
  plan: Plan | undefined;
  /** False if `plan` is for an older request. */
  isPlanCurrent: boolean;
  planError: ProblemDetails | null;
}

/** Plans `request` after a pause in typing, unless the request is incomplete. */
export function usePlan<Request, Plan, Key extends QueryKey>(
  request: Request,
  queryOf: (request: Request) => UseQueryOptions<Plan, ProblemDetails, Plan, Key>,
  isComplete: boolean,
): PlanState<Plan> {
  const [sent] = useDebouncedValue(request, DEBOUNCE_MS);
  const { data, error, isPlaceholderData } = useQuery({ ...queryOf(sent), enabled: isComplete });
  if (!isComplete) return { plan: undefined, isPlanCurrent: false, planError: null };
  const isPlanCurrent = data !== undefined && sent === request && !isPlaceholderData;
  return { plan: data, isPlanCurrent, planError: error };
}
