// A run in the words of other tools: the fio job file, and the curl command that starts the same run.
import type { Job, Run } from '../api';
import { writeJobText } from './job-text';

/** The jobs as they were asked for, in fio's words: what the form edits. */
export const asJobText = (run: Pick<Run, 'asked'>): string => writeJobText(run.asked.jobs as Record<string, unknown>[]);

/** Options that fio has not, or means something else by. */
const OWN = [
  'cache_state',
  'drop_caches',
  'file_state',
  'ioengine_fallback',
  'loop_device',
  'probes',
  'profile',
  'request_sizes',
  'spin',
];

/** The same for fio itself: with our engine by name, as fio's own default is psync, and without what it does not know. */
export function forFio(run: Pick<Run, 'asked'>): string {
  const jobs = run.asked.jobs as Record<string, unknown>[];
  const own = jobs.map((job) => Object.entries(job).filter(([option]) => OWN.includes(option)));
  const left = own.flatMap((settings, i) => settings.map(([option, value]) => `${jobs[i]?.name ?? 'job'}: ${option}=${value}`));
  const kept = jobs.map((job) => ({
    ioengine: 'io_uring',
    ...Object.fromEntries(Object.entries(job).filter(([option]) => !OWN.includes(option))),
  }));
  const note = left.length > 0 ? `; Leadline’s own, which fio does not have: ${left.join(', ')}\n` : '';
  return note + writeJobText(kept);
}

/** What is posted to start the same run. */
export function asRequest(run: Pick<Run, 'asked' | 'name' | 'tags'>) {
  return { name: run.name, tags: run.tags, sample_ms: run.asked.sample_ms, jobs: run.asked.jobs satisfies Job[] };
}

/** The command that starts the same run; `origin` such as http://127.0.0.1:7070. The token stays out of it. */
export function asCurl(run: Pick<Run, 'asked' | 'name' | 'tags'>, origin: string): string {
  const body = JSON.stringify(asRequest(run), null, 2).replaceAll("'", "'\\''");
  const lines = [
    `curl -sS ${origin}/api/v1/runs`,
    `-H "Authorization: Bearer $LEADLINE_TOKEN"`,
    `-H 'Content-Type: application/json'`,
    `-d '${body}'`,
  ];
  return lines.join(' \\\n  ');
}
