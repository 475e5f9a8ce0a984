// Building a study: its steps, the form of a run for the one that is shown, and what all of them would do together.
import { Button, Checkbox, Textarea } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { startStudy } from '../../api/start';
import { errorText } from '../../model/format/problem-text';
import { studyCostText } from '../../model/job/plan-summary';
import { changeStep } from '../../model/study/draft';
import { copyText } from '../../ui/clipboard';
import { Card, Page } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { BasicFields } from './basic-fields';
import { PlanPreview } from './plan-preview';
import { AllOptions } from './all-options';
import { ProblemList } from './problem-list';
import { PresetMenu } from './presets';
import { NameAndTags, StartButton, useStart } from './start';
import { StepList } from './step-list';
import { JobEditor } from './job-editor';
import { type StudyEditor, useStudyEditor } from './use-study';
import { IoModeCard } from './io-mode';

/** The page. */
export function StudyForm() {
  const study = useStudyEditor();
  const { draft, place, job, document, clear } = study;
  const title = `Step ${place + 1}${draft.steps[place]?.name ? `: ${draft.steps[place].name}` : ''}`;
  return (
    <Page title="New study">
      <div className="row">
        <h1>New study</h1>
        {draft.from && <span className="chip">begun as study #{draft.from}</span>}
        <span className="mute clip aim">
          runs that are started together and done one after the other
        </span>
        <Link to="/new">One run instead</Link>
        <Button onClick={() => void copyText('Study', JSON.stringify(document, null, 2))}>
          Copy as JSON
        </Button>
        <Button onClick={clear}>Begin anew</Button>
        <PresetMenu onChoose={job.setText} />
      </div>
      <StepList study={study} />
      <h2 className="section breaks">{title}</h2>
      <StepNote study={study} />
      <div className="new-run">
        <div className="stack">
          <IoModeCard draft={job} />
          <BasicFields draft={job} />
          <AllOptions draft={job} />
          <PlanPreview draft={job} title={`Before step ${place + 1} starts`} />
        </div>
        <JobEditor draft={job}>
          <code>$study</code> in a file name stands for a mark of the study’s own. Files that carry
          it, and that their last step removes (<code>unlink=1</code>), do not stay behind however
          the study ends.
        </JobEditor>
      </div>
      <StartStudy study={study} />
    </Page>
  );
}

/** What the shown step is there for. */
function StepNote({ study: { draft, place, change, obstacles } }: { study: StudyEditor }) {
  const fault = obstacles.get(place)?.find(({ job, option }) => job === null && option === 'note');
  return (
    <Card>
      <Textarea
        autosize
        maxRows={8}
        label={`note of step ${place + 1}`}
        placeholder="optional: what it is there for"
        value={draft.steps[place]?.note ?? ''}
        error={fault && `${fault.detail} ${fault.remedy}`}
        onChange={({ currentTarget: { value } }) =>
          change((old) => changeStep(old, place, { note: value }))
        }
      />
    </Card>
  );
}

function StartStudy({ study }: { study: StudyEditor }) {
  const { draft, change, document, plan, blocked } = study;
  const navigate = useNavigate();
  const { start, pending, error } = useStart(
    !blocked,
    (wish) => startStudy(document, wish),
    ({ number }) => navigate({ to: '/studies/$n', params: { n: String(number) } }),
  );
  return (
    <>
      <Card title="The whole study">
        <NameAndTags
          what="study"
          name={draft.name}
          setName={(name) => change((old) => ({ ...old, name }))}
          tags={draft.tags}
          setTags={(tags) => change((old) => ({ ...old, tags }))}
        />
        <Textarea
          mt={10}
          autosize
          maxRows={8}
          label="about the study"
          placeholder="optional: why it is worth doing"
          value={draft.about ?? ''}
          onChange={({ currentTarget: { value } }) => change((old) => ({ ...old, about: value }))}
        />
        <Checkbox
          mt={10}
          label="A step that fails leaves the others be"
          checked={draft.continueOnFailure}
          onChange={({ currentTarget: { checked } }) =>
            change((old) => ({ ...old, continueOnFailure: checked }))
          }
        />
        {plan && !blocked && <p style={{ marginTop: 10 }}>{studyCostText(plan)}</p>}
      </Card>
      {error && <ProblemNotice problem={errorText(error)} />}
      <StartButton
        start={start}
        pending={pending}
        obstacles={blocked && <StudyProblems study={study} />}
      />
    </>
  );
}

function StudyProblems({ study: { draft, obstacles, change } }: { study: StudyEditor }) {
  const all = [...obstacles].filter(([, found]) => found.length > 0).sort(([a], [b]) => a - b);
  return all.map(([place, found]) => (
    <ProblemList
      key={place}
      of={found}
      at={
        place >= 0 && (
          <button
            type="button"
            onClick={() =>
              change((old) => ({ ...old, active: draft.steps[place]?.id ?? old.active }))
            }
          >
            step {place + 1}
          </button>
        )
      }
    />
  ));
}
