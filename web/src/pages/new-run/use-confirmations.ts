// Confirmations for data that a run or study overwrites. The user types a confirmation text for
// each target; the codes come from the plan.
import { useCallback, useMemo, useState } from 'react';
import type { Confirmation, Problem } from '../../api';
import type { FormProblem } from '../../model/job/form-problems';

/** A target that would be overwritten, and the confirmation typed so far. */
export interface Overwrite {
  path: string;
  kind: Confirmation['kind'];
  identity?: string | null;
  /** The text that the user must type. */
  text: string;
  contents: string[];
  typed: string;
  isConfirmed: boolean;
}

export interface Confirmations {
  overwrites: Overwrite[];
  setTyped: (path: string, typed: string) => void;
  /** The request's `confirm` field; undefined if no target is confirmed. */
  confirm: string[] | undefined;
  /** One problem for each target that is not confirmed. */
  problems: FormProblem[];
}

/** `needed`: from the plan. Each step in a study has its own code, even for the same target. */
export function useConfirmations(needed: readonly Confirmation[] = NONE): Confirmations {
  const [typed, setTyped] = useState<Record<string, string>>({});
  const found = useMemo(() => findConfirmations(needed, typed), [needed, typed]);
  const setTypedOf = useCallback(
    (path: string, text: string) => setTyped((old) => ({ ...old, [path]: text })),
    [],
  );
  return { ...found, setTyped: setTypedOf };
}

const NONE: Confirmation[] = [];

function findConfirmations(needed: readonly Confirmation[], typed: Record<string, string>) {
  const byPath = new Map(needed.map((confirmation) => [confirmation.path, confirmation]));
  const overwrites = [...byPath.values()].map(({ code: _, ...confirmation }) => {
    const text = typed[confirmation.path] ?? '';
    return { ...confirmation, typed: text, isConfirmed: text.trim() === confirmation.text };
  });
  const isConfirmed = (path: string) =>
    overwrites.some((overwrite) => overwrite.path === path && overwrite.isConfirmed);
  const confirmed = needed.filter(({ path }) => isConfirmed(path));
  return {
    overwrites,
    confirm:
      confirmed.length > 0 ? confirmed.map(({ text, code }) => `${text}@${code}`) : undefined,
    problems: overwrites.filter((overwrite) => !overwrite.isConfirmed).map(unconfirmed),
  };
}

const unconfirmed = ({ path, text }: Overwrite): FormProblem => ({
  job: null,
  option: 'confirm',
  line: null,
  detail: `The data on ${path} would be lost.`,
  remedy: `Type ${text} under "Overwrites" to confirm.`,
});

/** Missing confirmations are not shown as problems, because the form prompts for them. */
export const isNotConfirmed = ({ code }: Problem) => code === 'not_confirmed';
