// Exports a run: job text, and commands that start the same run.
import type { Job, Run } from '../../api';
import { jobsOf, parseJobText, writeJobText } from './job-text';

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
  const body = quoted(JSON.stringify(toRunRequest(run), null, 2));
  const lines = [
    `curl -sS ${origin}/api/v1/runs`,
    `-H "Authorization: Bearer $LEADLINE_TOKEN"`,
    `-H 'Content-Type: application/json'`,
    `-d ${body}`,
  ];
  return lines.join(CONTINUED);
}

/** A command with the options of a fio job file. */
export function toFioCommand(jobFile: string): string {
  const jobs = jobsOf(parseJobText(jobFile)).map(({ name = '', ...options }) => {
    const words = Object.entries({ name, ...options }).map(
      ([option, value]) => `--${option}=${isPlain(value) ? value : quoted(value)}`,
    );
    return words.join(' ');
  });
  return ['fio', ...jobs].join(CONTINUED);
}

/** A command for the host of the runner, which needs no server. JSON also has Leadline's own options. */
export const toRunnerCommand = ({ requested: { sample_ms, jobs } }: Pick<Run, 'requested'>) =>
  `leadline-runner run - <<'END'\n${JSON.stringify({ sample_ms, jobs }, null, 2)}\nEND\n`;

const CONTINUED = ' \\\n  ';
const isPlain = (value: string) => /^[\w@%+=:,./-]+$/.test(value);
/** In single quotes of a shell. */
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
