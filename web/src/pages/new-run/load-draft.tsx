// Copies a run or study into the draft once. Then changes the URL to the form's, so that a
// reload keeps edits.
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useCallback, useEffect } from 'react';
import type { Run } from '../../api';
import { runQuery, studyWithRunsQuery } from '../../api/queries';
import { draftOfStudy } from '../../model/study/draft-of-study';
import { Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { copyRun, useStoredDraft } from './use-run-draft';
import { useStoredStudy } from './use-study';

export function LoadRunDraft({ number }: { number: number }) {
  const [, store] = useStoredDraft();
  const query = useQuery(runQuery(number));
  const onLoad = useCallback((run: Run) => store(copyRun(run)), [store]);
  return <LoadDraft query={query} source={`run #${number}`} onLoad={onLoad} />;
}

export function LoadStudyDraft({ number }: { number: number }) {
  const [, store] = useStoredStudy();
  const query = useQuery(studyWithRunsQuery(number));
  const onLoad = useCallback(
    ({ study, runs }: NonNullable<typeof query.data>) => store(draftOfStudy(study, runs)),
    [store],
  );
  return <LoadDraft query={query} source={`study #${number}`} study="1" onLoad={onLoad} />;
}

interface LoadDraftProps<Data> {
  query: UseQueryResult<Data, unknown>;
  source: string;
  /** The search parameter that opens the study form. */
  study?: '1';
  onLoad: (data: Data) => void;
}

function LoadDraft<Data>({ query, source, study, onLoad }: LoadDraftProps<Data>) {
  const { data, error, refetch } = query;
  const navigate = useNavigate();
  const kind = study ? 'study' : 'run';
  useEffect(() => {
    if (!data) return;
    onLoad(data);
    void navigate({ to: '/new', search: { study }, replace: true });
  }, [data, onLoad, navigate, study]);
  return (
    <Page title={`New ${kind}`}>
      <h1>New {kind}</h1>
      {error ? (
        <>
          <ProblemNotice error={error} retry={refetch} />
          <p>
            <Link to="/new" search={{ study }}>
              Open the current draft
            </Link>
          </p>
        </>
      ) : (
        <p className="mute">Loading {source}…</p>
      )}
    </Page>
  );
}
