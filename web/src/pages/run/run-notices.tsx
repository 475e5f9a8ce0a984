// Notices below the title: connection and failure, or the verdict with its main action.
import { Button } from '@mantine/core';
import { useState } from 'react';
import type { Finding, Report, Run, Verdicts } from '../../api';
import { problemText } from '../../api/problem';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { toneOf } from '../../charts/verdict-badge';
import { isFinal, type RunFold } from '../../model/fold/run-fold';
import { gaugeText } from '../../model/gauge/gauge-text';
import { runGauge } from '../../model/gauge/run-gauge';
import { isWaiting } from '../../model/run/queue';
import { DIRECTION_LABELS, STATUS } from '../../model/run/summary';
import { areColdReads, topRemedy, verdictLines } from '../../model/run/verdict';
import { Notice } from '../../ui/parts';
import { CountersCard } from './counters';
import { CompareWithDirectLink, DirectRun } from './direct-run';
import { ProvisionalVerdict } from './provisional-verdict';
import { RemedyButton, WarmRerunButton } from './remedy';
import { useDirectRun } from './use-direct-run';

interface RunNoticesProps {
  run: Run;
  live: LiveRun;
}

export function RunNotices({ run, live }: RunNoticesProps) {
  const { fold, chartGroup, connection } = live;
  const status = useLiveValue(chartGroup, () => fold.status);
  const result = useLiveValue(chartGroup, () => fold.result);
  const verdicts = result?.verdict ?? run.verdict;
  const hasVerdict = verdictLines(verdicts).length > 0;
  return (
    <>
      {connection === 'lost' && !isFinal(status) && (
        <Notice
          alert
          tone="bad"
          badge="Connection lost"
          title="Reconnecting…"
          detail="The run continues unless the server stopped. Its current state is shown after reconnecting."
        />
      )}
      {STATUS[status].kind === 'failure' && <FailureNotice fold={fold} run={run} />}
      {!result && !isFinal(status) && !isWaiting({ ...run, status }) && (
        <ProvisionalVerdict run={run} live={live} />
      )}
      {hasVerdict && (
        <VerdictNotices verdicts={verdicts} run={run} findings={result?.findings ?? run.findings} />
      )}
      {!hasVerdict && result && <GaugeNotice fold={fold} />}
    </>
  );
}

/** Replaces all results of a damaged run, because its events contain the same damaged data. */
export function DamagedNotice() {
  return (
    <Notice
      alert
      tone="bad"
      badge="Damaged"
      title="The stored result is damaged."
      detail="Checksum mismatch. Check the disk that holds the database, then restore the database from a backup or rerun the test."
    />
  );
}

/**
 * Returns true if the measurement is incomplete. A run whose storage stalled can fail even though
 * its measurement is complete.
 */
const isPartial = ({ ended_by }: Report) =>
  ended_by != null && ['signal', 'error', 'violated_limit'].includes(ended_by);

function FailureNotice({ fold, run }: { fold: RunFold; run: Run }) {
  const failure = fold.failure ?? run.failure;
  const reason = fold.reason ?? run.reason;
  const [first, ...others] = failure?.problems ?? [];
  const lines = [
    first && reason !== first.detail && reason,
    first?.remedy,
    ...others.map(problemText),
    // For a cancelled run, the reason already contains this sentence.
    fold.status !== 'cancelled' &&
      fold.result &&
      isPartial(fold.result.report) &&
      'Results cover only the time up to that point.',
  ];
  return (
    <Notice
      alert
      tone="bad"
      badge={STATUS[fold.status].label}
      title={first?.detail ?? reason ?? 'The run ended early.'}
      detail={lines.map(
        (line) =>
          line && (
            <p key={line} className="breaks">
              {line}
            </p>
          ),
      )}
    />
  );
}

interface VerdictNoticesProps {
  verdicts: Verdicts | null | undefined;
  run: Run;
  findings: readonly Finding[];
}

/** One notice per direction. The first notice has the buttons. */
function VerdictNotices({ verdicts, run, findings }: VerdictNoticesProps) {
  const [isOpen, setIsOpen] = useState(false);
  const direct = useDirectRun(run, verdicts);
  const lines = verdictLines(verdicts);
  const remedy = topRemedy(findings);
  const isCold = areColdReads(run, verdicts);
  const actions = (
    <>
      <Button
        data-key="e"
        data-action="Show or hide counters"
        aria-expanded={isOpen}
        onClick={() => setIsOpen((old) => !old)}
      >
        {isOpen ? 'Hide counters' : 'Show counters'}
      </Button>
      {direct && <CompareWithDirectLink run={run} direct={direct} />}
      {isCold && <WarmRerunButton run={run} filled={!remedy} />}
      {direct === null && <RemedyButton finding={remedy} run={run} filled />}
    </>
  );
  return (
    <>
      {lines.map((line, index) => (
        <Notice
          key={line.direction}
          tone={toneOf(line.layer)}
          badge={
            lines.length > 1 ? `${DIRECTION_LABELS[line.direction]}: ${line.label}` : line.label
          }
          title={line.sentence}
          detail={
            <>
              {line.detail && <span className="small">{line.detail}</span>}
              {isCold && (
                <p>
                  Data that was not in memory came from the disk. Rerun with a warm cache to measure
                  memory.
                </p>
              )}
              {index === 0 && direct && <DirectRun direct={direct} />}
            </>
          }
          actions={index === 0 && actions}
        />
      ))}
      {isOpen && lines.map((line) => <CountersCard key={line.direction} line={line} />)}
    </>
  );
}

/** Shown for reports without a verdict. */
function GaugeNotice({ fold }: { fold: RunFold }) {
  const gauge = runGauge(fold);
  const title = gauge && gaugeText(gauge, fold.result?.report.device?.name ?? null);
  return title && <Notice tone={toneOf(gauge.served_by ?? null)} title={title} />;
}
