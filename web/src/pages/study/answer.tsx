// The result of a repeated study in sentences, from the runs that have ended so far.
import { useQuery } from '@tanstack/react-query';
import type { Study } from '../../api';
import { compareQuery } from '../../api/queries';
import { parametersOf, studySearch } from '../../model/compare/selection';
import { countSteps } from '../../model/study/rows';
import { Notice } from '../../ui/parts';

export function StudyAnswer({ study }: { study: Study }) {
  const parameters = parametersOf(studySearch(study.number, countSteps(study)));
  const query = compareQuery(parameters ?? {});
  // Each ended run changes the answer.
  const { data } = useQuery({
    ...query,
    queryKey: [...query.queryKey, study.steps_ended] as unknown as typeof query.queryKey,
    enabled: parameters !== null && study.steps_ended >= countSteps(study),
    placeholderData: (old) => old,
  });
  if (!data) return null;
  const [first, ...others] = data.answers;
  return <Notice title={first} detail={others.map((answer) => <p key={answer}>{answer}</p>)} />;
}
