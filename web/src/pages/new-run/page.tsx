// Building a run: three ways to the disk first, then what and how much, the same as editable fio text beside it, and
// what would happen before anything does. Or, at the same address, a study of several.
import { Button } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Page } from '../../ui/parts';
import { BasicFields } from './basic';
import { Before } from './before';
import { Experiments } from './experiments';
import { MoreOptions } from './more';
import { OpenRun, OpenStudy } from './open';
import { PresetMenu } from './presets';
import { StartRow } from './start';
import { StudyForm } from './study';
import { JobText } from './text';
import { type RunDraft, useDraft } from './use-draft';
import { useTakeOver } from './use-study';
import { WayChoice } from './ways';
import './new-run.css';

const route = getRouteApi('/new');

/** The page. */
export function NewRunPage() {
  const { from, study } = route.useSearch();
  if (study) return from ? <OpenStudy number={Number(from)} /> : <StudyForm />;
  return from ? <OpenRun number={Number(from)} /> : <RunForm />;
}

function RunForm() {
  const draft = useDraft();
  return (
    <Page title="New run">
      <div className="row">
        <h1>New run</h1>
        {draft.from && <span className="chip">begun as #{draft.from}</span>}
        <span className="push" />
        <MakeStudy draft={draft} />
        <PresetMenu onChoose={draft.beginWith} />
      </div>
      <div className="new-run">
        <div className="stack">
          <WayChoice draft={draft} />
          <BasicFields draft={draft} />
          <MoreOptions draft={draft} />
          <Before draft={draft} title="Before it starts" />
          <StartRow draft={draft} />
        </div>
        <JobText draft={draft} />
      </div>
      <Experiments />
    </Page>
  );
}

/** Takes the job over into the study that is being built. */
function MakeStudy({ draft: { text, sampleMs } }: { draft: RunDraft }) {
  const { steps, take } = useTakeOver();
  const navigate = useNavigate();
  const go = () => {
    take(text, sampleMs);
    void navigate({ to: '/new', search: { study: '1' } });
  };
  return (
    <Button onClick={go}>{steps > 0 ? `Add it to the study (${steps})` : 'Make it a study'}</Button>
  );
}
