// List of studies, newest first.
import { useInfiniteQuery } from '@tanstack/react-query';
import type { DamagedStudy, StudySummary } from '../../api';
import { studiesQuery } from '../../api/queries';
import { UNKNOWN } from '../../model/format/numbers';
import { dateTime, duration, shortDateTime } from '../../model/format/time';
import { STUDY_STATUS } from '../../model/study/rows';
import { LinkButton } from '../../ui/link-button';
import { LoadMore } from '../../ui/load-more';
import { NamedRows } from '../../ui/named-rows';
import { Card, Empty, Notice, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { StudyLink } from '../../ui/run-links';
import { StatusDot } from '../../ui/status';
import './studies.css';

const HEADERS = ['Status', 'Runs', 'Duration', 'Created'];

export function StudiesPage() {
  const query = useInfiniteQuery(studiesQuery);
  const studies = query.data?.pages.flatMap((page) => page.studies) ?? [];
  const damaged = query.data?.pages.flatMap((page) => page.damaged) ?? [];
  const isFirstVisit = query.isSuccess && studies.length + damaged.length === 0;
  return (
    <Page title="Studies">
      <div className="row">
        <h1>Studies</h1>
        <span className="push" />
        <LinkButton to="/new" hash="experiments">
          Experiments
        </LinkButton>
        <LinkButton to="/new" search={{ study: '1' }} variant={isFirstVisit ? 'default' : 'filled'}>
          New study
        </LinkButton>
      </div>
      <ProblemNotice error={query.error} retry={query.refetch} />
      {damaged.map((study) => (
        <DamagedNotice key={study.number} study={study} />
      ))}
      {isFirstVisit && <NoStudies />}
      {studies.length > 0 && (
        <Card>
          <NamedRows
            className="study-list"
            label="Studies"
            corner="Study"
            headers={HEADERS}
            rows={studies.map(rowOf)}
          />
          <LoadMore query={query} />
        </Card>
      )}
    </Page>
  );
}

function DamagedNotice({ study: { number, detail } }: { study: DamagedStudy }) {
  return (
    <Notice
      alert
      tone="bad"
      badge="Damaged"
      title={<StudyLink n={number}>Study #{number}</StudyLink>}
      detail={detail}
    />
  );
}

function NoStudies() {
  return (
    <Empty
      title="No studies yet"
      actions={
        <LinkButton to="/new" hash="experiments" variant="filled" h={36}>
          Run an experiment
        </LinkButton>
      }
    >
      A study is a list of runs that are submitted together and executed in order. Leadline includes
      five experiments that show how benchmark results can mislead on this disk. You can also build
      a study step by step, post it to the API, or run one in a terminal.
    </Empty>
  );
}

function rowOf(study: StudySummary) {
  const { number, name, reason, started_at_ms, finished_at_ms, created_at_ms } = study;
  return {
    key: String(number),
    name: (
      <>
        <StudyLink n={number}>
          #{number} {name}
        </StudyLink>
        {reason && <div className="mute small">{reason}</div>}
      </>
    ),
    cells: [
      <StatusDot key="status" status={STUDY_STATUS[study.status]} />,
      <span key="runs" style={{ whiteSpace: 'nowrap' }}>
        {study.steps_ended} of {study.steps_total}
      </span>,
      started_at_ms && finished_at_ms ? duration(finished_at_ms - started_at_ms) : UNKNOWN,
      <span key="created" title={dateTime(created_at_ms)}>
        {shortDateTime(created_at_ms)}
      </span>,
    ],
  };
}
