// The files and devices before and after: what of each lay in the page cache, where, and what its extents are.
import type { Run, TargetReport } from '../../api';
import { ResidencyMap } from '../../charts/residency-map';
import { type Live, useLiveValue } from '../../charts/use-live';
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

/** Targets that are shown at once; the others are folded. */
const SHOWN = 4;

/** All targets of a finished run. */
export function Targets({ live: { fold, chartGroup } }: { run: Run; live: Live }) {
  const targets = useLiveValue(chartGroup, () => fold.result?.report.targets) ?? [];
  const [shown, folded] = [targets.slice(0, SHOWN), targets.slice(SHOWN)];
  return (
    <>
      {shown.map((target) => (
        <TargetCard key={target.path} target={target} />
      ))}
      {folded.length > 0 && (
        <details className="stack">
          <summary>{folded.length} more targets</summary>
          {folded.map((target) => (
            <TargetCard key={target.path} target={target} />
          ))}
        </details>
      )}
    </>
  );
}

function TargetCard({ target }: { target: TargetReport }) {
  const { path, kind, map } = target;
  const name = path.split('/').at(-1) ?? path;
  const missing = Object.entries(target.absent);
  return (
    <Card
      title={`${kind === 'device' ? 'Device' : 'File'} before and after`}
      aside={<Path path={path} />}
    >
      <div className="stack">
        {map.start && (
          <ResidencyMap label="at the start" cells={map.start} cell_bytes={map.cell_bytes} />
        )}
        {map.end && <ResidencyMap label="at the end" cells={map.end} cell_bytes={map.cell_bytes} />}
        <div className="two">
          <Numbers
            label={`Page cache of ${name}`}
            corner="page cache"
            heads={['found', 'at the start', 'at the end']}
            rows={residencyRows(target)}
            command={kind === 'file' ? `fincore --bytes ${shellQuote(path)}` : null}
          />
          <Numbers
            label={`Extents of ${name}`}
            corner="extents"
            heads={['before', 'after']}
            rows={extentRows(target)}
            command={`filefrag -v ${shellQuote(path)}`}
          />
        </div>
        <Facts facts={targetFacts(target)} />
        {missing.map(([what, reason]) => (
          <p key={what} className="mute small">
            Not known: {what.replaceAll('_', ' ')}: {reason}
          </p>
        ))}
      </div>
    </Card>
  );
}

const Path = ({ path }: { path: string }) => (
  <span className="mono small clip" title={path}>
    {path}
  </span>
);

interface NumbersProps {
  label: string;
  corner: string;
  heads: string[];
  rows: NumberRow[];
  command: string | null;
}

function Numbers({ rows, command, ...table }: NumbersProps) {
  if (rows.length === 0) return null;
  return (
    <div>
      <NamedRows {...table} rows={rows.map(({ name, cells }) => ({ key: name, name, cells }))} />
      {command && <Command command={command} />}
    </div>
  );
}
