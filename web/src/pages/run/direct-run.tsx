// Beside a number of memory's: what the disk itself does, and where that was measured.
import { Link } from '@tanstack/react-router';
import type { ComparedRun, Run } from '../../api';
import { count } from '../../model/format/numbers';
import { LinkButton } from '../../ui/link-button';

/** The number, and a link to its run. */
export function DirectRun({ itself: { run } }: { itself: ComparedRun }) {
  return (
    <p className="itself">
      The disk itself: <b>{count(Math.round(run.iops ?? 0))} IOPS</b> (
      <Link to="/runs/$n" params={{ n: String(run.number) }}>
        run #{run.number}
      </Link>
      )
    </p>
  );
}

/** Both beside each other; the disk's is what the other is held against. */
export function CompareWithDirect({ run, itself }: { run: Run; itself: ComparedRun }) {
  const disk = String(itself.run.number);
  return (
    <LinkButton
      variant="filled"
      to="/compare"
      search={{ runs: `${disk},${run.number}`, baseline: disk }}
    >
      Compare with the disk
    </LinkButton>
  );
}
