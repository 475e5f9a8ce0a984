// Form for a run or, with `?study=1`, for a study: I/O path, workload, options, plan and start
// button. The job file is next to the form.
import { Button } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { fioJobFile } from '../../api/job-file';
import { notifyError } from '../../ui/notify';
import { Page } from '../../ui/parts';
import { AllOptions } from './all-options';
import { BasicFields } from './basic-fields';
import { Experiments } from './experiments';
import { ImportButton, useImportState } from './import-button';
import { IoModeCard } from './io-mode';
import { JobEditor } from './job-editor';
import { LoadRunDraft, LoadStudyDraft } from './load-draft';
import { Overwrites } from './overwrites';
import { PlanPreview } from './plan-preview';
import { PresetMenu } from './presets';
import { StartRun } from './start';
import { StudyForm } from './study-form';
import { type RunDraft, useRunDraft } from './use-run-draft';
import { useAddToStudy } from './use-study';
import '../../ui/fields.css';
import './new-run.css';

const route = getRouteApi('/new');

export function NewRunPage() {
  const { from, study } = route.useSearch();
  if (study) return from ? <LoadStudyDraft number={Number(from)} /> : <StudyForm />;
  return from ? <LoadRunDraft number={Number(from)} /> : <RunForm />;
}

function RunForm() {
  const draft = useRunDraft();
  const { form, plan, isPlanCurrent, planError, problems, request } = draft;
  const { overwrites, setTyped } = draft.confirmations;
  const { name, setName, tags, setTags } = draft;
  const importing = useImportState();
  useImportOfRun(importing.open);
  return (
    <Page title="New run">
      <div className="row">
        <h1>New run</h1>
        {draft.from && <span className="chip">Based on #{draft.from}</span>}
        <span className="push" />
        <AddToStudyButton draft={draft} />
        <ImportButton state={importing} onUse={draft.loadText} />
        <PresetMenu onChoose={draft.loadText} />
      </div>
      <div className="new-run">
        <div className="stack">
          <IoModeCard form={form} />
          <BasicFields form={form} />
          <AllOptions form={form} />
          <PlanPreview {...{ plan, isPlanCurrent, planError }} title="Plan" />
          <Overwrites overwrites={overwrites} setTyped={setTyped} />
          <StartRun {...{ plan, problems, request, name, setName, tags, setTags }} />
        </div>
        <JobEditor draft={draft} onPasteCommand={importing.open} />
      </div>
      <Experiments />
    </Page>
  );
}

/** With `?import=12`, the import dialog opens with the jobs of imported run 12. */
function useImportOfRun(open: (text: string) => void) {
  const { import: number } = route.useSearch();
  const navigate = useNavigate();
  useEffect(() => {
    if (!number) return;
    void navigate({ to: '/new', replace: true });
    fioJobFile(Number(number)).then(open, notifyError);
  }, [number, navigate, open]);
}

function AddToStudyButton({ draft: { text, sampleMs } }: { draft: RunDraft }) {
  const { stepCount, addToStudy } = useAddToStudy();
  const navigate = useNavigate();
  const add = () => {
    addToStudy(text, sampleMs);
    void navigate({ to: '/new', search: { study: '1' } });
  };
  return (
    <Button onClick={add}>
      {stepCount > 0 ? `Add to study (${stepCount})` : 'Convert to study'}
    </Button>
  );
}
