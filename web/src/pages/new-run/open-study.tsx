// A study that was started, taken over into the form. It happens once: then the address is that of the form, and what is
// changed there survives a reload.
import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { studyWithRunsQuery } from '../../api/queries';
import { draftOf } from '../../model/study-again';
import { inWords } from '../../model/told';
import { Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { useKeptStudy } from './use-study';

/** What stands there until the form does. */
export function OpenStudy({ number }: { number: number }) {
  const [, keep] = useKeptStudy();
  const navigate = useNavigate();
  const { data, error, refetch } = useQuery(studyWithRunsQuery(number));
  useEffect(() => {
    if (!data) return;
    keep(draftOf(data.study, data.runs));
    void navigate({ to: '/new', search: { study: '1' }, replace: true });
  }, [data, keep, navigate]);
  return (
    <Page title="New study">
      <h1>New study</h1>
      {error ? (
        <>
          <ProblemNotice problem={inWords(error)} onRetry={() => void refetch()} />
          <p>
            <Link to="/new" search={{ study: '1' }}>
              The study in the making
            </Link>
          </p>
        </>
      ) : (
        <p className="mute">Reading the steps of study #{number}…</p>
      )}
    </Page>
  );
}
