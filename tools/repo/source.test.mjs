// Source file rules that no compiler checks: `unsafe`, module headers, size, names, leftovers.
import { test } from 'node:test';
import { findMentions, lines, reject, sources } from './sources.mjs';

const RUST = ['protocol/src', 'runner/src', 'runner/tests', 'server/src', 'server/tests', 'bench/src', 'lab/src', 'stats/src', 'stats/tests', 'compare/src', 'export/src'];
const SCRIPTS = ['web/src', 'web/e2e', 'web/screenshots', 'tools'];
const rust = () => RUST.flatMap((folder) => sources(folder, ['.rs']));
const scripts = () => SCRIPTS.flatMap((folder) => sources(folder, ['.ts', '.tsx', '.mjs']));

/** Files that may contain `unsafe` code, with the system call or memory access that needs it. */
const UNSAFE = {
  'runner/src/load/engine.rs': 'the guarantee that a buffer outlives its I/O',
  'runner/src/load/engine/': 'buffers that the kernel writes to, io_uring_enter(2), pread(2), ioctl(2)',
  'runner/src/load/measure.rs': "the engine's safety contract",
  'runner/src/load/measure/tests': 'test engines',
  'runner/src/load/source/rate_limited/tests.rs': 'test engines',
  'runner/src/load/worker/affinity.rs': 'ioprio_set(2)',
  'runner/src/load/worker/engine_overhead.rs': 'the safety contracts of a wrapped ring and engine',
  'runner/src/load/worker/instructions/': 'fork(2) and ptrace(2)',
  'runner/src/run/worker_pool.rs': 'the signal that wakes a worker',
  'runner/src/system/buffers.rs': 'mmap(2)',
  'runner/src/system/clock/tsc.rs': 'the time stamp counter',
  'runner/src/system/guard/backing_file.rs': 'sync_file_range(2)',
  'runner/src/system/guard/file_use.rs': 'fcntl(2) with F_SETLEASE and F_GETLK',
  'runner/src/system/host/aio_support.rs': 'io_setup(2)',
  'runner/src/system/host/cachestat.rs': 'cachestat(2), mincore(2)',
  'runner/src/system/host/dm_table.rs': 'DM_TABLE_STATUS',
  'runner/src/system/host/fiemap.rs': 'FS_IOC_FIEMAP',
  'runner/src/system/host/ioctl.rs': 'ioctl(2) on block devices',
  'runner/src/system/host/open_files.rs': 'kcmp(2)',
  'runner/src/system/probes/rusage.rs': 'getrusage(2)',
  'runner/src/system/target/layout/blocks.rs': 'aligned memory for direct writes',
};

const MAX_LINES = 400;
/** Integration tests are sequences of cases and may be longer. */
const MAX_TEST_LINES = 700;
/** Files that may be longer, with the reason. */
const LONGER = {
  'protocol/src/job.rs': 'one table',
  'protocol/src/job/fio/table.rs': 'one table',
  'runner/src/analysis/gauge/tests.rs': 'one table of cases',
  'runner/src/analysis/tests/findings.rs': 'one table of cases',
  'runner/src/load/pattern/tests.rs': 'one table of cases',
  'runner/tests/truth/attacks/stacked.rs': 'one table of cases',
  'runner/tests/truth/reads.rs': 'one table of cases',
  'runner/tests/truth/writes/loops.rs': 'one table of cases',
};

const VAGUE = /^(utils?|helpers?|common|misc|managers?|shared)$/;

test('unsafe code is used only where a system call needs it', () => {
  const allowed = Object.keys(UNSAFE);
  const files = sources('runner/src', ['.rs']).filter(
    ({ path }) => !allowed.some((prefix) => path.startsWith(prefix)),
  );
  reject(
    findMentions(files, ['unsafe {', 'unsafe fn', 'unsafe impl']),
    'Use rustix, or add the file to UNSAFE with the system call that needs it.',
  );
});

test('every unsafe block has a SAFETY comment', () => {
  const NEAR = 6;
  const offenses = sources('runner/src', ['.rs']).flatMap((file) => {
    const all = file.text.split('\n');
    return lines(file, { code: true })
      .filter(({ line }) => line.includes('unsafe {') || line.includes('unsafe impl'))
      .filter(({ number }) => !all.slice(Math.max(0, number - NEAR - 1), number).some((line) => line.includes('SAFETY:')))
      .map(({ number, line }) => `${file.path}:${number}: ${line.trim()}`);
  });
  reject(offenses, 'Add a `// SAFETY:` comment above it that explains why it is sound.');
});

test('the server and the protocol forbid unsafe', () => {
  const roots = ['server/src/lib.rs', 'server/src/main.rs', 'protocol/src/lib.rs'];
  const files = [...sources('server/src', ['lib.rs', 'main.rs']), ...sources('protocol/src', ['lib.rs'])];
  const offenses = files
    .filter(({ path, text }) => roots.includes(path) && !text.includes('#![forbid(unsafe_code)]'))
    .map(({ path }) => path);
  reject(offenses, 'Begin the crate with #![forbid(unsafe_code)].');
});

test('every module has a header comment', () => {
  const missing = rust().filter(({ text }) => !text.startsWith('//!'));
  const withoutHeader = scripts().filter(({ path, text }) => !text.startsWith('//') && !path.includes('.test.'));
  reject([...missing, ...withoutHeader].map(({ path }) => path), 'Start the file with a header comment of 1 to 8 lines: what it contains, how it works, and what is in other files.');
});

test('files stay short', () => {
  const count = ({ text }) => text.split('\n').length - 1;
  const limit = ({ path }) => (/^\w+\/tests\//.test(path) ? MAX_TEST_LINES : MAX_LINES);
  const offenses = [...rust(), ...scripts()]
    .filter((file) => count(file) > limit(file) && !(file.path in LONGER))
    .map((file) => `${file.path}: ${count(file)} lines`);
  const stale = rust().filter((file) => file.path in LONGER && count(file) <= MAX_LINES);
  reject(offenses, 'Split it by topic; add a file that is a single table to LONGER with that reason.');
  reject(stale.map(({ path }) => path), 'Remove it from LONGER.');
});

test('file names describe their contents', () => {
  const isVague = ({ path }) => path.split('/').slice(1).some((part) => VAGUE.test(part.split('.')[0]));
  reject([...rust(), ...scripts()].filter(isVague).map(({ path }) => path), 'Name the file for its contents.');
});

test('no leftovers', () => {
  const everywhere = ['TODO', 'FIXME', 'XXX', 'dbg!(', 'todo!(', 'unimplemented!(', '#[ignore]', '.skip(true', '@ts-ignore'];
  const inScripts = ['console.log(', '.only(', 'as any'];
  const here = new URL(import.meta.url).pathname.split('/').at(-1);
  const files = [...rust(), ...scripts()].filter(({ path }) => !path.endsWith(`repo/${here}`));
  const offenses = files.flatMap((file) => {
    const isWeb = file.path.startsWith('web/');
    const words = isWeb ? [...everywhere, ...inScripts] : everywhere;
    return lines(file)
      .filter(({ line }) => words.some((word) => line.includes(word)))
      .map(({ number, line }) => `${file.path}:${number}: ${line.trim()}`);
  });
  reject(offenses, 'Finish it, or open an issue.');
});
