// Reruns a job so that the compared runs become comparable.
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { Rerun } from '../../api';
import { IdempotentRequest, startRerun } from '../../api/start';
import { notifyError } from '../../ui/notify';
import { useOpenRun } from '../../ui/run-links';

export function RerunButton({ rerun: { run, label, patch } }: { rerun: Rerun }) {
  const [request] = useState(() => new IdempotentRequest());
  const { mutate, isPending } = useMutation({
    mutationFn: () => startRerun(run, { patch }, request),
    onSuccess: useOpenRun(),
    onError: notifyError,
  });
  return (
    <Button variant="filled" loading={isPending} onClick={() => mutate()}>
      #{run}: {label}
    </Button>
  );
}
