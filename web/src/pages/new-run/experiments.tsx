// "See it happen on your disk": the experiments that come with the server, one card each, with what it shows, what was
// published, and what it would do here before anybody starts it.
import { Button } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Experiment, Study, StudyDocument, StudySummary } from '../../api';
import { experimentsQuery, studiesQuery, studyPlanQuery } from '../../api/queries';
import { IdempotentRequest, startStudy } from '../../api/start';
import { errorText, problemText } from '../../model/format/problem-text';
import { studyCostText } from '../../model/job/plan-summary';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';

/** All experiments. */
export function Experiments() {
  const { data: experiments, error, refetch } = useQuery(experimentsQuery);
  const { data: done } = useInfiniteQuery(studiesQuery);
  const studies = done?.pages.flatMap((page) => page.studies) ?? [];
  if (error) return <ProblemNotice problem={errorText(error)} onRetry={() => void refetch()} />;
  return (
    <section id="experiments" className="stack" aria-labelledby="experiments-title">
      <div>
        <h2 id="experiments-title" className="section">
          See it happen on your disk
        </h2>
        <p className="mute">
          Five people measured a disk and got a number that was not the disk’s. Each card does the
          same here, step by step, and shows in which layer the number was made.
        </p>
      </div>
      <div className="experiments">
        {experiments?.map((experiment) => (
          <ExperimentCard
            key={experiment.id}
            experiment={experiment}
            last={studies.find(({ name }) => name === experiment.study.name)}
          />
        ))}
      </div>
    </section>
  );
}

function ExperimentCard({
  experiment: { study },
  last,
}: {
  experiment: Experiment;
  last: StudySummary | undefined;
}) {
  const [open, setOpen] = useState(false);
  const { start, pending, error } = useStart(study);
  return (
    <Card title={study.name} className="experiment">
      <p>{study.about}</p>
      <div className="row">
        <Button variant="filled" loading={pending} onClick={start}>
          Run it here
        </Button>
        {last && (
          <Link to="/studies/$n" params={{ n: String(last.number) }}>
            last time: study #{last.number}
          </Link>
        )}
      </div>
      {error && <ProblemNotice problem={errorText(error)} />}
      <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>Steps, sizes, and what was published</summary>
        {open && <Inside study={study} />}
      </details>
    </Card>
  );
}

function useStart(document: StudyDocument) {
  const navigate = useNavigate();
  const [wish] = useState(() => new IdempotentRequest());
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => startStudy(document, wish),
    onSuccess: (study: Study) =>
      navigate({ to: '/studies/$n', params: { n: String(study.number) } }),
  });
  return { start: () => mutate(), pending: isPending, error };
}

/** What it would do here, and what others got. */
function Inside({ study }: { study: StudyDocument }) {
  const { data: plan, error } = useQuery(studyPlanQuery(study));
  return (
    <div className="stack">
      <ol className="experiment-steps">
        {study.steps.map(({ name, note }) => (
          <li key={name}>
            <b>{name}</b> <span className="mute">{note}</span>
          </li>
        ))}
      </ol>
      {error && <ProblemNotice problem={errorText(error)} />}
      {plan && <p>{[studyCostText(plan), plan.scaled.sentence].join(' ')}</p>}
      {plan?.scaled.note && <p className="mute">{plan.scaled.note}</p>}
      {plan?.problems.map((problem) => (
        <p key={problem.field ?? problem.detail} style={{ color: 'var(--bad-text)' }}>
          {problemText(problem)}
        </p>
      ))}
      {study.published && <PublishedTable published={study.published} />}
    </div>
  );
}

function PublishedTable({
  published: { source, columns, rows },
}: {
  published: NonNullable<StudyDocument['published']>;
}) {
  const [corner = '', ...heads] = columns;
  return (
    <div>
      <NamedRows
        label="Published figures"
        corner={corner}
        heads={heads}
        rows={rows.map(({ cells: [name = '', ...cells] }) => ({ key: name, name, cells }))}
      />
      <p className="mute small">{source}</p>
    </div>
  );
}
