// Measures the CPU time of a browser tab that shows a live run at ten samples per second, and of an
// empty tab, as percentages of one core. Headless Chromium renders in software.
//
//     node tools/page-cpu.mjs [seconds] [seconds after the start of the run]
//
// Needs target/debug and web/dist.
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const require = createRequire(new URL('../web/package.json', import.meta.url));
const { chromium } = require('@playwright/test');
const SECONDS = Number(process.argv[2] ?? 15);
const AFTER_S = Number(process.argv[3] ?? 10);
const TOKEN = '0123456789abcdef0123456789abcdef';
/** Clock ticks per second in /proc, the same on all supported architectures. */
const TICKS = 100;
const ROOT = new URL('..', import.meta.url).pathname;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Returns the direct and indirect child processes of `parent`. */
function descendants(parent) {
  const children = new Map();
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const fields = statOf(pid);
    if (fields) children.set(fields.ppid, [...(children.get(fields.ppid) ?? []), Number(pid)]);
  }
  const of = (pid) => [pid, ...(children.get(pid) ?? []).flatMap(of)];
  return of(parent);
}

/** Null if the process has exited. */
function statOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { ppid: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return null;
  }
}

/** CPU time used so far by a browser, in seconds. */
const cpuOf = (pid) =>
  descendants(pid).reduce((sum, one) => sum + (statOf(one)?.ticks ?? 0), 0) / TICKS;

async function measureCpuPercent(pid) {
  const begin = performance.now();
  const before = cpuOf(pid);
  await pause(SECONDS * 1000);
  return (100 * (cpuOf(pid) - before)) / ((performance.now() - begin) / 1000);
}

async function startServer(directory) {
  const listen = ['--listen', '127.0.0.1:0', '--data-dir', directory, '--token', TOKEN];
  const server = spawn(join(ROOT, 'target/debug/leadline'), ['serve', ...listen]);
  const url = await new Promise((resolve) => {
    let output = '';
    for (const stream of [server.stdout, server.stderr])
      stream.on('data', (data) => {
        output += data;
        const found = /Open +(http:\/\/[\d.:]+)\//.exec(output)?.[1];
        if (found) resolve(found);
      });
  });
  return { server, url };
}

async function startRun(url) {
  const job = { filename: 'cpu', rw: 'randread', bs: '4k', iodepth: 4, direct: 1, size: '16m' };
  // A low I/O rate, so that the run does not compete with the browser for CPU time.
  const jobs = [{ ...job, rate_iops: 500, runtime: '300s', time_based: 1 }];
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'cpu', jobs });
  const response = await fetch(`${url}/api/v1/runs`, { method: 'POST', headers, body });
  return (await response.json()).number;
}

const directory = mkdtempSync(join(tmpdir(), 'leadline-cpu-'));
const { server, url } = await startServer(directory);
const launched = await chromium.launchServer({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  const browser = await chromium.connect(launched.wsEndpoint());
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const { pid } = launched.process();
  await page.goto('about:blank');
  await pause(3000);
  const empty = await measureCpuPercent(pid);
  await page.request.post(`${url}/login`, { data: { token: TOKEN }, headers: { origin: url } });
  await page.goto(`${url}/runs/${await startRun(url)}`);
  await page.getByText(/^mean \d/).waitFor();
  await pause(AFTER_S * 1000);
  const live = await measureCpuPercent(pid);
  const print = (name, percent) => process.stdout.write(`${name}: ${percent.toFixed(1)} % of a core\n`);
  print('empty tab', empty);
  print('live run', live);
  print('difference', live - empty);
} finally {
  await launched.close();
  server.kill('SIGTERM');
  await new Promise((resolve) => server.once('exit', resolve));
  rmSync(directory, { recursive: true, force: true });
}
