// What can be done to a run: again (with options changed), stop, change its name, tags and notes, delete. Failures are
// told where they happen; success leads to where it shows.
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { cancelRun, deleteRun, patchRun, type RerunRequest, type Run } from '../../api';
import { IdempotentRequest, startRerun } from '../../api/start';
import { errorText } from '../../model/format/problem-text';
import { notifyError } from '../../ui/notify';

const tell = (error: unknown) => notifyError(errorText(error));

/** Runs the same jobs again, with options changed where `patch` says so, and shows the new run. */
export function useRerun(run: Run) {
  const navigate = useNavigate();
  const [wish] = useState(() => new IdempotentRequest());
  const { mutate, isPending } = useMutation({
    mutationFn: (body: RerunRequest) => startRerun(run.number, body, wish),
    onSuccess: (next) => navigate({ to: '/runs/$n', params: { n: String(next.number) } }),
    onError: tell,
  });
  return { rerun: mutate, pending: isPending };
}

/** Stops a run; what it measured until then is kept. */
export function useCancel(run: Run) {
  const { mutate, isPending } = useMutation({
    mutationFn: async () => (await cancelRun({ path: { n: run.number }, throwOnError: true })).data,
    onError: tell,
  });
  return { cancel: () => mutate(), pending: isPending };
}

/** What a run's owner may change of it. */
type EditableField = 'name' | 'tags' | 'notes';

/**
 * A field of a run that its owner changes. `value` is what was last said, also while it is being saved or could not be
 * (`unsaved`); the run has it only when the server does.
 */
export function useRunField<Field extends EditableField>(run: Run, field: Field) {
  const queryClient = useQueryClient();
  const { mutate, variables, isPending, isError, reset } = useMutation({
    mutationFn: (value: Run[Field]) =>
      patchRun({ path: { n: run.number }, body: { [field]: value }, throwOnError: true }),
    onSuccess: (_, value) =>
      queryClient.setQueryData<Run>(['run', run.number], (old) =>
        old ? { ...old, [field]: value } : old,
      ),
    onError: tell,
  });
  const keep = (value: Run[Field]) => (value === run[field] ? reset() : mutate(value));
  const value = (isPending || isError) && variables !== undefined ? variables : run[field];
  return { value, keep, unsaved: isError };
}

/** Deletes a run that is over, and leads back to the list. */
export function useDelete(run: Run) {
  const navigate = useNavigate();
  const { mutate } = useMutation({
    mutationFn: async () => deleteRun({ path: { n: run.number }, throwOnError: true }),
    onSuccess: () => navigate({ to: '/runs' }),
    onError: tell,
  });
  return () => mutate();
}
