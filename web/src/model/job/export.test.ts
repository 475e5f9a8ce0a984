import { expect, it } from 'vitest';
import type { Run } from '../../api';
import { toCurl, toFioCommand, toJobText, toRunnerCommand } from './export';

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

it('writes a fio command with the options of each job', () => {
  const text = `; comment
[global]
ioengine=libaio

[it's one]
rw=randread
filename=/data/a b
[two]
bs=4k,16k
size=50%
`;
  expect(toFioCommand(text)).toBe(
    [
      'fio',
      "--name='it'\\''s one' --ioengine=libaio --rw=randread --filename='/data/a b'",
      '--name=two --ioengine=libaio --bs=4k,16k --size=50%',
    ].join(' \\\n  '),
  );
});

it('passes the requested jobs to the runner', () => {
  const lines = toRunnerCommand(RUN).trimEnd().split('\n');
  expect([lines[0], lines.at(-1)]).toEqual(["leadline-runner run - <<'END'", 'END']);
  expect(JSON.parse(lines.slice(1, -1).join('\n'))).toEqual(RUN.requested);
});
