// All studies, newest first: what each is, how far it is, and how it ended.
import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { StudySummary } from '../../api';
import { studiesQuery } from '../../api/queries';
import { duration, moment, shortMoment, UNKNOWN } from '../../model/format/numbers';
import { errorText } from '../../model/format/problem-text';
import { STUDY_STATUS } from '../../model/study/rows';
import { LinkButton } from '../../ui/link-button';
import { NamedRows } from '../../ui/named-rows';
import { Card, Empty, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { StatusDot } from '../../ui/status';

const HEADS = ['status', 'steps', 'took', 'when'];

/** The page. */
export function StudiesPage() {
  const query = useInfiniteQuery(studiesQuery);
  const studies = query.data?.pages.flatMap((page) => page.studies) ?? [];
  return (
    <Page title="Studies">
      <div className="row">
        <h1>Studies</h1>
        <span className="push" />
        <LinkButton to="/new" hash="experiments">
          See it happen on your disk
        </LinkButton>
        <LinkButton to="/new" search={{ study: '1' }} variant="filled">
          New study
        </LinkButton>
      </div>
      {query.error && (
        <ProblemNotice problem={errorText(query.error)} onRetry={() => void query.refetch()} />
      )}
      {query.isSuccess && studies.length === 0 && <NoStudies />}
      {studies.length > 0 && (
        <Card>
          <NamedRows label="Studies" corner="study" heads={HEADS} rows={studies.map(rowOf)} />
          {query.hasNextPage && (
            <Button
              mt={8}
              loading={query.isFetchingNextPage}
              onClick={() => void query.fetchNextPage()}
            >
              Older ones
            </Button>
          )}
        </Card>
      )}
    </Page>
  );
}

function NoStudies() {
  return (
    <Empty
      title="No studies yet"
      actions={
        <>
          <LinkButton to="/new" hash="experiments" variant="filled" h={36}>
            See it happen on your disk
          </LinkButton>
          <LinkButton to="/new" search={{ study: '1' }} h={36}>
            New study
          </LinkButton>
        </>
      }
    >
      A study is a row of runs that are started together and done one after the other. Five come
      with Leadline: each shows on this disk how a benchmark’s number misleads. Others you build
      step by step, post with curl, or run in a terminal.
    </Empty>
  );
}

function rowOf(study: StudySummary) {
  const {
    number,
    name,
    status,
    steps_ended,
    steps_total,
    started_at_ms,
    finished_at_ms,
    created_at_ms,
    reason,
  } = study;
  const took = started_at_ms && finished_at_ms ? duration(finished_at_ms - started_at_ms) : UNKNOWN;
  return {
    key: String(number),
    name: (
      <>
        <Link to="/studies/$n" params={{ n: String(number) }}>
          #{number} {name}
        </Link>
        {reason && <div className="mute small wraps">{reason}</div>}
      </>
    ),
    cells: [
      <StatusDot key="status" standing={STUDY_STATUS[status]} />,
      `${steps_ended} of ${steps_total}`,
      took,
      <span key="when" title={moment(created_at_ms)}>
        {shortMoment(created_at_ms)}
      </span>,
    ],
  };
}
