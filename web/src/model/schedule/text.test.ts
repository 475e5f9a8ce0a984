import { expect, it } from 'vitest';
import type { ScheduleStart } from '../../api';
import { parseDocument, resultText, resultTone } from './text';

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
  [{ status: 'done', is_catch_up: true }, 'Done (caught up)', null],
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
