// The depth gauges of the steps: those that ended, and live that of the one that runs. Where there are many, since a study
// may have hundreds, each is drawn when it is first scrolled to.
import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { Run, Study, StudyStep } from '../../api';
import { runQuery } from '../../api/queries';
import { DepthGauge } from '../../charts/gauge';
import { Legend } from '../../charts/legend';
import { useLive, useTick } from '../../charts/use-live';
import { isFinal } from '../../model/fold/run-fold';
import { shortCount, text } from '../../model/format/numbers';
import { runGauge } from '../../model/gauge/run-gauge';
import { tilesOf } from '../../model/run/tiles';
import { gaugeText } from '../../model/run/verdict';
import { lineStyle } from '../../model/series/line-style';
import { comparableRuns } from '../../model/study/rows';

/** So many are drawn at once, also for a print. */
const AT_ONCE = 16;

/** One gauge a step that began. */
export function StepGauges({ study }: { study: Study }) {
  const begun = study.steps.filter(({ run }) => run?.started_at_ms);
  const overlaid = comparableRuns(study);
  if (begun.length === 0) return null;
  return (
    <section className="step-gauges" aria-label="Depth gauges of the steps">
      {begun.map((step) => (
        <StepGauge
          key={step.step}
          step={step}
          place={overlaid.indexOf(step.run?.number ?? 0)}
          late={begun.length > AT_ONCE}
        />
      ))}
    </section>
  );
}

/** `place`: among the runs whose courses are laid over each other; -1 when it is none of them. */
function StepGauge({
  step: { step, name, run },
  place,
  late,
}: {
  step: StudyStep;
  place: number;
  late: boolean;
}) {
  const { ref, inViewport } = useInViewport<HTMLElement>();
  const [seen, setSeen] = useState(!late);
  if (inViewport && !seen) setSeen(true);
  const number = run?.number ?? 0;
  const { data } = useQuery({ ...runQuery(number), enabled: seen });
  const title = `${step} ${name}`;
  return (
    <section className="card" ref={ref}>
      <div className="row tight" style={{ flexWrap: 'nowrap', marginBottom: 6 }}>
        {place >= 0 && <Legend entries={[{ label: '', ...lineStyle(place) }]} />}
        <Link
          to="/runs/$n"
          params={{ n: String(number) }}
          className="clip"
          title={title}
          style={{ fontWeight: 600 }}
        >
          {title}
        </Link>
      </div>
      {data ? <LiveGauge key={data.number} run={data} /> : <div className="awaited" />}
    </section>
  );
}

function LiveGauge({ run }: { run: Run }) {
  const { fold, chartGroup, bucketed } = useLive(run);
  useTick(chartGroup);
  const gauge = runGauge(run, fold);
  const [iops] = tilesOf(fold);
  const device = fold.result?.report.device?.name ?? run.device ?? null;
  const isRead = bucketed || (isFinal(fold.status) && fold.lastSeq >= 0);
  if (isRead && gauge.issued.ios === 0)
    return <p className="mute">It ended before anything was issued.</p>;
  return (
    <>
      <p className="small" style={{ marginBottom: 8 }}>
        <b>{text(iops?.figure ?? shortCount(null))}</b> <span className="mute">IOPS</span>
      </p>
      <DepthGauge gauge={gauge} words={gaugeText(gauge, device) ?? 'Nothing was issued yet.'} />
    </>
  );
}
