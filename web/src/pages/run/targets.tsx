// Targets before and after the run: cached pages, extents, and properties.
import type { TargetReport } from '../../api';
import { ResidencyMap } from '../../charts/residency-map';
import { type LiveRun, useLiveValue } from '../../charts/use-live-run';
import { plural } from '../../model/format/numbers';
import {
  extentRows,
  type NumberRow,
  residencyRows,
  shellQuote,
  targetFacts,
} from '../../model/run/targets';
import { Command } from '../../ui/command';
import { Facts } from '../../ui/facts';
import { NamedRows } from '../../ui/named-rows';
import { Card } from '../../ui/parts';

/** Number of targets to show. Any others are in a collapsed section. */
const MAX_OPEN = 4;

export function Targets({ live: { fold, chartGroup } }: { live: LiveRun }) {
  const targets = useLiveValue(chartGroup, () => fold.result?.report.targets) ?? [];
  const cards = targets.map((target) => <TargetCard key={target.path} target={target} />);
  return (
    <>
      {cards.slice(0, MAX_OPEN)}
      {cards.length > MAX_OPEN && (
        <details className="stack">
          <summary>{plural(cards.length - MAX_OPEN, 'more target')}</summary>
          {cards.slice(MAX_OPEN)}
        </details>
      )}
    </>
  );
}

function TargetCard({ target }: { target: TargetReport }) {
  const { path, kind, map } = target;
  const name = path.split('/').at(-1) ?? path;
  return (
    <Card
      title={`${kind === 'device' ? 'Device' : 'File'} before and after`}
      aside={
        <span className="mono small clip" title={path}>
          {path}
        </span>
      }
    >
      <div className="stack">
        {map.start && <ResidencyMap label="Start" cells={map.start} cell_bytes={map.cell_bytes} />}
        {map.end && <ResidencyMap label="End" cells={map.end} cell_bytes={map.cell_bytes} />}
        <div className="two">
          <CountTable
            label={`Page cache of ${name}`}
            corner="Page cache"
            headers={['Before the run', 'Start', 'End']}
            rows={residencyRows(target)}
            command={kind === 'file' ? `fincore --bytes ${shellQuote(path)}` : null}
          />
          <CountTable
            label={`Extents of ${name}`}
            corner="Extents"
            headers={['Before', 'After']}
            rows={extentRows(target)}
            command={`filefrag -v ${shellQuote(path)}`}
          />
        </div>
        <Facts facts={targetFacts(target)} />
        {Object.entries(target.absent).map(([field, reason]) => (
          <p key={field} className="mute small">
            Not available: {field.replaceAll('_', ' ')} ({reason})
          </p>
        ))}
      </div>
    </Card>
  );
}

interface CountTableProps {
  label: string;
  corner: string;
  headers: string[];
  rows: NumberRow[];
  /** The shell command that shows the same counts. */
  command: string | null;
}

function CountTable({ rows, command, ...table }: CountTableProps) {
  if (rows.length === 0) return null;
  return (
    <div>
      <NamedRows {...table} rows={rows} />
      {command && <Command command={command} />}
    </div>
  );
}
