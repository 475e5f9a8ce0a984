// One study: description, steps with published results, depth gauges, overlaid time series.
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import type { Study } from '../../api';
import { ApiProblem, problemText } from '../../api/problem';
import { studyQuery } from '../../api/queries';
import { Overlays } from '../../charts/overlays';
import { plural } from '../../model/format/numbers';
import { hasGroups, isSummarized, STUDY_STATUS } from '../../model/study/rows';
import { scalingText } from '../../model/study/scaling';
import { isValidNumber, NotLoaded } from '../../ui/not-loaded';
import { Card, Notice, Page } from '../../ui/parts';
import { StudyAnswer, useStudyComparison } from './answer';
import { DeleteButton } from './edit';
import { StepGauges } from './gauges';
import { StudyHeader } from './header';
import { Looks } from './looks';
import { ProcedureView } from './procedure';
import { Steps } from './steps';
import { Sweep } from './sweep';
import './study.css';

const route = getRouteApi('/studies/$n');

export function StudyPage() {
  const { n } = route.useParams();
  const query = useQuery({ ...studyQuery(Number(n)), enabled: isValidNumber(n) });
  const study = query.data;
  if (study) return <StudyView study={study} />;
  const isDamaged = query.error instanceof ApiProblem && query.error.code === 'damaged';
  return (
    <NotLoaded
      kind="Study"
      n={n}
      error={query.error}
      retry={query.refetch}
      actions={isDamaged && <DeleteButton study={{ number: Number(n) }} />}
    />
  );
}

function StudyView({ study }: { study: Study }) {
  const { number, name, about, missed_by_author, reason, scaled, leftover_files, steps, repeats } =
    study;
  const comparison = useStudyComparison(study);
  const scaling = scalingText(scaled);
  const labelOf = useCallback(
    (run: number) => {
      const step = steps.find((step) => step.run?.number === run);
      return repeats > 1 ? `Step ${step?.step} (${step?.repeat})` : `Step ${step?.step}`;
    },
    [steps, repeats],
  );
  return (
    <Page title={`Study #${number} ${name}`}>
      <StudyHeader study={study} />
      {reason && (
        <Notice alert tone="bad" badge={STUDY_STATUS[study.status].label} title={reason} />
      )}
      {leftover_files.length > 0 && <LeftoverFiles files={leftover_files} />}
      {missed_by_author && (
        <Notice
          tone="cache"
          badge="What the author missed"
          title={missed_by_author}
          detail={about}
        />
      )}
      {!missed_by_author && about && <Card>{about}</Card>}
      <Looks study={study} />
      {comparison && hasGroups(study) && !study.until_decided && (
        <StudyAnswer comparison={comparison} />
      )}
      {isSummarized(study) ? (
        <>
          <ProcedureView study={study} />
          <Sweep study={study} />
          <AllRuns study={study} />
        </>
      ) : (
        <>
          <Steps study={study} />
          <StepGauges study={study} />
          {comparison && <Overlays comparison={comparison} runLabel={labelOf} />}
        </>
      )}
      {scaling && <p className="mute small">{scaling}</p>}
    </Page>
  );
}

/** The table can have a thousand rows, so it is rendered only when expanded. */
function AllRuns({ study }: { study: Study }) {
  const [isOpen, setIsOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setIsOpen(currentTarget.open)}>
      <summary>All {study.steps.length} runs</summary>
      {isOpen && <Steps study={study} />}
    </details>
  );
}

function LeftoverFiles({ files }: { files: Study['leftover_files'] }) {
  return (
    <Notice
      tone="bad"
      badge="Leftover files"
      title={`${plural(files.length, 'file')} could not be removed. The server will retry when it restarts.`}
      detail={files.map(({ path, reason }) => (
        <p key={path} className="breaks">
          <span className="mono">{path}</span> {reason && problemText(reason)}
        </p>
      ))}
    />
  );
}
