// Repeats single runs as an interleaved study to find out whether they really differ.
import { Button } from '@mantine/core';
import { useMutation, useQueries, useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { ComparedRun, StudyDefinition } from '../../api';
import { runQuery, studyPlanQuery } from '../../api/queries';
import { IdempotentRequest, startStudy } from '../../api/start';
import { costText, REPEATS, repeatStudy } from '../../model/compare/repeat';
import { notifyError } from '../../ui/notify';
import { useOpenStudy } from '../../ui/run-links';

interface RepeatButtonsProps {
  runs: readonly ComparedRun[];
  /** Whether this is the primary action: false if the page recommends something else. */
  isPrimary: boolean;
}

export function RepeatButtons({ runs, isPrimary }: RepeatButtonsProps) {
  const details = useQueries({
    queries: runs.map(({ run }) => runQuery(run.number)),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  });
  const isLoaded = details.length === runs.length;
  const isPair = runs.length === 2;
  const subject = isPair ? 'both' : `all ${runs.length} runs`;
  return (
    <>
      <StudyButton
        study={repeatStudy(details)}
        isLoaded={isLoaded}
        variant={isPrimary ? 'filled' : 'default'}
      >
        Repeat {subject} {REPEATS} times, interleaved
      </StudyButton>
      {isPair && (
        <StudyButton study={repeatStudy(details, true)} isLoaded={isLoaded} variant="default">
          Repeat both until decided
        </StudyButton>
      )}
    </>
  );
}

interface StudyButtonProps {
  study: StudyDefinition;
  /** True once the runs to repeat have been loaded. */
  isLoaded: boolean;
  variant: 'filled' | 'default';
  children: ReactNode;
}

/** Button that starts the study. Shows the planned duration. */
function StudyButton({ study, isLoaded, variant, children }: StudyButtonProps) {
  const [request] = useState(() => new IdempotentRequest());
  const { data: plan } = useQuery({ ...studyPlanQuery(study), enabled: isLoaded });
  const { mutate, isPending } = useMutation({
    mutationFn: () => startStudy(study, request),
    onSuccess: useOpenStudy(),
    onError: notifyError,
  });
  const cost = plan && costText(plan);
  return (
    <Button
      className="wraps"
      h="auto"
      mih={30}
      py={4}
      variant={variant}
      loading={isPending}
      disabled={!isLoaded}
      onClick={() => mutate()}
    >
      {children}
      {cost ? ` (${cost})` : ''}
    </Button>
  );
}
