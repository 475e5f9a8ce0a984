// The first sentence under the title: what the run means, why there is no result, or what it waits for, with the one
// button that matters.
import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Failure, Finding, Run, Verdicts } from '../../api';
import { type Live, useLiveValue } from '../../charts/use-live';
import { toneOf } from '../../charts/verdict-badge';
import { isFinal, type RunFold } from '../../model/fold/run-fold';
import { problemText } from '../../model/format/problem-text';
import { runGauge } from '../../model/gauge/run-gauge';
import { STATUS } from '../../model/run/summary';
import { gaugeText, topRemedy, verdictLines } from '../../model/run/verdict';
import { Notice } from '../../ui/parts';
import { CompareWithDirect, DirectRun } from './direct-run';
import { CountersCard } from './counters';
import { RemedyButton } from './remedy';
import { useDirectRun } from './use-direct-run';

/** What there is to say first. */
export function RunNotices({ run, live: { fold, chartGroup, connection } }: { run: Run; live: Live }) {
  const status = useLiveValue(chartGroup, () => fold.status);
  const outcome = useLiveValue(chartGroup, () => fold.result);
  const verdicts = outcome?.verdict ?? run.verdict;
  const lines = verdictLines(verdicts);
  return (
    <>
      {connection === 'lost' && !isFinal(status) && (
        <Notice
          alert
          tone="bad"
          badge="connection lost"
          say="The run goes on; this page is trying to listen again."
          more="What is missed meanwhile is filled in when the server answers."
        />
      )}
      {status === 'queued' && <QueuedNotice run={run} />}
      {STATUS[status].kind === 'failure' && <FailureNotice fold={fold} run={run} />}
      {lines.length > 0 && (
        <VerdictNotices
          verdicts={verdicts}
          run={run}
          findings={outcome?.findings ?? run.findings}
        />
      )}
      {lines.length === 0 && outcome && <GaugeNotice run={run} fold={fold} />}
    </>
  );
}

function QueuedNotice({ run }: { run: Run }) {
  const place = run.queue;
  return (
    <Notice
      badge="queued"
      say={place ? `Place ${place.position} in the queue: ${place.reason}.` : 'Waits for its turn.'}
      more="It starts by itself; nothing is lost when this page is closed."
    />
  );
}

function FailureNotice({ fold, run }: { fold: RunFold; run: Run }) {
  const failure: Failure | null = fold.failure ?? run.failure ?? null;
  const reason = fold.reason ?? run.reason;
  const problems = failure?.problems ?? [];
  const [first, ...others] = problems;
  const more = [
    ...(first && reason && reason !== first.detail ? [reason] : []),
    ...(first ? [first.remedy] : []),
    ...others.map(problemText),
  ];
  return (
    <Notice
      alert
      tone="bad"
      badge={STATUS[fold.status].label}
      say={first?.detail ?? reason ?? 'The run ended early.'}
      more={[...more, fold.result ? 'The figures cover what was measured until then.' : '']
        .filter(Boolean)
        .map((line) => (
          <p key={line} className="breaks">
            {line}
          </p>
        ))}
    />
  );
}

interface VerdictProps {
  verdicts: Verdicts | null | undefined;
  run: Run;
  findings: readonly Finding[];
}

/** The verdicts, and behind "Show me" what they rest on. */
function VerdictNotices({ verdicts, run, findings }: VerdictProps) {
  const [shown, setShown] = useState(false);
  const itself = useDirectRun(run, verdicts);
  const lines = verdictLines(verdicts);
  return (
    <>
      {lines.map((line, place) => (
        <Notice
          key={line.direction}
          tone={toneOf(line.layer)}
          badge={lines.length > 1 ? `${line.direction}s: ${line.label}` : line.label}
          say={line.sentence}
          more={
            <>
              {line.shares && <span className="small">{line.shares}</span>}
              {place === 0 && itself && <DirectRun itself={itself} />}
            </>
          }
          actions={
            place === 0 && (
              <>
                <Button
                  data-key="e"
                  data-does="show the evidence"
                  aria-expanded={shown}
                  onClick={() => setShown((before) => !before)}
                >
                  {shown ? 'Hide' : 'Show me'}
                </Button>
                {itself && <CompareWithDirect run={run} itself={itself} />}
                {itself === null && <RemedyButton finding={topRemedy(findings)} run={run} filled />}
              </>
            )
          }
        />
      ))}
      {shown && lines.map((line) => <CountersCard key={line.direction} line={line} />)}
    </>
  );
}

/** No verdict came with the report: the gauge is put into words. */
function GaugeNotice({ run, fold }: { run: Run; fold: RunFold }) {
  const gauge = runGauge(run, fold);
  const words = gaugeText(gauge, fold.result?.report.device?.name ?? null);
  return words && <Notice tone={toneOf(gauge.servedBy)} say={words} />;
}
