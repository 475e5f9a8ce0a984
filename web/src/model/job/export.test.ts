import { expect, it } from 'vitest';
import type { Run } from '../../api';
import { toCurl, toJobText } from './export';

const RUN = {
  name: "it's",
  tags: ['a'],
  requested: { jobs: [{ name: 't1', rw: 'randread', direct: 1 }], sample_ms: 100 },
} as unknown as Run;

it('writes the requested jobs as text', () =>
  expect(toJobText(RUN)).toBe('[t1]\nrw=randread\ndirect=1\n'));

it('quotes a curl command for the shell', () => {
  const command = toCurl(RUN, 'http://127.0.0.1:7070');
  expect(command).toContain('curl -sS http://127.0.0.1:7070/api/v1/runs');
  expect(command).toContain("it'\\''s");
  const body = /-d '([\s\S]*)'$/.exec(command.replaceAll("'\\''", '’'))?.[1];
  expect(JSON.parse(body ?? '')).toEqual({
    name: 'it’s',
    tags: ['a'],
    sample_ms: 100,
    jobs: RUN.requested.jobs,
  });
});
