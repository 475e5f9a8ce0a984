// Runs a sweep (6 × 4 cells, 3 repeats) and an SNIA IOPS test (3 mixes × 3 block sizes) on a loop
// device from the browser, then each cell with the runner and with fio in random order, and prints
// tables. Requires root (losetup), fio, Chromium and `make build`; takes about 12 minutes.
// Usage: node tools/studies-vs-fio.mjs [PROGRAMS [SCREENSHOTS]]
// Both are directories; the programs are in target/release by default.
import { execFileSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { StudyBrowser } from './studies-vs-fio/browser.mjs';
import { measure, table } from './studies-vs-fio/cells.mjs';

const ROOT = join(import.meta.dirname, '..');
const [programs = join(ROOT, 'target/release'), screenshots] = process.argv.slice(2);

const SIZE_MIB = 256;
const ROUNDS = 3;
const CELL_SECONDS = 1;
const MAX_SNIA_ROUNDS = 8;
const DEPTH = 32;

const home = mkdtempSync(join(ROOT, 'target/studies-vs-fio-'));
const device = attach();
process.on('exit', () => {
  execFileSync('losetup', ['--detach', device]);
  rmSync(home, { recursive: true, force: true });
});
const browser = await StudyBrowser.start({ root: ROOT, programs, home, screenshots });
try {
  const sweep = await browser.sweep({
    job: `[sweep]\nfilename=${device}\nrw=randread\ndirect=1\nruntime=${CELL_SECONDS}\ntime_based`,
    repeats: ROUNDS,
    axes: { iodepth: '1 2 4 8 16 32', bs: '4k 16k 64k 256k' },
  });
  const snia = await browser.snia({
    job: `[snia]\nfilename=${device}\ndirect=1\niodepth=${DEPTH}`,
    cellSeconds: CELL_SECONDS,
    maxRounds: MAX_SNIA_ROUNDS,
    mixes: '100 65 0',
    blocks: '1024k 64k 4k',
  });
  await browser.close();
  const cells = {
    Sweep: sweep.map(({ name, sweep, iops }) => ({
      name,
      study: iops,
      options: { rw: 'randread', ...sweep },
    })),
    'SNIA IOPS test': snia.map(({ mix, block, iops }) => ({
      name: `RW${mix} ${block / 1024}k`,
      study: iops,
      options: { rw: 'randrw', rwmixread: mix, bs: block, iodepth: DEPTH, norandommap: 1 },
    })),
  };
  for (const [title, list] of Object.entries(cells)) {
    const measured = measure({ cells: list, rounds: ROUNDS, seconds: CELL_SECONDS, device, home, programs });
    console.log(`\n${title}\n\n${table(measured)}`);
  }
} finally {
  await browser.close();
}

/** Attaches a loop device with direct I/O to a non-sparse file. */
function attach() {
  const file = join(home, 'disk');
  const descriptor = openSync(file, 'w');
  const block = Buffer.alloc(1 << 20);
  for (let mib = 0; mib < SIZE_MIB; mib++) writeSync(descriptor, randomFillSync(block));
  closeSync(descriptor);
  const options = ['--find', '--show', '--direct-io=on', file];
  return execFileSync('losetup', options, { encoding: 'utf8' }).trim();
}
