import { expect, it } from 'vitest';
import type { ScheduleStart } from '../../api';
import { documentText, parseDocument, resultText, resultTone } from './text';

const START: ScheduleStart = {
  due_at_ms: 0,
  count: 1,
  result: 'started',
  reason: null,
  is_catch_up: false,
  run: 1,
  study: null,
  status: null,
};

it.each<[Partial<ScheduleStart>, string, string | null]>([
  [{}, 'Active', null],
  [{ status: 'done' }, 'Done', null],
  [{ status: 'failed' }, 'Failed', 'bad'],
  [{ status: 'done', is_catch_up: true }, 'Done (late)', null],
  [{ result: 'missed', count: 4 }, 'Missed (4 times)', null],
  [{ result: 'rejected' }, 'Rejected', 'bad'],
])('describes %j', (start, text, tone) => {
  expect(resultText({ ...START, ...start })).toBe(text);
  expect(resultTone({ ...START, ...start })).toBe(tone);
});

it('accepts JSON objects only', () => {
  expect(parseDocument('{"jobs": []}').document).toEqual({ jobs: [] });
  expect(parseDocument('[1]').error).toContain('object');
  expect(parseDocument('{').error).toContain('Invalid JSON');
});

const JOB = { rw: 'randread', bs: '4k', iodepth: 8, filename: 't1' };
it.each([
  [{ name: 'Nightly', jobs: [JOB] }, 'Run: Nightly (randread 4k × 8 t1)'],
  [{ jobs: [{ rw: 'read' }, JOB, JOB] }, 'Run (read and 2 more jobs)'],
  [{ name: 'Sweep', steps: [{ jobs: [JOB] }] }, 'Study: Sweep (1 step)'],
  [{}, 'Run'],
])('describes the document %j as %s', (document, text) =>
  expect(documentText(document)).toBe(text),
);
