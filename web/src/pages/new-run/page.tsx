// Building a run: three ways to the disk first, then what and how much, the same as editable fio text beside it, and
// what would happen before anything does. Or, at the same address, a study of several.
import { Button } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Page } from '../../ui/parts';
import { BasicFields } from './basic-fields';
import { PlanPreview } from './plan-preview';
import { Experiments } from './experiments';
import { AllOptions } from './all-options';
import { LoadRunDraft, LoadStudyDraft } from './load-draft';
import { PresetMenu } from './presets';
import { StartRun } from './start';
import { StudyForm } from './study-form';
import { JobEditor } from './job-editor';
import { type RunDraft, useRunDraft } from './use-draft';
import { useAddToStudy } from './use-study';
import { IoModeCard } from './io-mode';
import './new-run.css';

const route = getRouteApi('/new');

/** The page. */
export function NewRunPage() {
  const { from, study } = route.useSearch();
  if (study) return from ? <LoadStudyDraft number={Number(from)} /> : <StudyForm />;
  return from ? <LoadRunDraft number={Number(from)} /> : <RunForm />;
}

function RunForm() {
  const draft = useRunDraft();
  return (
    <Page title="New run">
      <div className="row">
        <h1>New run</h1>
        {draft.from && <span className="chip">begun as #{draft.from}</span>}
        <span className="push" />
        <MakeStudy draft={draft} />
        <PresetMenu onChoose={draft.loadText} />
      </div>
      <div className="new-run">
        <div className="stack">
          <IoModeCard draft={draft} />
          <BasicFields draft={draft} />
          <AllOptions draft={draft} />
          <PlanPreview draft={draft} title="Before it starts" />
          <StartRun draft={draft} />
        </div>
        <JobEditor draft={draft} />
      </div>
      <Experiments />
    </Page>
  );
}

/** Takes the job over into the study that is being built. */
function MakeStudy({ draft: { text, sampleMs } }: { draft: RunDraft }) {
  const { steps, take } = useAddToStudy();
  const navigate = useNavigate();
  const go = () => {
    take(text, sampleMs);
    void navigate({ to: '/new', search: { study: '1' } });
  };
  return (
    <Button onClick={go}>{steps > 0 ? `Add it to the study (${steps})` : 'Make it a study'}</Button>
  );
}
