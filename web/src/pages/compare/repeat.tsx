// Repeats two single runs as an interleaved study, to show whether they really differ.
import { Button } from '@mantine/core';
import { useMutation, useQueries } from '@tanstack/react-query';
import { useState } from 'react';
import type { ComparedRun, Run, StudyDefinition } from '../../api';
import { runQuery } from '../../api/queries';
import { IdempotentRequest, startStudy } from '../../api/start';
import { duration } from '../../model/format/time';
import { runTitle } from '../../model/run/summary';
import { notifyError } from '../../ui/notify';
import { useOpenStudy } from '../../ui/run-links';

/** Number of pairs: enough for a verdict on all metrics of a run, unless there is too much noise. */
const REPEATS = 10;

export function RepeatButton({ runs }: { runs: readonly ComparedRun[] }) {
  const details = useQueries({
    queries: runs.map(({ run }) => runQuery(run.number)),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
  const [request] = useState(() => new IdempotentRequest());
  const { mutate, isPending } = useMutation({
    mutationFn: () => startStudy(studyOf(details), request),
    onSuccess: useOpenStudy(),
    onError: notifyError,
  });
  const total_ms = runs.reduce((sum, { duration_ms }) => sum + (duration_ms ?? 0), 0) * REPEATS;
  return (
    <Button
      variant="filled"
      loading={isPending}
      disabled={details.length < runs.length}
      onClick={() => mutate()}
    >
      Repeat both {REPEATS} times, interleaved ({duration(Math.round(total_ms))})
    </Button>
  );
}

const studyOf = (runs: readonly Run[]): StudyDefinition => ({
  name: runs.map(({ number }) => `#${number}`).join(' and '),
  repeats: REPEATS,
  steps: runs.map((run) => ({
    name: `#${run.number} ${runTitle(run)}`.slice(0, 100),
    jobs: run.requested.jobs,
    sample_ms: run.requested.sample_ms,
  })),
});
