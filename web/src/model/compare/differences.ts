// Differences between compared runs: names, values, and what is not recorded.
import type { Comparison, Difference, VerdictClass } from '../../api';
import { plural, UNKNOWN } from '../format/numbers';
import { isImported } from '../run/summary';
import { badgeOf } from '../run/verdict';
import { includedRuns } from './metrics';
import { comparedRuns } from './scope';
import { formatSetting } from './setting-text';

/** The server's value for a host fact that a run did not record. */
const UNRECORDED = 'unknown';

/** The names from `compare/src/fact_names.rs`. A test compares the two lists. */
const FACT_NAMES: Record<string, string> = {
  'targets.held_data': 'data in the target before the run',
  'targets.alignment': 'target alignment',
  'targets.device': 'device',
  'targets.existed': 'target existed before the run',
  'targets.filesystem': 'filesystem',
  'targets.identity': 'device identity',
  'targets.layout_bytes': 'bytes written by layout',
  'targets.layout_offset': 'start of the layout',
  'targets.length': 'target size',
  clocksource: 'clock source',
  cpu_model: 'CPU model',
  cpus: 'number of CPUs',
  governor: 'CPU frequency governor',
  io_uring_unavailable: 'io_uring availability',
  memlock_bytes: 'locked memory limit',
  memory_bytes: 'memory',
  runner: 'runner version',
};
/** fio's names of settings that are resolved to milliseconds. */
const OPTION_NAMES: Record<string, string> = {
  ramp_ms: 'ramp_time',
  runtime_ms: 'runtime',
  startdelay_ms: 'startdelay',
};
const FINDING_NAMES: Record<string, string> = {
  busy_host: 'busy host',
  device_cache: 'device cache',
  direct_io_fallback: 'fallback from direct I/O',
  foreign_io: 'foreign I/O',
  frequency_governor: 'CPU frequency governor',
  initial_write: 'initial write',
  io_errors: 'I/O errors',
  loop_without_direct_io: 'loop device without direct I/O',
  host_changed: 'changed host settings',
  result_of_fio: 'fio result',
  runner_paused: 'paused runner',
  short_run: 'short run',
  busy_at_start: 'host busy at the start',
  slow_clock: 'slow clock',
  stalled: 'stalled I/O',
  steady_state_not_reached: 'steady state not reached',
  stopped_early: 'stopped early',
  thermal_throttling: 'thermal throttling',
  unfinished_ios: 'unfinished I/Os',
  unwritten_blocks: 'unwritten blocks',
  warm_cache: 'warm cache',
  writeback_throttled: 'throttled writeback',
};

export interface DifferenceName {
  text: string;
  /** True for an identifier, such as `iodepth`. */
  isIdentifier: boolean;
}

/** Settings without a label have their option names: `iodepth`, or `bs (job 2)` for `jobs[1].bs`. */
export function differenceName(name: string): DifferenceName {
  const finding = /^finding (.*)$/.exec(name)?.[1];
  if (finding !== undefined) {
    const text = FINDING_NAMES[finding] ?? finding.replaceAll('_', ' ');
    return { text: `Finding: ${text}`, isIdentifier: false };
  }
  const [, job, option = name] = /^(?:jobs\[(\d+)\]\.|fio\.)(.*)$/.exec(name) ?? [];
  const label = FACT_NAMES[option] ?? (option.endsWith(' verdict') ? option : undefined);
  const text = label
    ? label.charAt(0).toUpperCase() + label.slice(1)
    : (OPTION_NAMES[option] ?? option);
  return { text: job ? `${text} (job ${Number(job) + 1})` : text, isIdentifier: !label };
}

/** The distinct values in a group; empty if all of its runs are excluded. */
export function groupValue(
  comparison: Comparison,
  { name, values }: Difference,
  group: number,
): string {
  const texts = includedRuns(comparison, group).map((run) => {
    const value = values[run] ?? null;
    if (value === null || isUnobserved(comparison, name, run)) return UNKNOWN;
    return name.endsWith(' verdict')
      ? badgeOf(value as VerdictClass).label
      : formatSetting(name, value);
  });
  return [...new Set(texts)].join(' / ');
}

/** Returns true for findings of imported runs, because Leadline did not observe those runs. */
function isUnobserved({ runs }: Comparison, name: string, index: number): boolean {
  const run = runs[index]?.run;
  return name.startsWith('finding ') && run !== undefined && isImported(run);
}

/** Returns true if the compared runs that recorded the value have different values. */
export function isKnownDifference(comparison: Comparison, { name, values }: Difference): boolean {
  const known = comparedRuns(comparison)
    .filter((run) => !isUnobserved(comparison, name, run))
    .map((run) => values[run] ?? null)
    .filter((value) => value !== null && value !== UNRECORDED);
  return new Set(known).size > 1;
}

/** Describes host facts that some groups did not record, such as fio results. */
export function unrecordedText(comparison: Comparison, facts: readonly Difference[]): string {
  const groups = comparison.groups.flatMap(({ label }, group) => {
    const runs = includedRuns(comparison, group);
    return facts.some(({ values }) => runs.some((run) => values[run] === UNRECORDED)) ? label : [];
  });
  const verb = facts.length === 1 ? 'is' : 'are';
  return `${plural(facts.length, 'host fact')} ${verb} not recorded for ${groups.join(', ')}.`;
}

/** The number of equal settings and host facts, or why nothing was compared. */
export function equalText(comparison: Comparison): string {
  const { groups, runs, equal_settings, equal_host_facts } = comparison;
  const compared = [...new Set(comparedRuns(comparison).map((run) => runs[run]?.group ?? 0))];
  if (compared.length < 2) {
    const label = groups[compared[0] ?? -1]?.label;
    return `Nothing to compare: ${label ? `only ${label} has` : 'no run has'} a complete result.`;
  }
  const parts = [
    equal_settings > 0 && plural(equal_settings, 'setting'),
    equal_host_facts > 0 && plural(equal_host_facts, 'host fact'),
  ].filter(Boolean);
  if (parts.length === 0) return '';
  return `Equal: ${parts.join(' and ')}.`;
}

/** What is known about groups whose runs are all excluded. */
export const excludedGroups = (comparison: Comparison) =>
  comparison.groups
    .filter((_, group) => includedRuns(comparison, group).length === 0)
    .map(({ label, workloads = [], hosts = [] }) => ({
      label,
      text: [workloads.join(' / '), hosts.join(', ')].filter(Boolean).join('; '),
    }));
