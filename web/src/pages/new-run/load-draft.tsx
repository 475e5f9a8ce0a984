// A run or a study that was started, taken over into the form. It happens once: then the address is that of the form, and
// what is changed there survives a reload, whatever becomes of the one that it began as.
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';
import type { Run } from '../../api';
import { runQuery, studyWithRunsQuery } from '../../api/queries';
import { errorText } from '../../model/format/problem-text';
import { draftOfStudy } from '../../model/study/draft-of-study';
import { Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { copyRun, useStoredRun } from './use-draft';
import { useStoredStudy } from './use-study';

/** What stands there until the form of a run does. */
export function LoadRunDraft({ number }: { number: number }) {
  const [, keep] = useStoredRun();
  const query = useQuery(runQuery(number));
  return (
    <LoadDraft
      query={query}
      from={`run #${number}`}
      begin={useCallback((run: Run) => keep(copyRun(run)), [keep])}
    />
  );
}

/** What stands there until the form of a study does. */
export function LoadStudyDraft({ number }: { number: number }) {
  const [, keep] = useStoredStudy();
  const query = useQuery(studyWithRunsQuery(number));
  const begin = useCallback(
    ({ study, runs }: NonNullable<typeof query.data>) => keep(draftOfStudy(study, runs)),
    [keep],
  );
  return <LoadDraft query={query} from={`the steps of study #${number}`} study="1" begin={begin} />;
}

interface OpeningProps<Found> {
  query: UseQueryResult<Found>;
  /** What is read. */
  from: string;
  /** Whether the form is that of a study. */
  study?: '1';
  /** Makes a draft of what was found. */
  begin: (found: Found) => void;
}

function LoadDraft<Found>({
  query: { data, error, refetch },
  from,
  study,
  begin,
}: OpeningProps<Found>) {
  const navigate = useNavigate();
  const what = study ? 'study' : 'run';
  useEffect(() => {
    if (!data) return;
    begin(data);
    void navigate({ to: '/new', search: { study }, replace: true });
  }, [data, begin, navigate, study]);
  return (
    <Page title={`New ${what}`}>
      <h1>New {what}</h1>
      {error ? (
        <>
          <ProblemNotice problem={errorText(error)} onRetry={() => void refetch()} />
          <p>
            <Link to="/new" search={{ study }}>
              The {what} in the making
            </Link>
          </p>
        </>
      ) : (
        <p className="mute">Reading {from}…</p>
      )}
    </Page>
  );
}
