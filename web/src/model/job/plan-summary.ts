// Summarizes a plan: duration, written bytes and caveats.
import type { Estimate, Phase, Plan, StudyPlan } from '../../api';
import { bytes, plural, text } from '../format/numbers';
import { duration } from '../format/time';
import { isDestructive } from './form-options';

/** Shorter phases are omitted. */
const MIN_LISTED_S = 0.5;
const LABELS: Partial<Record<Phase, string>> = {
  layout: 'layout',
  measure: 'measure',
  pre_read: 'pre-read',
  drop_caches: 'drop caches',
  verify: 'verify',
};

/** Rounded to 0.1 s if below 10 s, and to 1 s otherwise. */
const formatSeconds = (s: number) =>
  duration(s < 10 ? Math.round(s * 10) * 100 : Math.round(s) * 1000);

const stepCount = (n: number) => plural(n, 'step');

/** Total duration, and each phase's duration. */
export function durationText({ estimate, phases }: Plan): string {
  const parts = phases
    .filter(({ seconds }) => (seconds ?? 0) >= MIN_LISTED_S)
    .map(({ phase, seconds }) => {
      const label = LABELS[phase] ?? phase.replaceAll('_', ' ');
      return `${label} ${formatSeconds(seconds ?? 0)}`;
    });
  const isKnown = typeof estimate.seconds === 'number';
  const total = isKnown ? `about ${formatSeconds(estimate.seconds ?? 0)}` : '';
  const list = parts.length > 1 || !isKnown ? parts.join(', ') : '';
  const text = [total, list].filter(Boolean).join(': ');
  return [text, estimate.seconds_note].filter(Boolean).join('. ') || 'unknown';
}

/** A study's duration, and the bytes that it writes. */
export function studyCostText({
  steps,
  idle_wait_seconds: wait = 0,
}: Pick<StudyPlan, 'steps'> & Partial<Pick<StudyPlan, 'idle_wait_seconds'>>): string {
  const plans = steps.map(({ plan }) => plan);
  const known = plans.flatMap(({ estimate }) => estimate.seconds ?? []);
  const unknown = steps.length - known.length;
  const total = known.reduce((a, b) => a + b, 0);
  const time = known.length > 0 ? `, about ${formatSeconds(total)}` : '';
  const rest = known.length > 0 && unknown > 0 ? ` plus ${stepCount(unknown)} limited by size` : '';
  const count = steps.filter(({ repeat }) => repeat === 1).length;
  const runs = count < steps.length ? `, ${steps.length} runs` : '';
  const waits =
    wait > 0 ? `, plus up to ${formatSeconds(wait * steps.length)} waiting for idle devices` : '';
  const cost = `${stepCount(count)}${runs}${time}${rest}${waits}`;
  return `${cost}; writes ${studyWritesText(plans)}.`;
}

const UNBOUNDED = 'continuously for the whole runtime';
const isUnbounded = ({ measure_write_bytes }: Estimate) =>
  measure_write_bytes === null || measure_write_bytes === undefined;

/** Plans of rejected jobs have no phases and are not counted. */
function studyWritesText(plans: readonly Plan[]): string {
  const estimates = plans.filter(({ phases }) => phases.length > 0).map(({ estimate }) => estimate);
  const known = estimates.reduce(
    (sum, { layout_bytes, measure_write_bytes }) => sum + layout_bytes + (measure_write_bytes ?? 0),
    0,
  );
  if (!estimates.some(isUnbounded)) return text(bytes(known));
  return known > 0 ? `${text(bytes(known))}, and ${UNBOUNDED}` : UNBOUNDED;
}

/** Bytes that layout and measurement write. */
export function writesText({ estimate, jobs }: Plan): string {
  const parts: string[] = [];
  if (estimate.layout_bytes > 0) {
    const targets = jobs.flatMap((job) => job.targets).filter(({ layout_bytes }) => layout_bytes);
    const paths = [...new Set(targets.map(({ path }) => path))].join(', ') || 'its files';
    parts.push(`${text(bytes(estimate.layout_bytes))} once to create ${paths}`);
  }
  if (jobs.some((job) => isDestructive(job.rw))) {
    const limit = `up to ${text(bytes(estimate.measure_write_bytes ?? 0))}`;
    parts.push(`${parts.length > 0 ? 'then ' : ''}${isUnbounded(estimate) ? UNBOUNDED : limit}`);
  }
  return parts.join(', ') || 'nothing';
}

export const caveats = ({ findings }: Plan): string[] =>
  findings.map(({ sentence, remedy }) => [sentence, remedy].filter(Boolean).join(' '));
