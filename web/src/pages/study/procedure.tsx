// Results for a study whose runs follow a procedure.
import { useQuery } from '@tanstack/react-query';
import type { Study } from '../../api';
import { procedureQuery } from '../../api/queries';
import { isStudyActive } from '../../model/study/rows';
import { ProblemNotice } from '../../ui/problem';
import { useIsSaved } from '../../ui/saved';
import { LoadCurve } from './load-curve';
import { Snia } from './snia';

/** Renders nothing if the study has no procedure. */
export function ProcedureView({ study }: { study: Study }) {
  const { number, procedure, status, steps_ended } = study;
  const isSaved = useIsSaved();
  const isActive = !isSaved && isStudyActive(status);
  const { data, error } = useQuery({
    ...procedureQuery(number, isActive ? steps_ended : -1),
    enabled: procedure != null && !isSaved,
  });
  if (!procedure) return null;
  if (error) return <ProblemNotice error={error} />;
  if (!data) return null;
  return data.kind === 'snia' ? (
    <Snia results={data} />
  ) : (
    <LoadCurve results={data} study={study} />
  );
}
