// Summarizes a draft's step, based on the step's first job.
import { UNCHANGED } from '../job/form-options';
import { jobsOf, parseJobText } from '../job/job-text';
import type { Step } from './draft';

/** The first job's name and main options, and the initial states that it requests. */
export function stepSummary({ text }: Step): { job: string; summary: string; state: string } {
  const [first, ...rest] = jobsOf(parseJobText(text));
  if (!first) return { job: '', summary: 'No job yet', state: '' };
  const { name: job = '', rw = 'read', bs = '4k', iodepth, direct, filename } = first;
  const modes: Record<string, string> = { '0': 'buffered', '1': 'direct' };
  const mode = filename?.startsWith('/dev/') ? 'raw' : modes[direct ?? ''];
  const depth = iodepth && `× ${iodepth}`;
  const more = rest.length > 0 && `and ${rest.length} more`;
  const summary = [rw, bs, depth, mode, filename, more].filter(Boolean).join(' ');
  const states = [stateLabel('file', first.file_state), stateLabel('cache', first.cache_state)];
  return { job, summary, state: states.filter(Boolean).join(', ') };
}

const stateLabel = (subject: string, state: string | undefined) =>
  state && state !== UNCHANGED ? `${subject} ${state}` : '';
