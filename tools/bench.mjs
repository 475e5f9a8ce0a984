// `make bench`: the runner beside fio on the same file, in interleaved rounds. Prints the median of the per-round ratios with
// its spread and writes target/bench/spine.json.
//
// The work is lined up: same file, block size, depth and time, offsets that may repeat (no random map), no page dropped
// unasked, all latencies recorded, pinned to one processor when there are several. What is not lined up is what is compared:
// how each draws, submits and reaps. t/io_uring records no latencies at all.
//
// BENCH_ROUNDS (5), BENCH_SECONDS (3) and BENCH_DIR (target/bench) change how; T_IO_URING is the path of fio's t/io_uring.
import { execFileSync } from 'node:child_process';
import { randomFillSync } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { availableParallelism, cpus, release } from 'node:os';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5);
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3);
const FOLDER = process.env.BENCH_DIR ?? join(ROOT, 'target/bench');
const FILE = join(FOLDER, 'spine.data');
const FILE_BYTES = 256 * 1024 * 1024;
const PIECE_BYTES = 4 * 1024 * 1024;
/** fio's IOPS and ours differ by less than this on a cell that the device bounds (issue "From click to chart"). */
const DEVICE_BOUND_LIMIT = 0.03;

const CELLS = [
  { name: 'direct 4k randread, io_uring, depth 8', ioengine: 'io_uring', iodepth: 8, direct: 1, limit: DEVICE_BOUND_LIMIT },
  { name: 'direct 4k randread, psync', ioengine: 'psync', iodepth: 1, direct: 1, limit: DEVICE_BOUND_LIMIT },
  { name: 'page-cache-hot 4k randread, io_uring, depth 32', ioengine: 'io_uring', iodepth: 32, direct: 0 },
  { name: 'page-cache-hot 4k randread, psync', ioengine: 'psync', iodepth: 1, direct: 0 },
];

/** Runs on the last processor, as the first one gets most interrupts. */
function pinned(command, args, input) {
  const all = availableParallelism() > 1 ? ['taskset', '-c', String(availableParallelism() - 1), command, ...args] : [command, ...args];
  return execFileSync(all[0], all.slice(1), { input, encoding: 'utf8', maxBuffer: 1 << 28, stdio: ['pipe', 'pipe', 'inherit'] });
}

function ours(cell) {
  const { ioengine, iodepth, direct } = cell;
  const job = { name: 'spine', filename: FILE, size: FILE_BYTES, rw: 'randread', bs: '4k', ioengine, iodepth, direct };
  const how = { norandommap: 1, invalidate: 0, runtime: `${SECONDS}s`, time_based: 1 };
  const output = pinned(join(ROOT, 'target/release/leadline-runner'), ['run', '-', '--json'], JSON.stringify({ ...job, ...how }));
  const { report } = JSON.parse(output);
  const { iops, lat_ns } = report.read;
  return { iops, p50_ns: lat_ns.percentiles['50'], p99_ns: lat_ns.percentiles['99'], user_ns_per_io: report.jobs[0].user_ns_per_io };
}

function fio(cell) {
  const options = { name: 'spine', filename: FILE, size: FILE_BYTES, rw: 'randread', bs: '4k', runtime: SECONDS, time_based: 1 };
  const how = { norandommap: 1, invalidate: 0, lat_percentiles: 1, clat_percentiles: 0, 'output-format': 'json' };
  const { ioengine, iodepth, direct } = cell;
  const args = Object.entries({ ...options, ioengine, iodepth, direct, ...how }).map(([name, value]) => `--${name}=${value}`);
  const output = pinned('fio', args);
  const { read, usr_cpu, job_runtime } = JSON.parse(output.slice(output.indexOf('{'))).jobs[0];
  const { '50.000000': p50_ns, '99.000000': p99_ns } = read.lat_ns.percentile;
  return { iops: read.iops, p50_ns, p99_ns, user_ns_per_io: ((usr_cpu / 100) * job_runtime * 1e6) / read.total_ios };
}

/** fio's own stripped-down loop. */
function tIoUring(cell) {
  const batch = Math.max(1, cell.iodepth >> 1);
  const flags = { d: cell.iodepth, s: batch, c: batch, b: 4096, p: 0, B: 0, F: 1, O: cell.direct, n: 1, r: SECONDS };
  const sync = cell.ioengine === 'psync' ? ['-S1'] : [];
  const output = pinned(process.env.T_IO_URING, [...Object.entries(flags).map(([flag, value]) => `-${flag}${value}`), ...sync, FILE]);
  const scale = { '': 1, K: 1e3, M: 1e6 };
  const seconds = [...output.matchAll(/^IOPS=([\d.]+)([KM]?),/gm)].map(([, number, unit]) => Number(number) * scale[unit]);
  return { iops: median(seconds) };
}

const CONTENDERS = { ours, fio, ...(process.env.T_IO_URING && { 't/io_uring': tIoUring }) };

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

function shuffled(values) {
  return values.map((value) => [Math.random(), value]).sort(([a], [b]) => a - b).map(([, value]) => value);
}

function layOut() {
  mkdirSync(FOLDER, { recursive: true });
  const piece = Buffer.alloc(PIECE_BYTES);
  const file = openSync(FILE, 'w');
  for (let at = 0; at < FILE_BYTES; at += PIECE_BYTES) writeSync(file, randomFillSync(piece), 0, PIECE_BYTES, at);
  fsyncSync(file);
  closeSync(file);
}

function warm() {
  const piece = Buffer.alloc(PIECE_BYTES);
  const file = openSync(FILE, 'r');
  for (let at = 0; at < FILE_BYTES; at += PIECE_BYTES) readSync(file, piece, 0, PIECE_BYTES, at);
  closeSync(file);
}

function round(cell) {
  if (!cell.direct) warm();
  return Object.fromEntries(shuffled(Object.keys(CONTENDERS)).map((name) => [name, CONTENDERS[name](cell)]));
}

function compare(rounds, other) {
  const ratios = rounds.map((row) => row.ours.iops / row[other].iops);
  return { median: median(ratios), min: Math.min(...ratios), max: Math.max(...ratios) };
}

function print(cell, rounds, ratios) {
  const middle = (name, field) => median(rounds.map((row) => row[name][field]));
  console.log(`[bench] ${cell.name}`);
  for (const name of Object.keys(CONTENDERS)) {
    const iops = Math.round(middle(name, 'iops')).toLocaleString('en');
    const user = rounds[0][name].user_ns_per_io === undefined ? '' : `, ${middle(name, 'user_ns_per_io').toFixed(0)} ns user time an I/O`;
    console.log(`          ${name.padEnd(10)} ${iops.padStart(10)} IOPS${user}`);
  }
  for (const [other, { median, min, max }] of Object.entries(ratios)) {
    const near = Math.abs(median - 1) <= cell.limit ? 'yes' : 'no';
    const judged = cell.limit && other === 'fio' ? `; within ${cell.limit * 100} % of fio: ${near}` : '';
    console.log(`          ours ÷ ${other} ${median.toFixed(3)} (${min.toFixed(3)} to ${max.toFixed(3)}, ${rounds.length} rounds)${judged}`);
  }
}

function measure(cell) {
  const rounds = Array.from({ length: ROUNDS }, () => round(cell));
  const others = Object.keys(CONTENDERS).filter((name) => name !== 'ours');
  const ratios = Object.fromEntries(others.map((other) => [other, compare(rounds, other)]));
  print(cell, rounds, ratios);
  return { ...cell, ratios, rounds };
}

layOut();
const host = { kernel: release(), cpus: cpus().length, cpu_model: cpus()[0]?.model ?? null };
const fioVersion = execFileSync('fio', ['--version'], { encoding: 'utf8' }).trim();
const result = { made_at: new Date().toISOString(), host, fio: fioVersion, seconds: SECONDS, cells: CELLS.map(measure) };
rmSync(FILE);
const target = join(ROOT, 'target/bench/spine.json');
mkdirSync(join(ROOT, 'target/bench'), { recursive: true });
writeFileSync(target, `${JSON.stringify(result, null, 2)}\n`);
console.log(`[bench] written: ${target}`);
