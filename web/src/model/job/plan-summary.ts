// A plan in the words of "Before it starts": what it takes, what it writes, what the number will tell, what to mind.
import type { Estimate, Phase, Plan, StudyPlan } from '../../api';
import { bytes, duration, text } from '../format/numbers';

/** Less than this is not worth naming apart, in seconds. */
const WORTH_NAMING_S = 0.5;
const NAMES: Partial<Record<Phase, string>> = {
  layout: 'layout',
  ramp: 'warm-up',
  measure: 'measure',
  pre_read: 'pre-read',
  drop_caches: 'drop caches',
};
const seconds = (s: number) => duration(s < 10 ? Math.round(s * 10) * 100 : Math.round(s) * 1000);

/** How long it takes, phase by phase. */
export function durationText({ estimate, phases }: Plan): string {
  const parts = phases
    .filter((phase) => (phase.seconds ?? 0) >= WORTH_NAMING_S)
    .map(
      ({ phase, seconds: s }) => `${NAMES[phase] ?? phase.replaceAll('_', ' ')} ${seconds(s ?? 0)}`,
    );
  const whole =
    estimate.seconds === null || estimate.seconds === undefined
      ? null
      : `about ${seconds(estimate.seconds)}`;
  const how = parts.length > 1 || whole === null ? parts.join(', ') : '';
  return (
    [[whole, how].filter(Boolean).join(': '), estimate.seconds_note].filter(Boolean).join('; ') ||
    'not known beforehand'
  );
}

/** How long a study takes, and what it writes at most. */
export function studyCostText({ steps }: Pick<StudyPlan, 'steps'>): string {
  const plans = steps.map(({ plan }) => plan);
  const known = plans
    .map(({ estimate }) => estimate.seconds)
    .filter((s): s is number => typeof s === 'number');
  const time = known.length > 0 ? `, about ${seconds(known.reduce((a, b) => a + b, 0))}` : '';
  const unknown = steps.length - known.length;
  const end = unknown === 1 ? 'ends when its size is done' : 'end when their size is done';
  const rest = known.length > 0 && unknown > 0 ? ` and ${inSteps(unknown)} that ${end}` : '';
  return `${inSteps(steps.length)}${time}${rest}; writes ${writtenBy(plans)}.`;
}

/** What a job writes that only its time bounds. */
const UNBOUNDED = 'as much as it can until the time is over';
const isUnbounded = ({ measure_write_bytes: bound }: Estimate) =>
  bound === null || bound === undefined;

/** What several write together at most; of one that is refused, and so has no phases, nothing is known. */
function writtenBy(plans: readonly Plan[]): string {
  const estimates = plans.filter(({ phases }) => phases.length > 0).map(({ estimate }) => estimate);
  const known = estimates.reduce(
    (sum, { layout_bytes, measure_write_bytes: bound }) => sum + layout_bytes + (bound ?? 0),
    0,
  );
  if (!estimates.some(isUnbounded)) return text(bytes(known));
  return known > 0 ? `${text(bytes(known))} and ${UNBOUNDED}` : UNBOUNDED;
}

const inSteps = (n: number) => (n === 1 ? '1 step' : `${n} steps`);

/** What it writes. */
export function writesText({ estimate, jobs }: Plan): string {
  const laidOut = [
    ...new Set(
      jobs.flatMap((job) =>
        job.targets.filter((target) => target.layout_bytes > 0).map((target) => target.path),
      ),
    ),
  ];
  const layout =
    estimate.layout_bytes > 0
      ? [
          `${text(bytes(estimate.layout_bytes))} once, to lay out ${laidOut.join(', ') || 'its files'}`,
        ]
      : [];
  const destroying = jobs.some((job) => /write|rw|trim/.test(job.rw));
  const bound = isUnbounded(estimate)
    ? UNBOUNDED
    : `up to ${text(bytes(estimate.measure_write_bytes ?? 0))}`;
  const measured = destroying ? [`then ${bound}`] : [];
  return [...layout, ...measured].join(', ') || 'nothing';
}

/** What to mind; findings and their remedies. */
export const caveats = ({ findings }: Plan): string[] =>
  findings.map(({ sentence, remedy }) => [sentence, remedy].filter(Boolean).join(' '));
