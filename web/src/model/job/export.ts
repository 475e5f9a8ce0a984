// Exports a run: job text, fio job file, and a curl command that starts the same run.
import type { Job, ResolvedJob, Run } from '../../api';
import { writeJobText } from './job-text';

type JobRecord = Record<string, unknown>;

/** The job text as requested. */
export const toJobText = (run: Pick<Run, 'requested'>): string =>
  writeJobText(run.requested.jobs as JobRecord[]);

/** Options that fio does not have, or that have a different meaning in fio. */
const OWN_OPTIONS = [
  'cache_state',
  'drop_caches',
  'file_state',
  'ioengine_fallback',
  'loop',
  'loop_device',
  'probes',
  'profile',
  'request_sizes',
  'spin',
];

/** Values that fio does not have, by option. */
const OWN_VALUES: Record<string, string> = {
  fallocate: 'written',
  iomem: 'thp',
  ioengine: 'io_uring_nop',
  mem: 'thp',
};

const isOwn = ([option, value]: [string, unknown]) =>
  OWN_OPTIONS.includes(option) || OWN_VALUES[option] === value;

/**
 * A job file for fio, with explicit engines and absolute paths. Unsupported options are listed in a
 * comment.
 */
export function toFioJobText({ requested, resolved }: Pick<Run, 'requested' | 'resolved'>): string {
  const jobs = requested.jobs as JobRecord[];
  const omitted = jobs.flatMap((job) =>
    Object.entries(job)
      .filter(isOwn)
      .map(([option, value]) => `${job.name ?? 'job'}: ${option}=${value}`),
  );
  const kept = jobs.map((job, i) => ({
    ioengine: engineOf(job),
    ...Object.fromEntries(Object.entries(job).filter((setting) => !isOwn(setting))),
    ...absolutePaths(job, resolved?.[i]),
  }));
  const note = omitted.length > 0 ? `; Not supported by fio: ${omitted.join(', ')}\n` : '';
  return note + writeJobText(kept);
}

/** fio defaults to psync; jobs without I/O use its null engine. */
const engineOf = ({ ioengine }: JobRecord) =>
  ioengine === OWN_VALUES.ioengine ? 'null' : 'io_uring';

const isAbsolute = (names: unknown) =>
  String(names)
    .split(/(?<!\\):/)
    .every((name) => name.startsWith('/'));

/** Relative names refer to a target root here, but to the working directory in fio. */
function absolutePaths({ filename, directory }: JobRecord, job: ResolvedJob | undefined) {
  if (isAbsolute(filename ?? directory)) return {};
  const targets = job?.targets.filter(({ kind }) => kind !== 'null') ?? [];
  const paths = [...new Set(targets.map(({ path }) => path.replaceAll(':', '\\:')))];
  if (paths.length === 0) return {};
  // fio prefixes every name with its directory, even absolute ones.
  if (filename) return { filename: paths.join(':'), directory: undefined };
  return { directory: paths[0]?.replace(/\/[^/]*$/, '') };
}

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
