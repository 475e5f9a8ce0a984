// The rerun that would make runs comparable, by one click; it leads to the new run.
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Rerun } from '../../api';
import { StartRequest, startAgain } from '../../api/start';
import { errorText } from '../../model/format/problem-text';
import { tellFailure } from '../../ui/tell';

/** The button. */
export function RerunButton({ rerun: { run, label, patch } }: { rerun: Rerun }) {
  const navigate = useNavigate();
  const [wish] = useState(() => new StartRequest());
  const { mutate, isPending } = useMutation({
    mutationFn: () => startAgain(run, { patch }, wish),
    onSuccess: (next) => navigate({ to: '/runs/$n', params: { n: String(next.number) } }),
    onError: (error) => tellFailure(errorText(error)),
  });
  return (
    <Button variant="filled" loading={isPending} onClick={() => mutate()}>
      #{run}: {label}
    </Button>
  );
}
