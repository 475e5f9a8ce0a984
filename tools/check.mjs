// `make test`: runs all checks in sequence and continues after a failure. Prints a table of the
// steps and the reason for each skip. The last line is `N passed, N failed, N skipped`. Each step's
// output is kept in target/test.
//
// Failed Rust and browser tests are retried. A test that passes every retry counts as passed. It is
// listed as unstable, with the output of its failure, because either the test or the product has a
// race condition.
//
// The Rust steps share one profile (dev), and the browser tests use the binaries built by
// `cargo test`. tools/prerequisites installs programs; counts.mjs counts the results.
import { spawn, spawnSync } from 'node:child_process';
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { cargoTests, countSingleCheck, countUnstableAsPassed, failedTests, failureOutputs, nodeTests, playwright, vitest } from './counts.mjs';
import { watch } from './watchdog.mjs';

const ROOT = join(import.meta.dirname, '..');
const LOGS = join(ROOT, 'target/test');
const WEB = join(ROOT, 'web');
const TMP = join(ROOT, 'target/tmp');
const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

const report = (name) => join(LOGS, name);
const web = (...args) => ({ command: ['npx', '--no-install', ...args], in: WEB });
const freshTypes = `npx --no-install openapi-ts && diff -r "$GENERATE_INTO" src/api/generated || { echo 'stale: run npm run generate in web/'; exit 1; }`;

/**
 * `clippy-driver` lints while it compiles, so the dependencies are not compiled a second time as for
 * `cargo clippy`. The separator of its arguments is that of cargo-clippy.
 */
const LINTS = {
  RUSTC_WORKSPACE_WRAPPER: 'clippy-driver',
  CLIPPY_ARGS: ['-D', 'warnings', ''].join('__CLIPPY_HACKERY__'),
};
const RUST_TESTS = ['cargo', 'test', '--workspace', '--locked', '--no-fail-fast', '--'];
/**
 * Most tests wait for runs, devices and servers, so each processor can run this many at the same
 * time.
 */
const TESTS_PER_PROCESSOR = 3;
const RETRIES = 3;
/** Maximum number of failed tests to retry. If more tests fail, the cause is not a race. */
const MAX_RETRIED = 5;

/** A step that reruns failed Rust tests, one at a time. */
function createRetry(names) {
  if (names.length === 0 || names.length > MAX_RETRIED) return null;
  return { names, step: { name: 'retried tests', command: [...RUST_TESTS, '--exact', '--test-threads=1', ...names], env: LINTS } };
}

/**
 * Quick checks run first, the web build runs before the server that embeds it, and browser tests
 * run last.
 */
const STEPS = [
  { name: 'tools', command: ['sh', '-c', 'node --test --test-reporter=tap tools/*.test.mjs tools/repo/*.test.mjs'], count: nodeTests },
  { name: 'rust format', command: ['cargo', 'fmt', '--all', '--check'] },
  { name: 'web build', command: ['make', '--no-print-directory', 'web/dist/index.html'] },
  { name: 'web lint', ...web('biome', 'check', '--error-on-warnings', '.') },
  { name: 'web types', ...web('tsc', '--noEmit') },
  { name: 'web API types', command: ['sh', '-c', freshTypes], in: WEB, env: { GENERATE_INTO: join(TMP, 'generated') } },
  { name: 'web dead code', ...web('knip') },
  { name: 'web bundle size', command: ['node', 'tools/bundle-size.mjs'] },
  {
    name: 'web tests',
    ...web('vitest', 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report('vitest.json')}`),
    count: vitest(report('vitest.json')),
  },
  { name: 'rust build', command: ['cargo', 'test', '--workspace', '--locked', '--no-run'], env: LINTS },
  // The fuzz targets are a separate workspace, so the steps above do not compile them.
  {
    name: 'fuzz targets',
    command: ['cargo', 'check', '--manifest-path', 'fuzz/Cargo.toml', '--locked', '--target-dir', 'target/fuzz-check'],
    env: { RUSTC_BOOTSTRAP: '1', RUSTFLAGS: '--cfg fuzzing' },
  },
  {
    name: 'rust tests',
    command: [...RUST_TESTS, '--show-output', `--test-threads=${TESTS_PER_PROCESSOR * availableParallelism()}`],
    env: LINTS,
    count: cargoTests,
    retry: (output) => createRetry(failedTests(output)),
  },
  {
    name: 'browser',
    ...web('playwright', 'test', '--retries=1', '--reporter=list,json'),
    env: { PLAYWRIGHT_JSON_OUTPUT_FILE: report('playwright.json') },
    count: playwright(report('playwright.json')),
    skip: () => !CHROMIUM.some(existsSync) && 'Chromium is not installed: sudo apt-get install chromium',
  },
];

const seconds = (ms) => `${(ms / 1000).toFixed(0)} s`;

/** Runs a step, prints its output, and writes the output to a log. Never throws. */
function run(step) {
  return new Promise((resolve) => {
    console.log(`\n[test] ${step.name}: ${step.command.join(' ')}`);
    const log = createWriteStream(join(LOGS, `${step.name.replaceAll(' ', '-')}.log`));
    const env = { ...process.env, CI: 'true', TMPDIR: TMP, NO_COLOR: '1', ...step.env };
    const child = spawn(step.command[0], step.command.slice(1), { cwd: step.in ?? ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const forward = (to) => (text) => {
      watchdog.onOutput();
      output += text;
      log.write(text);
      to.write(text);
    };
    child.stdout.setEncoding('utf8').on('data', forward(process.stdout));
    child.stderr.setEncoding('utf8').on('data', forward(process.stderr));
    child.on('error', (error) => forward(process.stderr)(`${step.command[0]}: ${error.message}\n`));
    child.on('close', (code) => {
      watchdog.stop();
      log.end(() => resolve({ output, code: code ?? 1 }));
    });
    const watchdog = watch(child.pid, forward(process.stdout));
  });
}

async function result(step) {
  const reason = step.skip?.();
  if (reason) return { passed: 0, failed: 0, failures: [], skips: [`${step.name}: ${reason}`], outputs: [], ms: 0 };
  const began = performance.now();
  const { output, code } = await run(step);
  const outputs = code === 0 ? [] : failureOutputs(output);
  const sum = (step.count ?? countSingleCheck)(output, code);
  const retry = code === 0 ? null : step.retry?.(output);
  // More failures than failed tests mean that a test program ended early, which is not a race.
  const isRetried = retry && sum.failed === retry.names.length;
  const unstable = isRetried ? await passedRetries(retry) : [];
  return { ...(unstable.length > 0 ? countUnstableAsPassed(sum, unstable) : sum), outputs, ms: performance.now() - began };
}

/** Returns the names of the tests that pass every retry. */
async function passedRetries({ names, step }) {
  let passed = names;
  for (let count = 0; count < RETRIES && passed.length > 0; count++) {
    const { output, code } = await run(step);
    const failed = failedTests(output);
    if (code !== 0 && failed.length === 0) return [];
    passed = passed.filter((name) => !failed.includes(name));
  }
  return passed;
}

/** Prints the results. The most important lines come last, because the start of a long log is often cut. */
function printTable(rows) {
  for (const output of rows.flatMap(({ outputs }) => outputs)) console.log(`\n${output}`);
  console.log('');
  for (const skip of rows.flatMap(({ skips }) => skips)) console.log(`skipped ${skip}`);
  console.log('');
  for (const { name, passed, failed, skips, ms } of rows) {
    console.log(
      `${failed ? 'FAILED' : 'ok    '} ${name.padEnd(16)} ${passed} passed, ${failed} failed, ${skips.length} skipped in ${seconds(ms)}`,
    );
  }
  for (const name of rows.flatMap(({ unstable }) => unstable ?? [])) console.log(`unstable ${name}: failed, then passed when retried`);
  for (const name of rows.flatMap(({ failures }) => failures)) console.log(`FAILED ${name}`);
  const sum = (count) => rows.reduce((total, row) => total + count(row), 0);
  const [passed, failed, skipped] = [sum((row) => row.passed), sum((row) => row.failed), sum((row) => row.skips.length)];
  console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`);
  return failed === 0 && passed > 0;
}

/** Removes mounts and loop devices under target/tmp that killed tests left behind. */
function removeLeftovers() {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n').map((line) => line.split(' ')[1] ?? '');
  for (const point of mounts.filter((point) => point.startsWith(`${TMP}/`)).reverse()) spawnSync('umount', [point]);
  const loops = spawnSync('losetup', ['--list', '--noheadings', '--output', 'NAME,BACK-FILE'], { encoding: 'utf8' }).stdout ?? '';
  for (const line of loops.split('\n').filter((line) => line.includes(` ${TMP}/`))) spawnSync('losetup', ['--detach', line.split(' ')[0]]);
}

removeLeftovers();
// Remove old reports, so that they are not counted.
for (const folder of [LOGS, TMP]) rmSync(folder, { recursive: true, force: true });
for (const folder of [LOGS, TMP]) mkdirSync(folder, { recursive: true });

const rows = [];
for (const step of STEPS) rows.push({ name: step.name, ...(await result(step)) });
process.exit(printTable(rows) ? 0 : 1);
