// Form for a study: its steps, the run form for the selected step, and the study's settings.
import { Button, Checkbox, NumberInput, Textarea } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { startStudy } from '../../api/start';
import type { FormProblem } from '../../model/job/form-problems';
import { studyCostText } from '../../model/job/plan-summary';
import { changeStep, hasProcedure, MAX_STEPS, type StudyDraft } from '../../model/study/draft';
import { plannedLooksText } from '../../model/study/looks';
import { copyText } from '../../ui/clipboard';
import { Card, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { useOpenStudy } from '../../ui/run-links';
import { AllOptions } from './all-options';
import { BasicFields } from './basic-fields';
import { IoModeCard } from './io-mode';
import { JobEditor } from './job-editor';
import { Overwrites } from './overwrites';
import { PlanPreview } from './plan-preview';
import { PresetMenu } from './presets';
import { LineNumber, ProblemList } from './problem-list';
import { ProcedureFields } from './procedure-fields';
import { NameAndTags, StartButton, useStart } from './start';
import { StepList } from './step-list';
import { SweepFields } from './sweep-fields';
import { UntilDecided } from './until-decided';
import { type StudyEditor, useStudyEditor } from './use-study';

export function StudyForm() {
  const study = useStudyEditor();
  const { draft, index, job, document, clear } = study;
  const { plan, isPlanCurrent, planError } = job;
  const name = draft.steps[index]?.name;
  const title = `Step ${index + 1}`;
  return (
    <Page title="New study">
      <div className="row">
        <h1>New study</h1>
        {draft.from && <span className="chip">Based on study #{draft.from}</span>}
        <span className="mute clip subtitle">
          Runs that are submitted together and executed in order
        </span>
        <Link to="/new">Single run</Link>
        <Button onClick={() => void copyText('Study', JSON.stringify(document, null, 2))}>
          Copy as JSON
        </Button>
        <Button onClick={clear}>Start over</Button>
        <PresetMenu onChoose={job.setText} />
      </div>
      <ProcedureFields study={study} />
      {!hasProcedure(draft) && <StepList study={study} />}
      <h2 className="section breaks">{name ? `${title}: ${name}` : title}</h2>
      <StepNote study={study} />
      <div className="new-run">
        <div className="stack">
          <IoModeCard form={job.form} />
          {!draft.snia && (
            <>
              <BasicFields form={job.form} />
              <AllOptions form={job.form} />
            </>
          )}
          <PlanPreview {...{ plan, isPlanCurrent, planError }} title={planTitle(study)} />
        </div>
        <JobEditor draft={job}>
          <code>$study</code> in a file name is replaced by an ID that is unique to the study. If
          the last step that uses such a file sets <code>unlink=1</code>, the file is removed even
          if the study fails or is cancelled.
        </JobEditor>
      </div>
      <StartStudy study={study} />
    </Page>
  );
}

const planTitle = ({ index, plan }: StudyEditor) => {
  const isSwept = plan?.steps.some(({ sweep }) => sweep && sweep.length > 0);
  return `Plan for step ${index + 1}${isSwept ? ', first combination' : ''}`;
};

function StepNote({ study: { draft, index, change, problems } }: { study: StudyEditor }) {
  const problem = problems.get(index)?.find(({ job, option }) => job === null && option === 'note');
  return (
    <Card>
      <Textarea
        autosize
        maxRows={8}
        label={`Note for step ${index + 1}`}
        placeholder="Purpose of this step (optional)"
        value={draft.steps[index]?.note ?? ''}
        error={problem && `${problem.detail} ${problem.remedy}`}
        onChange={({ currentTarget: { value } }) =>
          change((old) => changeStep(old, index, { note: value }))
        }
      />
    </Card>
  );
}

function StartStudy({ study }: { study: StudyEditor }) {
  const { draft, change, document, plan, isPlanCurrent, problems, hasProblems } = study;
  const set = (part: Partial<StudyDraft>) => change((old) => ({ ...old, ...part }));
  const { start, pending, error } = useStart(
    (request) => startStudy(document, request),
    useOpenStudy(),
  );
  return (
    <>
      <Card title="Study settings">
        <NameAndTags
          kind="study"
          name={draft.name}
          setName={(name) => set({ name })}
          tags={draft.tags}
          setTags={(tags) => set({ tags })}
        />
        <Textarea
          mt={10}
          autosize
          maxRows={8}
          label="Description"
          placeholder="Purpose of this study (optional)"
          value={draft.about ?? ''}
          onChange={({ currentTarget }) => set({ about: currentTarget.value })}
        />
        {!hasProcedure(draft) && (
          <NumberInput
            mt={10}
            w={220}
            label={draft.untilDecided ? 'Maximum repeats per step' : 'Repeats per step'}
            description="Interleaved in random order"
            min={1}
            max={Math.floor(MAX_STEPS / draft.steps.length)}
            allowDecimal={false}
            value={draft.repeats ?? 1}
            error={problems.get(-1)?.find(({ option }) => option === 'repeats')?.detail}
            onChange={(repeats) => set({ repeats: Number(repeats) || 1 })}
          />
        )}
        <NumberInput
          mt={10}
          w={220}
          label="Maximum idle wait (s)"
          description="Wait for idle devices before each run"
          min={0}
          max={600}
          allowDecimal={false}
          placeholder={(draft.repeats ?? 1) > 1 ? '10' : '0'}
          value={draft.idleWaitSeconds ?? ''}
          error={problems.get(-1)?.find(({ option }) => option === 'idle_wait_seconds')?.detail}
          onChange={(seconds) =>
            set({ idleWaitSeconds: seconds === '' ? undefined : Number(seconds) })
          }
        />
        {draft.orderSeed !== undefined && (
          <p style={{ marginTop: 10 }}>
            Same order and random seeds as in study #{draft.from} (order seed {draft.orderSeed}).{' '}
            <button
              type="button"
              className="plain link"
              onClick={() => set({ orderSeed: undefined })}
            >
              Use a random order
            </button>
          </p>
        )}
        {!hasProcedure(draft) && (
          <>
            <UntilDecided study={study} />
            <SweepFields study={study} />
          </>
        )}
        <Checkbox
          mt={10}
          label="Continue after a failed step"
          checked={draft.continueOnFailure}
          onChange={({ currentTarget }) => set({ continueOnFailure: currentTarget.checked })}
        />
        {plan && !hasProblems && (
          <p style={{ marginTop: 10 }}>
            {plan.until_decided && isPlanCurrent && `${plannedLooksText(plan)} At most: `}
            {isPlanCurrent ? studyCostText(plan) : 'Planning…'}
          </p>
        )}
        {plan && isPlanCurrent && !hasProblems && plan.notes && plan.notes.length > 0 && (
          <ul className="plan-notes">
            {plan.notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        )}
      </Card>
      <Overwrites {...study.confirmations} />
      <ProblemNotice error={error} />
      <StartButton
        start={start}
        pending={pending}
        problems={hasProblems && <StudyProblems study={study} />}
      />
    </>
  );
}

/** All steps' problems. Each has a button that selects its step. */
function StudyProblems({ study: { draft, problems, change } }: { study: StudyEditor }) {
  return [...problems]
    .sort(([a], [b]) => a - b)
    .map(([index, ofStep]) => {
      const step = draft.steps[index];
      const prefix = (problem: FormProblem) => (
        <>
          {step && (
            <button
              type="button"
              className="plain"
              onClick={() => change((old) => ({ ...old, active: step.id }))}
            >
              step {index + 1}
            </button>
          )}{' '}
          <LineNumber {...problem} />
        </>
      );
      return <ProblemList key={index} problems={ofStep} prefix={prefix} />;
    });
}
