// The experiments that come with the server. Each has a description, published results, a plan for
// this host, and a start button.
import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { memo, useState } from 'react';
import type { StudyDefinition, StudySummary } from '../../api';
import { problemText } from '../../api/problem';
import { experimentsQuery, studiesQuery, studyPlanQuery } from '../../api/queries';
import { startStudy } from '../../api/start';
import { studyCostText } from '../../model/job/plan-summary';
import { scalingText } from '../../model/study/scaling';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { StudyLink, useOpenStudy } from '../../ui/run-links';
import { useStart } from './start';

export const Experiments = memo(() => {
  const { data: experiments, error, refetch } = useQuery(experimentsQuery);
  const { data } = useInfiniteQuery(studiesQuery);
  const studies = data?.pages.flatMap((page) => page.studies) ?? [];
  if (error) return <ProblemNotice error={error} retry={refetch} />;
  return (
    <section id="experiments" className="stack" aria-labelledby="experiments-title">
      <div>
        <h2 id="experiments-title" className="section">
          Experiments
        </h2>
        <p className="mute">
          Five published benchmarks whose results did not come from the disk. Each experiment
          repeats one of them on this host, step by step, and shows which layer served the I/O.
        </p>
      </div>
      <div className="experiments">
        {experiments?.map(({ id, study }) => (
          <ExperimentCard
            key={id}
            study={study}
            last={studies.find(({ name }) => name === study.name)}
          />
        ))}
      </div>
    </section>
  );
});

interface ExperimentCardProps {
  study: StudyDefinition;
  /** The experiment's most recent study. */
  last: StudySummary | undefined;
}

function ExperimentCard({ study, last }: ExperimentCardProps) {
  const [open, setOpen] = useState(false);
  const { start, pending, error } = useStart(
    (request) => startStudy(study, request),
    useOpenStudy(),
  );
  return (
    <Card className="experiment">
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <h3>{study.name}</h3> <span className="mute about">{study.about}</span>
        </summary>
        {open && <ExperimentDetails study={study} />}
      </details>
      <div className="row tight">
        {last && <StudyLink n={last.number}>Last run: study #{last.number}</StudyLink>}
        <Button loading={pending} onClick={start}>
          Run
        </Button>
      </div>
      <ProblemNotice error={error} />
    </Card>
  );
}

function ExperimentDetails({ study }: { study: StudyDefinition }) {
  const { data: plan, error } = useQuery(studyPlanQuery(study));
  const scaling = plan && scalingText(plan.scaled);
  return (
    <div className="stack">
      <p>{study.about}</p>
      <ol className="experiment-steps">
        {study.steps.map(({ name, note }) => (
          <li key={name}>
            <b>{name}</b> <span className="mute">{note}</span>
          </li>
        ))}
      </ol>
      <ProblemNotice error={error} />
      {plan && <p>{studyCostText(plan)}</p>}
      {scaling && <p className="mute">{scaling}</p>}
      {plan?.problems.map((problem) => (
        <p key={problem.field ?? problem.detail} className="error">
          {problemText(problem)}
        </p>
      ))}
      {study.published && <PublishedTable name={study.name} published={study.published} />}
    </div>
  );
}

type Published = NonNullable<StudyDefinition['published']>;

interface PublishedTableProps {
  /** The experiment's name. */
  name: StudyDefinition['name'];
  published: Published;
}

function PublishedTable({ name, published: { source, columns, rows } }: PublishedTableProps) {
  const [corner = '', ...headers] = columns;
  return (
    <div>
      <NamedRows
        label={`Published results: ${name}`}
        corner={corner}
        headers={headers}
        rows={rows.map(({ cells: [row = '', ...cells] }) => ({ name: row, cells }))}
      />
      <p className="mute small">{source}</p>
    </div>
  );
}
