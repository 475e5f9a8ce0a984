// Exports a run as job text, or as a command that starts the same run.
import type { Job, Run } from '../../api';
import { jobsOf, parseJobText, writeJobText } from './job-text';

type JobRecord = Record<string, unknown>;

/** The job text as it was requested. */
export const toJobText = (run: Pick<Run, 'requested'>): string =>
  writeJobText(run.requested.jobs as JobRecord[]);

/** The request that starts the same run. */
export function toRunRequest({ name, tags, requested }: Pick<Run, 'requested' | 'name' | 'tags'>) {
  const { sample_ms, jobs } = requested;
  return { name, tags, sample_ms, jobs: jobs satisfies Job[] };
}

/**
 * `origin`: URL of the server, such as `http://127.0.0.1:7070`. The command reads the token from
 * the environment.
 */
export function toCurl(run: Pick<Run, 'requested' | 'name' | 'tags'>, origin: string): string {
  const body = quoted(JSON.stringify(toRunRequest(run), null, 2));
  const lines = [
    `curl -sS ${origin}/api/v1/runs`,
    `-H "Authorization: Bearer $LEADLINE_TOKEN"`,
    `-H 'Content-Type: application/json'`,
    `-d ${body}`,
  ];
  return lines.join(CONTINUED);
}

/** A fio command line with a job file's options. */
export function toFioCommand(jobFile: string): string {
  const jobs = jobsOf(parseJobText(jobFile)).map(({ name = '', ...options }) => {
    const words = Object.entries({ name, ...options }).map(
      ([option, value]) => `--${option}=${isPlain(value) ? value : quoted(value)}`,
    );
    return words.join(' ');
  });
  return ['fio', ...jobs].join(CONTINUED);
}

/**
 * A command that runs the job on the runner's host without a server. The jobs are in JSON, which
 * also supports Leadline's own options.
 */
export const toRunnerCommand = ({ requested: { sample_ms, jobs } }: Pick<Run, 'requested'>) =>
  `leadline-runner run - <<'END'\n${JSON.stringify({ sample_ms, jobs }, null, 2)}\nEND\n`;

const CONTINUED = ' \\\n  ';
const isPlain = (value: string) => /^[\w@%+=:,./-]+$/.test(value);
/** Wraps text in single quotes for a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
