// Rerun that makes the runs comparable.
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Rerun } from '../../api';
import { IdempotentRequest, startRerun } from '../../api/start';
import { errorText } from '../../model/format/problem-text';
import { notifyError } from '../../ui/notify';

export function RerunButton({ rerun: { run, label, patch } }: { rerun: Rerun }) {
  const navigate = useNavigate();
  const [request] = useState(() => new IdempotentRequest());
  const { mutate, isPending } = useMutation({
    mutationFn: () => startRerun(run, { patch }, request),
    onSuccess: (next) => navigate({ to: '/runs/$n', params: { n: String(next.number) } }),
    onError: (error) => notifyError(errorText(error)),
  });
  return (
    <Button variant="filled" loading={isPending} onClick={() => mutate()}>
      #{run}: {label}
    </Button>
  );
}
