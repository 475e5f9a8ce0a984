import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forEachConcurrently, parsePrograms } from './rust-tests.mjs';

test('finds the test programs in the output of a build', () => {
  const message = (test, executable) =>
    JSON.stringify({ reason: 'compiler-artifact', profile: { test }, executable, manifest_path: '/a/Cargo.toml', target: { kind: ['test'], name: 'x' } });
  const output = [message(true, '/t/x-1'), message(false, '/t/x'), message(true, null), '{"reason":"build-finished"}', 'text', ''].join('\n');
  assert.deepEqual(parsePrograms(output), [{ name: 'test x', executable: '/t/x-1', directory: '/a' }]);
});

test('works on every item, at most `limit` at a time', async () => {
  let active = 0;
  let most = 0;
  const done = [];
  await forEachConcurrently([1, 2, 3, 4, 5], 2, async (item) => {
    most = Math.max(most, ++active);
    await new Promise((resolve) => setImmediate(resolve));
    active--;
    done.push(item);
  });
  assert.deepEqual(done.toSorted(), [1, 2, 3, 4, 5]);
  assert.equal(most, 2);
});
