// Depth gauges for the steps, live for the running one. In long studies, each gauge is rendered
// when it first scrolls into view.
import { useInViewport } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { Run, Study, StudyStep } from '../../api';
import { runQuery } from '../../api/queries';
import { DepthGauge } from '../../charts/gauge';
import { Legend } from '../../charts/legend';
import { useLiveRun, useTick } from '../../charts/use-live-run';
import { isFinal } from '../../model/fold/run-fold';
import { shortCount, text } from '../../model/format/numbers';
import { gaugeText } from '../../model/gauge/gauge-text';
import { runGauge } from '../../model/gauge/run-gauge';
import { toTiles } from '../../model/run/tiles';
import { lineStyle } from '../../model/series/line-style';
import { comparableRuns, hasGroups } from '../../model/study/rows';
import { RunLink } from '../../ui/run-links';
import { useIsSaved } from '../../ui/saved';

/** Number of gauges that are rendered immediately, so that they are also printed. */
const EAGER_LIMIT = 16;

export function StepGauges({ study }: { study: Study }) {
  // A step's repeats have similar gauges, so only the first repeat's gauge is shown.
  const started = study.steps
    .filter(({ run, repeat }) => run?.started_at_ms && repeat === 1)
    .toSorted((a, b) => a.step - b.step);
  const overlaid = comparableRuns(study);
  // Repeated steps are overlaid as one group per step.
  const lineOf = ({ step, run }: StudyStep) =>
    hasGroups(study) ? step - 1 : overlaid.indexOf(run?.number ?? 0);
  if (started.length === 0) return null;
  return (
    <section className="step-gauges" aria-label="Depth gauges by step">
      {started.map((step) => (
        <StepGauge
          key={step.step}
          step={step}
          lineIndex={lineOf(step)}
          lazy={started.length > EAGER_LIMIT}
        />
      ))}
    </section>
  );
}

interface StepGaugeProps {
  step: StudyStep;
  /** Index of the line in the overlaid charts; -1 if there is none. */
  lineIndex: number;
  lazy: boolean;
}

function StepGauge({ step: { step, name, run }, lineIndex, lazy }: StepGaugeProps) {
  const isSaved = useIsSaved();
  const { ref, inViewport } = useInViewport<HTMLElement>();
  const [visible, setVisible] = useState(!lazy);
  if (inViewport && !visible) setVisible(true);
  const number = run?.number ?? 0;
  const { data } = useQuery({ ...runQuery(number), enabled: visible && !isSaved });
  return (
    <section className="card" ref={ref}>
      <div className="gauge-title">
        {lineIndex >= 0 && <Legend entries={[{ label: '', ...lineStyle(lineIndex) }]} />}
        <RunLink n={number}>{`${step} · ${name}`}</RunLink>
      </div>
      {data ? <LiveGauge key={data.number} run={data} /> : <div className="placeholder" />}
    </section>
  );
}

function LiveGauge({ run }: { run: Run }) {
  const { fold, chartGroup, bucketed } = useLiveRun(run);
  useTick(chartGroup);
  const gauge = runGauge(fold);
  const [iops] = toTiles(fold);
  const device = fold.result?.report.device?.name ?? run.device ?? null;
  const isComplete = bucketed || (isFinal(fold.status) && fold.lastSeq >= 0);
  if (!gauge) return <p className="mute">Depth gauge not recorded.</p>;
  if (isComplete && gauge.issued.ios === 0)
    return <p className="mute">The run ended before issuing any I/O.</p>;
  return (
    <>
      <p className="small" style={{ marginBottom: 8 }}>
        <b>{text(iops?.figure ?? shortCount(null))}</b> <span className="mute">IOPS</span>
      </p>
      <DepthGauge gauge={gauge} description={gaugeText(gauge, device) ?? 'No I/O issued yet.'} />
    </>
  );
}
