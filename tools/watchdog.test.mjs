// Tests watchdog.mjs with recorded and real processes.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { descendants, leaves, parseProcesses, watch } from './watchdog.mjs';

const PROCESSES = parseProcesses(`
    1     0 Ss   init
   10     1 S    cargo test
   11    10 S    target/debug/deps/compare
   12    11 S    leadline-runner run -
   13    11 S    fio
   20     1 S    fio
`);

test('descendants without children are leaves', () => {
  const found = descendants(PROCESSES, 10);
  assert.deepEqual(found.map(({ pid }) => pid), [11, 12, 13]);
  assert.deepEqual(leaves(found).map(({ pid }) => pid), [12, 13]);
});

test('a program that hangs is killed, and the program that waits for it continues', async () => {
  const child = spawn('sh', ['-c', 'sleep 600; echo "status $?"']);
  let printed = '';
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  const { stop } = watch(child.pid, (text) => (printed += text), 300);
  await once(child, 'close');
  stop();
  assert.match(output, /status 137/);
  assert.match(printed, /no output for 0 s[^]*sleep 600[^]*killing \d+/);
});

test('a program with output is not killed', async () => {
  const child = spawn('sh', ['-c', 'for i in 1 2 3 4 5 6 7 8; do echo $i; sleep 0.2; done']);
  const { onOutput, stop } = watch(child.pid, () => assert.fail('killed'), 1000);
  child.stdout.on('data', onOutput);
  const [code] = await once(child, 'close');
  stop();
  assert.equal(code, 0);
});
