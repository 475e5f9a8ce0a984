// A run in the words of other tools: the fio job file, and the curl command that starts the same run.
import type { Job, Run } from '../api';
import { writeJobText } from './job-text';

/** The jobs as they were asked for, as a fio job file. */
export const asFioJob = (run: Pick<Run, 'asked'>): string => writeJobText(run.asked.jobs as Record<string, unknown>[]);

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
