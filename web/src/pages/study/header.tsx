// Study number, name, progress, actions.
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { cancelStudy, type Study } from '../../api';
import { studyQuery } from '../../api/queries';
import { MIN_RUNS } from '../../model/compare/run-numbers';
import { studySearch } from '../../model/compare/selection';
import {
  comparableRuns,
  countSteps,
  hasGroups,
  isStudyActive,
  STUDY_STATUS,
} from '../../model/study/rows';
import { LinkButton } from '../../ui/link-button';
import { MenuButton } from '../../ui/menu-button';
import { notifyError } from '../../ui/notify';
import { useIsSaved } from '../../ui/saved';
import { StatusBadge } from '../../ui/status';
import { DeleteButton, NameField } from './edit';

export function StudyHeader({ study }: { study: Study }) {
  const { number, name, status, steps_ended, steps_total } = study;
  const isSaved = useIsSaved();
  return (
    <div className="row">
      <h1 className="breaks">
        <span style={{ flex: 'none' }}>Study #{number}</span>{' '}
        {isSaved ? name : <NameField study={study} />}
      </h1>
      <StatusBadge status={STUDY_STATUS[status]} />
      <span className="mute">
        {steps_ended} of {steps_total} runs
      </span>
      {!isSaved && <Actions study={study} />}
    </div>
  );
}

function Actions({ study }: { study: Study }) {
  const { number, status } = study;
  const runs = comparableRuns(study);
  // Some studies, such as sweeps, have too many steps to compare with one baseline.
  const isComparable = study.repeats === 1 && runs.length >= MIN_RUNS && !study.procedure;
  const canCompare = hasGroups(study) || isComparable;
  const search = hasGroups(study)
    ? studySearch(number, countSteps(study))
    : { runs: runs.join(','), baseline: String(runs[0]) };
  return (
    <div className="row push">
      {canCompare && (
        <LinkButton to="/compare" search={search} data-key="c" data-action="Compare runs">
          Compare runs
        </LinkButton>
      )}
      <ExportMenu study={study} />
      <LinkButton to="/new" search={{ study: '1', from: String(number) }}>
        Edit and rerun
      </LinkButton>
      {isStudyActive(status) ? <CancelButton number={number} /> : <DeleteButton study={study} />}
    </div>
  );
}

function ExportMenu({ study: { number, status } }: { study: Study }) {
  const url = `/api/v1/studies/${number}`;
  return (
    <MenuButton
      target={<Button>Export ▾</Button>}
      entries={[
        {
          type: 'file',
          label: `HTML report (${isStudyActive(status) ? 'after the study ends' : 'opens offline'})`,
          href: `${url}/study.html`,
          download: `study-${number}.html`,
          disabled: isStudyActive(status),
        },
        { type: 'file', label: 'JSON', href: url },
        { type: 'action', label: 'Print', onSelect: () => window.print() },
      ]}
    />
  );
}

function CancelButton({ number }: { number: number }) {
  const queryClient = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => cancelStudy({ path: { n: number } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: studyQuery(number).queryKey }),
    onError: notifyError,
  });
  return (
    <Button
      data-key="x"
      data-action="Cancel the study"
      c="var(--bad-text)"
      loading={isPending}
      onClick={() => mutate()}
    >
      Cancel
    </Button>
  );
}
