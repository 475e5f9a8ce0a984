// The button that opens the import dialog, and the draft that the import creates.
import { Button } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import type { Import } from '../../api';
import { toSteps, toStudy } from '../../model/job/import';
import { ImportDialog } from './import-dialog';
import { useStoredStudy } from './use-study';

/** The open import; null if the dialog is closed. */
export interface ImportState {
  pasted: string | null;
  open: (text: string) => void;
  close: () => void;
}

export function useImportState(): ImportState {
  const [pasted, setPasted] = useState<string | null>(null);
  return { pasted, open: setPasted, close: () => setPasted(null) };
}

interface ImportButtonProps {
  state: ImportState;
  /** Receives the imported jobs of a run as a job file. */
  onUse: (text: string) => void;
}

export function ImportButton({ state: { pasted, open, close }, onUse }: ImportButtonProps) {
  const [, storeStudy] = useStoredStudy();
  const navigate = useNavigate();
  const use = (imported: Import) => {
    close();
    const [first, ...others] = toSteps(imported);
    if (others.length === 0) return onUse(first?.text ?? '');
    storeStudy(toStudy(imported));
    void navigate({ to: '/new', search: { study: '1' } });
  };
  return (
    <>
      <Button onClick={() => open('')}>Paste a command</Button>
      {pasted !== null && <ImportDialog initial={pasted} onClose={close} onUse={use} />}
    </>
  );
}
