// Text for schedules: results of due times, and document summaries.
import type { Schedule, ScheduleRequest, ScheduleStart } from '../../api';
import type { Tone } from '../../ui/parts';
import { plural } from '../format/numbers';

const RESULTS: Record<ScheduleStart['result'], string> = {
  pending: 'About to start',
  started: 'Active',
  missed: 'Missed',
  skipped: 'Skipped',
  rejected: 'Rejected',
};

const STATUSES: Record<NonNullable<ScheduleStart['status']>, string> = {
  queued: 'Queued',
  running: 'Running',
  done: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
  interrupted: 'Interrupted',
};

/** `Missed (4 times)` */
export function resultText({ result, status, count, is_catch_up }: ScheduleStart): string {
  const text = status ? STATUSES[status] : RESULTS[result];
  if (count > 1) return `${text} (${plural(count, 'time')})`;
  return is_catch_up ? `${text} (late)` : text;
}

export function resultTone({ result, status }: ScheduleStart): Tone {
  const isBad = status === 'failed' || status === 'interrupted' || result === 'rejected';
  return isBad ? 'bad' : null;
}

/** The document as an object, or why it is invalid. */
export function parseDocument(text: string): {
  document?: Record<string, unknown>;
  error?: string;
} {
  try {
    const document: unknown = JSON.parse(text);
    const isObject = typeof document === 'object' && document !== null && !Array.isArray(document);
    if (isObject) return { document: document as Record<string, unknown> };
    return { error: 'The document must be a JSON object.' };
  } catch (error) {
    return { error: `Invalid JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

type Options = Record<string, unknown>;
const isList = (value: unknown): value is Options[] => Array.isArray(value);

/** What a schedule starts: `Run: Nightly read (randread 4k × 8 /data/t1)`. */
export function documentText({ name, jobs, steps }: Schedule['document']): string {
  const title = typeof name === 'string' && name ? `: ${name}` : '';
  if (isList(steps)) return `Study${title} (${plural(steps.length, 'step')})`;
  const [first, ...rest] = isList(jobs) ? jobs : [];
  if (!first) return `Run${title}`;
  const { rw, bs, iodepth, filename } = first;
  const more = rest.length > 0 && `and ${plural(rest.length, 'more job')}`;
  const summary = [rw, bs, iodepth && `× ${iodepth}`, filename, more].filter(Boolean).join(' ');
  return `Run${title}${summary && ` (${summary})`}`;
}

/** A request body that keeps all of a schedule's settings. */
export function toRequest(schedule: Schedule): ScheduleRequest {
  const { name, cron, time_zone, document, tags, quiet_hours, enabled } = schedule;
  return { name, cron, time_zone, document, tags, quiet_hours, enabled };
}
