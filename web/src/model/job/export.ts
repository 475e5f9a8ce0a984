// A run in the words of other tools: the fio job file, and the curl command that starts the same run.
import type { Job, ResolvedJob, Run } from '../../api';
import { writeJobText } from './job-text';

/** The jobs as they were asked for, in fio's words: what the form edits. */
export const toJobText = (run: Pick<Run, 'requested'>): string =>
  writeJobText(run.requested.jobs as Record<string, unknown>[]);

/** Options that fio has not, or means something else by. */
const OWN = [
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

/** Values that fio has not, by the option that takes them. */
const OWN_VALUES: Record<string, string> = {
  fallocate: 'written',
  iomem: 'thp',
  ioengine: 'io_uring_nop',
  mem: 'thp',
};

const isOwn = ([option, value]: [string, unknown]) =>
  OWN.includes(option) || OWN_VALUES[option] === value;

/**
 * The same for fio itself: with our engine by name, as fio's own default is psync, with whole paths, and without what it
 * does not know.
 */
export function toFioJobText({ requested, resolved }: Pick<Run, 'requested' | 'resolved'>): string {
  const jobs = requested.jobs as Record<string, unknown>[];
  const own = jobs.map((job) => Object.entries(job).filter(isOwn));
  const left = own.flatMap((settings, i) =>
    settings.map(([option, value]) => `${jobs[i]?.name ?? 'job'}: ${option}=${value}`),
  );
  const kept = jobs.map((job, i) => ({
    ioengine: engineOf(job),
    ...Object.fromEntries(Object.entries(job).filter((setting) => !isOwn(setting))),
    ...placesOf(job, resolved?.[i]),
  }));
  const note =
    left.length > 0 ? `; Leadline’s own, which fio does not have: ${left.join(', ')}\n` : '';
  return note + writeJobText(kept);
}

/** Where none is named that fio knows: a job that does no I/O must do none there either. */
const engineOf = ({ ioengine }: Record<string, unknown>) =>
  ioengine === OWN_VALUES.ioengine ? 'null' : 'io_uring';

const isWhole = (names: unknown) =>
  String(names)
    .split(/(?<!\\):/)
    .every((name) => name.startsWith('/'));

/** Whole paths, as far as they are known: names are relative to a target root here, and to where it is called for fio. */
function placesOf({ filename, directory }: Record<string, unknown>, job: ResolvedJob | undefined) {
  if (isWhole(filename ?? directory)) return {};
  const touched = job?.targets.filter(({ kind }) => kind !== 'null') ?? [];
  const paths = [...new Set(touched.map(({ path }) => path.replaceAll(':', '\\:')))];
  if (paths.length === 0) return {};
  // fio puts its directory before every name, a whole path too.
  if (filename) return { filename: paths.join(':'), directory: undefined };
  return { directory: paths[0]?.replace(/\/[^/]*$/, '') };
}

/** What is posted to start the same run. */
export function toRunRequest(run: Pick<Run, 'requested' | 'name' | 'tags'>) {
  return {
    name: run.name,
    tags: run.tags,
    sample_ms: run.requested.sample_ms,
    jobs: run.requested.jobs satisfies Job[],
  };
}

/** The command that starts the same run; `origin` such as http://127.0.0.1:7070. The token stays out of it. */
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
