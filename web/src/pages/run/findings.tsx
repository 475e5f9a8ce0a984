// The report's findings, most severe first. Each is shown with its remedy.
import type { Run, Severity } from '../../api';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { Command } from '../../ui/command';
import { Badge, Card, type Tone } from '../../ui/parts';
import { RemedyButton } from './remedy';

const SEVERITIES: Record<Severity, { label: string; tone: Tone }> = {
  serious: { label: 'Serious', tone: 'bad' },
  warning: { label: 'Warning', tone: 'cache' },
  note: { label: 'Note', tone: null },
};
const ORDER = Object.keys(SEVERITIES);

export function FindingList({ run, live: { fold, chartGroup } }: { run: Run; live: LiveRun }) {
  const result = useLiveValue(chartGroup, () => fold.result);
  const findings = (result?.findings ?? []).toSorted(
    (a, b) => ORDER.indexOf(a.severity) - ORDER.indexOf(b.severity),
  );
  if (findings.length === 0) return null;
  return (
    <Card title="Findings">
      {findings.map((finding) => (
        <div key={finding.code + finding.sentence} className="finding">
          <Badge tone={SEVERITIES[finding.severity].tone} title={finding.code}>
            {SEVERITIES[finding.severity].label}
          </Badge>
          <div>
            <p>{finding.sentence}</p>
            {finding.remedy && <p className="mute">{finding.remedy}</p>}
            {finding.command && <Command command={finding.command} />}
          </div>
          <RemedyButton finding={finding} run={run} />
        </div>
      ))}
    </Card>
  );
}
