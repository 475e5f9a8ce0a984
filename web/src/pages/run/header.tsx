// Run number, editable name, status, summary line, actions.
import { Button } from '@mantine/core';
import type { Run } from '../../api';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { isFinal } from '../../model/fold/run-fold';
import {
  describeRun,
  isActive,
  isImported,
  runTitle,
  STATUS,
  sourceHint,
  sourceLabel,
} from '../../model/run/summary';
import { Hint } from '../../ui/hint';
import { LinkButton } from '../../ui/link-button';
import { Badge } from '../../ui/parts';
import { StudyLink } from '../../ui/run-links';
import { useIsSaved } from '../../ui/saved';
import { StatusBadge } from '../../ui/status';
import { TitleField } from '../../ui/title-field';
import { useCancelRun, useRerun, useRunField } from './actions';
import { CopyMenu, ExportMenu, MoreMenu } from './menus';
import { NotifyButton } from './notify-button';

export function RunHeader({ run, live: { fold, chartGroup } }: { run: Run; live: LiveRun }) {
  const status = useLiveValue(chartGroup, () => fold.status);
  const isSaved = useIsSaved();
  return (
    <div className="row top">
      {/* A long name wraps next to the actions, or is in a separate row above them. */}
      <div style={{ flex: '1 1 0', minWidth: 'min(420px, 100%)' }}>
        <div className="run-title">
          <h1>
            <span style={{ flex: 'none' }}>#{run.number}</span>{' '}
            {isSaved ? runTitle(run) : <NameField run={run} />}
          </h1>
          <StatusBadge status={STATUS[status]} />
          {isImported(run) && (
            <Hint explanation={sourceHint(run)}>
              <Badge>{run.source === 'fio' ? 'fio result' : sourceLabel(run)}</Badge>
            </Hint>
          )}
          {run.study && !isSaved && (
            <StudyLink n={run.study} className="chip">
              Step {run.step} of study #{run.study}
            </StudyLink>
          )}
        </div>
      </div>
      {!isSaved && <Actions run={run} isFinished={isFinal(status)} />}
      {/* In a separate row, so that its height does not depend on the width of the actions. */}
      <p className="mono mute breaks" style={{ flex: '1 0 100%', marginTop: -6 }}>
        {describeRun(run)}
      </p>
    </div>
  );
}

function Actions({ run, isFinished }: { run: Run; isFinished: boolean }) {
  return (
    <div className="row tight no-print run-actions">
      {/* First, so that it is visible on phones, where the actions scroll. */}
      {!isFinished && <CancelButton run={run} />}
      {isImported(run) ? <UseJobsButton run={run} /> : <RerunButtons run={run} />}
      <TrendButton run={run} />
      <CopyMenu run={run} />
      <ExportMenu run={run} isFinished={isFinished} />
      {!isFinished && <NotifyButton />}
      {isFinished && <MoreMenu run={run} />}
    </div>
  );
}

/** Limit in characters, as on the server. */
const MAX_NAME = 200;

function NameField({ run }: { run: Run }) {
  const { save, unsaved } = useRunField(run, 'name');
  const placeholder = runTitle({ ...run, name: '' });
  return (
    <TitleField
      label="Run name"
      value={run.name}
      maxLength={MAX_NAME}
      {...{ placeholder, unsaved, save }}
    />
  );
}

function RerunButtons({ run }: { run: Run }) {
  const { rerun, pending } = useRerun(run);
  const direct = run.direct ? 0 : 1;
  const mode = direct ? 'direct' : 'buffered';
  return (
    <>
      <Button data-key="r" data-action="Rerun" loading={pending} onClick={() => rerun({})}>
        Rerun
      </Button>
      {run.mode !== 'null' && (
        <Button disabled={pending} onClick={() => rerun({ patch: { direct } })}>
          Rerun {mode}
        </Button>
      )}
      <LinkButton to="/new" search={{ from: String(run.number) }}>
        Edit and rerun
      </LinkButton>
    </>
  );
}

/** Imports the jobs of an imported run, with notes. Imported runs cannot be rerun directly. */
const UseJobsButton = ({ run }: { run: Run }) => (
  <LinkButton to="/new" search={{ import: String(run.number) }}>
    Run these jobs here
  </LinkButton>
);

/** Link to this test's results on this machine over time. */
function TrendButton({ run }: { run: Run }) {
  const { job_fingerprint: job, machine_fingerprint: machine, number } = run;
  // Reserve space for the link while the run is active.
  if (!job || !machine)
    return isActive(run) ? (
      <Button data-disabled aria-disabled title="Trends include only completed runs">
        Trend
      </Button>
    ) : null;
  return (
    <LinkButton
      to="/trends/$job/$machine"
      params={{ job, machine }}
      search={{ run: String(number) }}
    >
      Trend
    </LinkButton>
  );
}

function CancelButton({ run }: { run: Run }) {
  const { cancel, pending } = useCancelRun(run);
  return (
    <Button
      data-key="x"
      data-action="Cancel the run"
      c="var(--bad-text)"
      loading={pending}
      onClick={cancel}
    >
      Cancel
    </Button>
  );
}
