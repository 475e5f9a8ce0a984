// Exports a run: job text, and a curl command that starts the same run.
import type { Job, Run } from '../../api';
import { writeJobText } from './job-text';

type JobRecord = Record<string, unknown>;

/** The job text as requested. */
export const toJobText = (run: Pick<Run, 'requested'>): string =>
  writeJobText(run.requested.jobs as JobRecord[]);

/** The request that starts the same run. */
export function toRunRequest({ name, tags, requested }: Pick<Run, 'requested' | 'name' | 'tags'>) {
  const { sample_ms, jobs } = requested;
  return { name, tags, sample_ms, jobs: jobs satisfies Job[] };
}

/**
 * `origin` is the URL of the server, such as `http://127.0.0.1:7070`. The command reads the token
 * from the environment.
 */
export function toCurl(run: Pick<Run, 'requested' | 'name' | 'tags'>, origin: string): string {
  const body = JSON.stringify(toRunRequest(run), null, 2).replaceAll("'", "'\\''");
  const lines = [
    `curl -sS ${origin}/api/v1/runs`,
    `-H "Authorization: Bearer $LEADLINE_TOKEN"`,
    `-H 'Content-Type: application/json'`,
    `-d '${body}'`,
  ];
  return lines.join(' \\\n  ');
}
