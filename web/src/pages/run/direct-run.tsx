// Link from a run that was served from memory to a run of the same job with direct I/O.
import type { ComparedRun, Run } from '../../api';
import { count } from '../../model/format/numbers';
import { LinkButton } from '../../ui/link-button';
import { RunLink } from '../../ui/run-links';

export function DirectRun({ direct: { run } }: { direct: ComparedRun }) {
  return (
    <p className="direct-run">
      Same job with direct I/O: <b>{count(Math.round(run.iops ?? 0))} IOPS</b> (
      <RunLink n={run.number}>run #{run.number}</RunLink>)
    </p>
  );
}

/** The direct run is the baseline of the comparison. */
export function CompareWithDirectLink({ run, direct }: { run: Run; direct: ComparedRun }) {
  const baseline = String(direct.run.number);
  return (
    <LinkButton
      variant="filled"
      to="/compare"
      search={{ runs: `${baseline},${run.number}`, baseline }}
    >
      Compare with direct I/O
    </LinkButton>
  );
}
