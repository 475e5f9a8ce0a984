// The depth gauges of the steps in a row: those that ended, and live that of the one that runs.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { Run, Study, StudyStep } from '../../api';
import { runQuery } from '../../api/queries';
import { DepthGauge } from '../../charts/gauge';
import { Legend } from '../../charts/legend';
import { useLive, useTick } from '../../charts/use-live';
import { MOST, strokeOf } from '../../model/compare';
import { shortCount, text } from '../../model/format';
import { gaugeNow } from '../../model/gauge-now';
import { STATUS } from '../../model/summary';
import { tilesOf } from '../../model/tiles';
import { gaugeInWords } from '../../model/verdict';

/** One gauge a step that began; the first eight. */
export function StepGauges({ study }: { study: Study }) {
  const begun = study.steps.filter(({ run }) => run && STATUS[run.status].kind !== 'waits').slice(0, MOST);
  if (begun.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={`gauges ${begun.length > 4 ? 'many' : ''}`} aria-label="Depth gauges of the steps" tabIndex={0}>
      {begun.map((step, place) => (
        <StepGauge key={step.step} step={step} place={place} />
      ))}
    </section>
  );
}

function StepGauge({ step: { step, name, run }, place }: { step: StudyStep; place: number }) {
  const number = run?.number ?? 0;
  const { data } = useQuery(runQuery(number));
  const title = `${step} ${name}`;
  return (
    <section className="card">
      <div className="row tight" style={{ flexWrap: 'nowrap', marginBottom: 6 }}>
        <Legend entries={[{ label: '', ...strokeOf(place) }]} />
        <Link to="/runs/$n" params={{ n: String(number) }} className="clip" title={title} style={{ fontWeight: 600 }}>
          {title}
        </Link>
      </div>
      {data ? <LiveGauge key={data.number} run={data} /> : <div style={{ minHeight: 420 }} />}
    </section>
  );
}

function LiveGauge({ run }: { run: Run }) {
  const { fold, stage } = useLive(run);
  useTick(stage);
  const gauge = gaugeNow(run, fold);
  const [iops] = tilesOf(fold);
  const device = fold.outcome?.report.device?.name ?? run.device ?? null;
  return (
    <>
      <p className="small" style={{ marginBottom: 8 }}>
        <b>{text(iops?.figure ?? shortCount(null))}</b> <span className="mute">IOPS</span>
      </p>
      <DepthGauge gauge={gauge} words={gaugeInWords(gauge, device) ?? 'Nothing was issued yet.'} />
    </>
  );
}
