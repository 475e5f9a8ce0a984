// What a reader of the result must know, each with its remedy.
import type { Run, Severity } from '../../api';
import { type Live, useLiveValue } from '../../charts/use-live';
import { Badge, Card } from '../../ui/parts';
import { RemedyButton } from './remedy';

const SEVERITY: Record<Severity, { word: string; tone: 'bad' | 'cache' | null }> = {
  serious: { word: 'serious', tone: 'bad' },
  warning: { word: 'warning', tone: 'cache' },
  note: { word: 'note', tone: null },
};
const GRAVEST_FIRST: Severity[] = ['serious', 'warning', 'note'];

/** The findings of the report; nothing before there is one. */
export function FindingList({ run, live: { fold, chartGroup } }: { run: Run; live: Live }) {
  const outcome = useLiveValue(chartGroup, () => fold.result);
  const findings = (outcome?.findings ?? []).toSorted(
    (a, b) => GRAVEST_FIRST.indexOf(a.severity) - GRAVEST_FIRST.indexOf(b.severity),
  );
  if (findings.length === 0) return null;
  return (
    <Card title="What to know about this run">
      {findings.map((finding) => (
        <div key={finding.code + finding.sentence} className="finding">
          <Badge tone={SEVERITY[finding.severity].tone} title={finding.code}>
            {SEVERITY[finding.severity].word}
          </Badge>
          <div>
            <p>{finding.sentence}</p>
            {finding.remedy && <p className="mute">{finding.remedy}</p>}
          </div>
          <RemedyButton finding={finding} run={run} />
        </div>
      ))}
    </Card>
  );
}
