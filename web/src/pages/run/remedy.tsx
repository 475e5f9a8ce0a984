// The rerun that mends a finding, by one click: the same jobs with the options changed that the finding names.
import { Button } from '@mantine/core';
import type { Finding, Run } from '../../api';
import { useRerun } from './actions';

/** The button; nothing where no option mends it. `filled`: it is the one that matters. */
export function RemedyButton({
  finding,
  run,
  filled,
}: {
  finding: Finding | null;
  run: Run;
  filled?: boolean;
}) {
  const { rerun, pending } = useRerun(run);
  if (!finding?.patch || !finding.patch_label) return null;
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
