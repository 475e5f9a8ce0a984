// Builds the Rust tests with Clippy's lints as errors, and runs the test programs two at a time:
// most of them end with a few tests that wait, so one at a time leaves the processors idle. Prints
// the output of each program when it exits. `cargo test` would run them one at a time, and `cargo
// clippy` would compile all dependencies a second time.
//
// `node tools/rust-tests.mjs build` only builds. Other arguments are passed to the test programs.
import { spawn, spawnSync } from 'node:child_process';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(import.meta.dirname, '..');
const PROGRAMS_AT_A_TIME = 2;
/** Most tests wait for runs, devices and servers, so a processor can run several at a time. */
const TESTS_PER_PROCESSOR = 2;

/**
 * `clippy-driver` compiles like rustc and lints at the same time. The separator is that of
 * cargo-clippy, which passes its arguments in the same way.
 */
const LINTS = {
  RUSTC_WORKSPACE_WRAPPER: 'clippy-driver',
  CLIPPY_ARGS: ['-D', 'warnings', ''].join('__CLIPPY_HACKERY__'),
};
const BUILD = ['test', '--workspace', '--locked', '--no-run'];

/** The test programs in the JSON messages of `cargo test --no-run`, with their working directories. */
export function parsePrograms(output) {
  const messages = output.split('\n').filter((line) => line.startsWith('{')).map((line) => JSON.parse(line));
  const tests = messages.filter(({ reason, profile, executable }) => reason === 'compiler-artifact' && profile.test && executable);
  return tests.map(({ executable, manifest_path, target }) => ({
    name: `${target.kind[0]} ${target.name}`,
    executable,
    directory: dirname(manifest_path),
  }));
}

/** Calls `work` for every item, for at most `limit` items at a time. */
export async function forEachConcurrently(items, limit, work) {
  const queue = [...items];
  const worker = async () => {
    for (let item = queue.shift(); item !== undefined; item = queue.shift()) await work(item);
  };
  await Promise.all(Array.from({ length: limit }, worker));
}

function cargo(args, stdout) {
  const env = { ...process.env, ...LINTS };
  return spawnSync('cargo', args, { cwd: ROOT, env, encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', stdout, 'inherit'] });
}

/** Resolves to the exit code. */
function run({ name, executable, directory }, args) {
  console.log(`[rust tests] started ${name}`);
  const started = performance.now();
  return new Promise((resolve) => {
    let output = '';
    const child = spawn(executable, args, { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
    const collect = (text) => {
      output += text;
    };
    child.stdout.setEncoding('utf8').on('data', collect);
    child.stderr.setEncoding('utf8').on('data', collect);
    child.on('error', ({ message }) => collect(`${executable}: ${message}\n`));
    child.on('close', (code, signal) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(0);
      console.log(`\n${output}\n[rust tests] ${name} exited after ${seconds} s with ${signal ?? code}`);
      resolve(code ?? 1);
    });
  });
}

async function main(args) {
  const build = cargo(BUILD, 'inherit');
  if (build.status !== 0 || args[0] === 'build') return build.status ?? 1;
  const programs = parsePrograms(cargo([...BUILD, '--message-format=json'], 'pipe').stdout);
  const codes = [];
  const threads = `--test-threads=${TESTS_PER_PROCESSOR * availableParallelism()}`;
  await forEachConcurrently(programs, PROGRAMS_AT_A_TIME, async (program) => {
    codes.push(await run(program, [threads, ...args]));
  });
  return codes.length > 0 ? Math.max(...codes) : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(await main(process.argv.slice(2)));
