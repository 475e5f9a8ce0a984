// What a reader of the result must know, each with its remedy.
import { Button } from '@mantine/core';
import type { Run, Severity } from '../../api';
import { remedyOf } from '../../model/remedies';
import { Badge, Card } from '../../ui/parts';
import { useRerun } from './actions';
import { type Live, useFromStage } from './use-live';

const SEVERITY: Record<Severity, { word: string; tone: 'bad' | 'cache' | null }> = {
  serious: { word: 'serious', tone: 'bad' },
  warning: { word: 'warning', tone: 'cache' },
  note: { word: 'note', tone: null },
};
const GRAVEST_FIRST: Severity[] = ['serious', 'warning', 'note'];

/** The findings of the report; nothing before there is one. */
export function FindingList({ run, live: { fold, stage } }: { run: Run; live: Live }) {
  const outcome = useFromStage(stage, () => fold.outcome);
  const findings = (outcome?.findings ?? []).toSorted(
    (a, b) => GRAVEST_FIRST.indexOf(a.severity) - GRAVEST_FIRST.indexOf(b.severity),
  );
  if (findings.length === 0) return null;
  return (
    <Card title="What to know about this run">
      {findings.map(({ code, severity, sentence, remedy }) => (
        <div key={code + sentence} className="finding">
          <Badge tone={SEVERITY[severity].tone} title={code}>
            {SEVERITY[severity].word}
          </Badge>
          <div>
            <p>{sentence}</p>
            {remedy && <p className="mute">{remedy}</p>}
          </div>
          <RemedyButton code={code} run={run} />
        </div>
      ))}
    </Card>
  );
}

function RemedyButton({ code, run }: { code: string; run: Run }) {
  const { rerun, pending } = useRerun(run);
  const remedy = remedyOf(code, run);
  if (!remedy) return null;
  return (
    <Button className="push no-print" loading={pending} onClick={() => rerun({ patch: remedy.patch })} style={{ flex: 'none' }}>
      {remedy.label}
    </Button>
  );
}
