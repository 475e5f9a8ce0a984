// Tests counts.mjs with recorded output.
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { cargoTests, countSingleCheck, countUnstableAsPassed, failedTests, failureOutputs, nodeTests, playwright, vitest } from './counts.mjs';

const CARGO = `
running 4 tests
test a::plain ... ok
test b::needs_root ... ok
test c::broken ... FAILED
test d::later ... ignored, needs a disk

successes:

---- a::plain stdout ----
hello

---- b::needs_root stdout ----
SKIP: not root

successes:
    a::plain
    b::needs_root

failures:

---- c::broken stdout ----
SKIP: printed before the failure

failures:
    c::broken

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s

running 1 test
test e::doc ... ok

successes:

successes:
    e::doc

test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
`;

test('a skip is not counted as a passed cargo test', () => {
  assert.deepEqual(cargoTests(CARGO, 101), { passed: 2, failed: 1, failures: ['c::broken'], skips: ['d::later: needs a disk', 'b::needs_root: not root'] });
});

test('extracts the output of failed cargo tests', () => {
  assert.deepEqual(failureOutputs(CARGO), ['---- c::broken stdout ----\nSKIP: printed before the failure']);
  assert.deepEqual(failureOutputs('successes:\n\nsuccesses:\n    e::doc'), []);
});

test('tests that pass when retried count as passed and are listed', () => {
  assert.deepEqual(failedTests(CARGO), ['c::broken']);
  const split = 'test x::y ... {"message":"run ended"}\nFAILED\n\nfailures:\n\n---- x::y stdout ----\n\nfailures:\n    x::y\n\ntest result';
  assert.deepEqual(failedTests(split), ['x::y']);
  const sum = countUnstableAsPassed(cargoTests(CARGO, 101), ['c::broken']);
  assert.deepEqual(sum, { ...cargoTests(CARGO, 101), passed: 3, failed: 0, failures: [], unstable: ['c::broken'] });
  const twoFailed = { passed: 5, failed: 2, failures: ['race', 'defect'], skips: [] };
  assert.deepEqual(countUnstableAsPassed(twoFailed, ['race']), { passed: 6, failed: 1, failures: ['defect'], skips: [], unstable: ['race'] });
});

test('a nonzero exit status with no failed test counts as one failure', () => {
  const compiled = 'test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out';
  assert.equal(cargoTests(compiled, 101).failed, 1);
  assert.equal(cargoTests(compiled, 0).failed, 0);
  assert.equal(cargoTests('error: could not compile', 101).failed, 1);
  assert.deepEqual(countSingleCheck('', 1), { passed: 0, failed: 1, failures: [], skips: [] });
});

function reported(read, report, code) {
  const folder = mkdtempSync(join(tmpdir(), 'counts-'));
  try {
    const file = join(folder, 'report.json');
    if (report) writeFileSync(file, JSON.stringify(report));
    return read(file)('', code);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test("reads vitest's report", () => {
  const tests = [['x', 'passed'], ['y', 'pending'], ['z', 'failed']].map(([fullName, status]) => ({ fullName, status }));
  const report = { numPassedTests: 7, numFailedTests: 1, testResults: [{ assertionResults: tests }] };
  assert.deepEqual(reported(vitest, report, 1), { passed: 7, failed: 1, failures: ['z'], skips: ['y: skipped'] });
  assert.deepEqual(reported(vitest, null, 0), { passed: 0, failed: 1, failures: [], skips: [] }, 'a missing report is a failure');
});

test("reads nested suites in playwright's report and lists flaky tests", () => {
  const spec = (title, status, annotations = []) => ({ title, tests: [{ status, annotations }] });
  const inner = { specs: [spec('a', 'expected'), spec('b', 'flaky'), spec('d', 'unexpected')] };
  const report = { suites: [{ specs: [spec('c', 'skipped', [{ description: 'no chromium' }])], suites: [inner] }] };
  const expected = { passed: 2, failed: 1, failures: ['d'], unstable: ['b'], skips: ['c: no chromium'] };
  assert.deepEqual(reported(playwright, report, 1), expected);
});

test('counts node tests', () => {
  const output = 'ok 1 - a\nnot ok 2 - b\n# pass 5\n# fail 1\n# cancelled 0\n';
  assert.deepEqual(nodeTests(output, 1), { passed: 5, failed: 1, failures: ['b'], skips: [] });
});
