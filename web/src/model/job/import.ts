// Jobs imported from text: their job file, and replacements in the text.
import type { Dialect, Import, ImportNote } from '../../api';
import type { StudyDraft } from '../study/draft';
import { writeJobText } from './job-text';

type Jobs = Record<string, unknown>[];

interface ImportedStep {
  name: string;
  text: string;
}

const NAMES: Record<Dialect, string> = {
  json: 'Jobs in JSON',
  fio_job_file: 'fio job file',
  fio_command: 'fio command',
  diskspd_command: 'diskspd command',
  other: 'Another tool',
  unknown: 'Not recognized',
};

export const dialectName = (dialect: Dialect): string => NAMES[dialect];

/** Benchmark commands. If the import cannot read a command, it explains why. */
const COMMAND =
  /(^|[\s/\\])(fio|diskspd(\.exe)?|dd|ioping|elbencho|vdbench|iozone|bonnie\+\+|sysbench|hdparm)\s+\S/i;

/** Returns true if the text must be imported, because the job editor cannot show it as is. */
export function needsImport(text: string): boolean {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const hasSection = lines.some((line) => /^\s*\[[^\]]+\]\s*$/.test(line));
  return !hasSection && lines.some((line) => COMMAND.test(line));
}

/** An import's steps, each with its jobs as a job file. An imported run has one step. */
export function toSteps({ document }: Pick<Import, 'document'>): ImportedStep[] {
  if (!document || typeof document !== 'object') return [];
  const { jobs, steps } = document as { jobs?: Jobs; steps?: { name?: string; jobs: Jobs }[] };
  const all = steps ?? [{ jobs: jobs ?? [document as Jobs[number]] }];
  return all.map((step) => ({
    name: 'name' in step && step.name ? step.name : step.jobs.map(({ name }) => name).join(', '),
    text: writeJobText(step.jobs),
  }));
}

/** Returns a study with an import's steps. */
export function toStudy(imported: Pick<Import, 'document'>): StudyDraft {
  const steps = toSteps(imported).map(({ text }, index) => ({ id: index + 1, name: '', text }));
  const { continue_on_failure } = imported.document as { continue_on_failure?: boolean };
  return {
    name: '',
    tags: [],
    continueOnFailure: continue_on_failure ?? false,
    steps,
    active: 1,
  };
}

/**
 * Returns a note's range as offsets in the text. Columns count characters, offsets count
 * UTF-16 units.
 */
export function noteRange(text: string, note: Pick<ImportNote, 'line' | 'column' | 'length'>) {
  const lines = text.split('\n');
  const before = lines.slice(0, note.line - 1).join('\n').length + (note.line > 1 ? 1 : 0);
  const units = (count: number) =>
    [...(lines[note.line - 1] ?? '')].slice(0, count).join('').length;
  const start = before + units(note.column - 1);
  return { start, end: before + units(note.column - 1 + note.length) };
}

/** Returns the text after the replacement that a note suggests. */
export function withReplacement(text: string, note: ImportNote): string {
  const { start, end } = noteRange(text, note);
  return text.slice(0, start) + (note.replacement ?? '') + text.slice(end);
}
