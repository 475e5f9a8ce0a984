// Study number, name, progress, actions.
import { Button } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { cancelStudy, type Study } from '../../api';
import { studyQuery } from '../../api/queries';
import { MIN_RUNS } from '../../model/compare/metrics';
import { studySearch } from '../../model/compare/selection';
import {
  comparableRuns,
  countSteps,
  hasGroups,
  isStudyActive,
  STUDY_STATUS,
  stepsNotNeeded,
} from '../../model/study/rows';
import { LinkButton } from '../../ui/link-button';
import { notifyError } from '../../ui/notify';
import { StatusBadge } from '../../ui/status';
import { DeleteButton, NameField } from './edit';

export function StudyHeader({ study }: { study: Study }) {
  const { number, status, steps_ended, steps_total } = study;
  const notNeeded = stepsNotNeeded(study).length;
  const runs = comparableRuns(study);
  // Studies with too many steps to compare, such as sweeps, have no common baseline.
  const isComparable = study.repeats === 1 && runs.length >= MIN_RUNS && !study.procedure;
  const canCompare = hasGroups(study) || isComparable;
  const search = hasGroups(study)
    ? studySearch(number, countSteps(study))
    : { runs: runs.join(','), baseline: String(runs[0]) };
  return (
    <div className="row">
      <h1 className="breaks">
        Study #{number} <NameField study={study} />
      </h1>
      <StatusBadge status={STUDY_STATUS[status]} />
      <span className="mute">
        {steps_ended - notNeeded} of {steps_total} {study.repeats > 1 ? 'runs' : 'steps'}
      </span>
      <span className="push" />
      {canCompare && (
        <LinkButton to="/compare" search={search} data-key="c" data-action="Compare runs">
          Compare runs
        </LinkButton>
      )}
      <LinkButton to="/new" search={{ study: '1', from: String(number) }}>
        Edit and rerun
      </LinkButton>
      {isStudyActive(status) ? <CancelButton number={number} /> : <DeleteButton study={study} />}
    </div>
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
