// Buttons that rerun a job with the options that a finding suggests, or with its data in memory.
import { Button } from '@mantine/core';
import type { Finding, Run } from '../../api';
import { useIsSaved } from '../../ui/saved';
import { useRerun } from './actions';

interface RemedyButtonProps {
  finding: Finding | null;
  run: Run;
  /** Primary style. */
  filled?: boolean;
}

/** Renders nothing on a saved page, or if no option fixes the finding. */
export function RemedyButton({ finding, run, filled }: RemedyButtonProps) {
  const isSaved = useIsSaved();
  const { rerun, pending } = useRerun(run);
  if (isSaved || !finding?.patch || !finding.patch_label) return null;
  const { patch, patch_label } = finding;
  return (
    <Button
      className="push no-print"
      variant={filled ? 'filled' : 'default'}
      loading={pending}
      onClick={() => rerun({ patch })}
      style={{ flex: 'none' }}
    >
      {patch_label}
    </Button>
  );
}

const WARM = { cache_state: 'warm', invalidate: null, pre_read: null };

/** Reruns the job with its data in memory. Renders nothing on a saved page. */
export function WarmRerunButton({ run, filled }: Pick<RemedyButtonProps, 'run' | 'filled'>) {
  const isSaved = useIsSaved();
  const { rerun, pending } = useRerun(run);
  if (isSaved) return null;
  return (
    <Button
      variant={filled ? 'filled' : 'default'}
      loading={pending}
      onClick={() => rerun({ patch: WARM })}
    >
      Rerun with a warm cache
    </Button>
  );
}
