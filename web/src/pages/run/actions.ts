// Run mutations: rerun, cancel, edit, delete. Errors are shown as toasts.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { cancelRun, deleteRun, ifMatch, patchRun, type RerunRequest, type Run } from '../../api';
import { ApiProblem } from '../../api/problem';
import { runQuery } from '../../api/queries';
import { IdempotentRequest, startRerun } from '../../api/start';
import { notifyError } from '../../ui/notify';
import { useOpenRun } from '../../ui/run-links';

/** Starts the same jobs with the options in `patch`, and opens the new run. */
export function useRerun(run: Run) {
  const [request] = useState(() => new IdempotentRequest());
  const navigate = useNavigate();
  const { mutate, isPending } = useMutation({
    mutationFn: (body: RerunRequest) => startRerun(run.number, body, request),
    onSuccess: useOpenRun(),
    onError: (error, { patch }) => {
      notifyError(error);
      // Open the form, which shows what would be overwritten and prompts for a new confirmation.
      if (needsConfirmation(error) && !patch) {
        void navigate({ to: '/new', search: { from: String(run.number) } });
      }
    },
  });
  return { rerun: mutate, pending: isPending };
}

const needsConfirmation = (error: unknown) =>
  error instanceof ApiProblem && error.problems.some(({ code }) => code === 'not_confirmed');

/** Cancels a run. Results measured so far are kept. */
export function useCancelRun({ number: n }: Run) {
  const { mutate, isPending } = useMutation({
    mutationFn: () => cancelRun({ path: { n } }),
    onError: notifyError,
  });
  return { cancel: () => mutate(), pending: isPending };
}

type EditableField = 'name' | 'tags' | 'notes';

/**
 * An editable run field. `value` is the last input, even while it is being saved or after saving
 * has failed (`unsaved`). The cached run changes only after the server has stored the value.
 */
export function useRunField<Field extends EditableField>(run: Run, field: Field) {
  const queryClient = useQueryClient();
  const { mutate, variables, isPending, isError, reset } = useMutation({
    mutationFn: async (value: Run[Field]) => {
      const { etag } = queryClient.getQueryData(runQuery(run.number).queryKey) ?? run;
      const headers = ifMatch(etag);
      const body = { [field]: value };
      return await patchRun({ path: { n: run.number }, headers, body, throwOnError: true });
    },
    onSuccess: ({ data }, value) =>
      queryClient.setQueryData(runQuery(run.number).queryKey, (old) =>
        old ? { ...old, [field]: value, etag: data.etag } : old,
      ),
    onError: (error) => {
      notifyError(error);
      // The run may have been changed elsewhere. Reload it, so that the next attempt can succeed.
      void queryClient.invalidateQueries({ queryKey: runQuery(run.number).queryKey });
    },
  });
  const save = (value: Run[Field]) => (value === run[field] ? reset() : mutate(value));
  const value = (isPending || isError) && variables !== undefined ? variables : run[field];
  return { value, save, unsaved: isError };
}

/** Deletes a finished run, and opens the run list. */
export function useDelete({ number: n }: Run) {
  const navigate = useNavigate();
  const { mutate } = useMutation({
    mutationFn: () => deleteRun({ path: { n } }),
    onSuccess: () => navigate({ to: '/runs' }),
    onError: notifyError,
  });
  return () => mutate();
}
