// Repeats two single runs as an interleaved study, to show whether they really differ.
import { Button } from '@mantine/core';
import { useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ComparedRun } from '../../api';
import { runQuery, studyPlanQuery } from '../../api/queries';
import { IdempotentRequest, startStudy } from '../../api/start';
import { plannedDuration, REPEATS, repeatStudy } from '../../model/compare/repeat';
import { duration } from '../../model/format/time';
import { notifyError } from '../../ui/notify';
import { useOpenStudy } from '../../ui/run-links';

export function RepeatButton({ runs }: { runs: readonly ComparedRun[] }) {
  const details = useQueries({
    queries: runs.map(({ run }) => runQuery(run.number)),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
  const [request] = useState(() => new IdempotentRequest());
  const study = repeatStudy(details);
  const isLoaded = details.length === runs.length;
  const { data: plan } = useQuery({ ...studyPlanQuery(study), enabled: isLoaded });
  const { mutate, isPending } = useMutation({
    mutationFn: () => startStudy(study, request),
    onSuccess: useOpenStudy(),
    onError: notifyError,
  });
  const total_ms = plan && plannedDuration(plan);
  return (
    <Button variant="filled" loading={isPending} disabled={!isLoaded} onClick={() => mutate()}>
      Repeat both {REPEATS} times, interleaved
      {total_ms ? ` (${duration(Math.round(total_ms))})` : ''}
    </Button>
  );
}
