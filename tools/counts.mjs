// Counts a step's passed, failed and skipped tests, and names the failed ones, from its output or
// report. A skip never counts
// as a pass: a Rust test that cannot run prints `SKIP: reason` and returns, and is subtracted from
// the passed tests. The steps are in check.mjs.
import { readFileSync } from 'node:fs';

/** Counts a step that consists of a single check: exit code 0 is a pass. */
export function countSingleCheck(_output, code) {
  return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, failures: [], skips: [] };
}

/** `cargo test -- --show-output`: `test result:` lines, `... ignored, reason`, and `SKIP: reason` in a test's output. */
export function cargoTests(output, code) {
  const sum = { passed: 0, failed: 0, failures: failedTests(output), skips: [] };
  for (const [, passed, failed] of output.matchAll(/^test result: \w+\. (\d+) passed; (\d+) failed;/gm)) {
    sum.passed += Number(passed);
    sum.failed += Number(failed);
  }
  for (const [, name, reason] of output.matchAll(/^test (\S+) \.\.\. ignored(?:, (.*))?$/gm)) {
    sum.skips.push(`${name}: ${reason ?? 'ignored'}`);
  }
  const shown = passedOutputs(output).filter(({ text }) => /^SKIP: /m.test(text));
  sum.skips.push(...shown.map(({ name, text }) => `${name}: ${/^SKIP: (.*)$/m.exec(text)[1]}`));
  sum.passed -= shown.length;
  return ensureFailure(sum, code);
}

/** The `---- name stdout ----` blocks of tests that passed. */
function passedOutputs(output) {
  const blocks = output.split(/^successes:$/m).slice(1).flatMap((part) => part.split(/^(?:failures|test result):?/m)[0].split(/^(?=---- )/m));
  return blocks.flatMap((text) => {
    const name = /^---- (\S+) stdout ----$/m.exec(text);
    return name ? [{ name: name[1], text }] : [];
  });
}

/** The output of the failed Rust tests, excluding that of the hundreds that passed. */
export function failureOutputs(output) {
  const parts = output.split(/^failures:$/m).slice(1);
  return parts.filter((part) => part.includes('\n---- ')).map((part) => part.trim());
}

/**
 * The names of failed Rust tests. They come from the lists at the end of each test program, because
 * output of child processes can split the line of a test.
 */
export function failedTests(output) {
  const lists = [...output.matchAll(/^failures:\n((?: {4}\S.*\n)+)/gm)];
  const names = lists.flatMap(([, list]) => list.trim().split('\n'));
  return [...new Set(names.map((name) => name.trim()))];
}

/**
 * Returns a step's result, with the given failed tests counted as passed and listed as
 * unstable, because they passed when retried.
 */
export function countUnstableAsPassed(sum, names) {
  const failures = sum.failures?.filter((name) => !names.includes(name));
  return { ...sum, passed: sum.passed + names.length, failed: sum.failed - names.length, failures, unstable: names };
}

/** Vitest's JSON report. The exit code reveals failures outside tests. */
export function vitest(file) {
  return countReport(file, (report) => ({
    passed: report.numPassedTests,
    failed: report.numFailedTests,
    failures: namesOf(report, ['failed']),
    skips: namesOf(report, ['pending', 'todo']).map((name) => `${name}: skipped`),
  }));
}

function namesOf(report, statuses) {
  const tests = report.testResults.flatMap(({ assertionResults }) => assertionResults);
  return tests.filter(({ status }) => statuses.includes(status)).map(({ fullName }) => fullName);
}

/** Playwright's JSON report. A flaky test, which passed when retried, counts as passed and is listed as unstable. */
export function playwright(file) {
  return countReport(file, (report) => {
    const tests = report.suites.flatMap(listSpecs).flatMap((spec) => spec.tests.map((test) => ({ title: spec.title, ...test })));
    const withStatus = (status) => tests.filter((test) => test.status === status);
    return {
      passed: withStatus('expected').length + withStatus('flaky').length,
      failed: withStatus('unexpected').length,
      failures: withStatus('unexpected').map(({ title }) => title),
      unstable: withStatus('flaky').map(({ title }) => title),
      skips: withStatus('skipped').map(({ title, annotations }) => `${title}: ${annotations[0]?.description ?? 'skipped'}`),
    };
  });
}

function listSpecs(suite) {
  return [...(suite.specs ?? []), ...(suite.suites ?? []).flatMap(listSpecs)];
}

/** `node --test --test-reporter=tap`. */
export function nodeTests(output, code) {
  const count = (word) => Number(new RegExp(`^# ${word} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
  const failures = [...output.matchAll(/^ *not ok \d+ - (.*)$/gm)].map(([, name]) => name);
  return ensureFailure({ passed: count('pass'), failed: count('fail') + count('cancelled'), failures, skips: [] }, code);
}

function countReport(file, read) {
  return (_output, code) => {
    let sum = { passed: 0, failed: 0, failures: [], skips: [] };
    try {
      sum = read(JSON.parse(readFileSync(file, 'utf8')));
    } catch {
      // Without a report, the program crashed early.
      code ||= 1;
    }
    return ensureFailure(sum, code);
  };
}

/** A nonzero exit with no failed test (compile error, crash) counts as one failure. */
function ensureFailure(sum, code) {
  return code !== 0 && sum.failed === 0 ? { ...sum, failed: 1 } : sum;
}
