// Measures the overhead of the server and its viewers: runs the same job with the runner alone,
// through the server, with the run page open in Chromium, and with idle WebSockets, in interleaved
// rounds. Also measures the time to the first sample and the sample rate. Requires
// `make build`. Usage: node tools/viewer-cost.mjs [ROUNDS] [SECONDS] [IDLE_SOCKETS]
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAccepted, openWebSocket } from './websocket.mjs';

const ROOT = join(import.meta.dirname, '..');
const require = createRequire(join(ROOT, 'web/package.json'));
const { chromium } = require('@playwright/test');
const [rounds = 7, seconds = 4, sockets = 1000] = process.argv.slice(2).map(Number);
const PORT = 7190;
const bin = (name) => join(ROOT, 'target/release', name);
const home = mkdtempSync(join(ROOT, 'target/viewer-cost-'));
const job = { name: 'cost', filename: 't1', size: '256m', rw: 'randread', bs: '4k', iodepth: 8, direct: 1, runtime: seconds, time_based: 1 };

const server = spawn(bin('leadline'), ['serve', '--data-dir', home, '--listen', `127.0.0.1:${PORT}`], { stdio: ['ignore', 'pipe', 'inherit'] });
let output = '';
server.stdout.setEncoding('utf8').on('data', (text) => {
  output += text;
});
while (!/Open .*\n/.test(output)) await sleep(50);
const [, url] = output.match(/Open +(http:\/\/[^/]+)\//);
const token = readFileSync(join(home, 'token'), 'utf8').trim();
const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
const api = async (path, body) => (await fetch(`${url}/api/v1${path}`, { headers, method: body ? 'POST' : 'GET', body: body && JSON.stringify(body) })).json();

/**
 * Starts a run and reads its stream. Returns the time to the first sample, samples per second, and
 * IOPS.
 */
async function runOnServer() {
  const began = performance.now();
  const { number } = await api('/runs', { jobs: [job] });
  const stream = await fetch(`${url}/api/v1/runs/${number}/stream`, { headers });
  let first = null;
  let samples = 0;
  let rest = '';
  for await (const part of stream.body.pipeThrough(new TextDecoderStream())) {
    const lines = (rest + part).split('\n');
    rest = lines.pop();
    for (const line of lines.filter((line) => line.includes('"type":"sample"'))) {
      first ??= performance.now() - began;
      samples += JSON.parse(line).phase === 'measure' ? 1 : 0;
    }
  }
  const run = await api(`/runs/${number}`);
  return { iops: run.report.read.iops, first_sample_ms: first, samples_per_second: (samples * 1000) / run.report.duration_ms };
}

function runAlone() {
  const file = join(home, 'job.json');
  writeFileSync(file, JSON.stringify({ ...job, filename: join(home, 'targets/t1') }));
  const out = execFileSync(bin('leadline-runner'), ['run', file, '--json'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
  return { iops: JSON.parse(out).report.read.iops };
}

const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox', '--disable-gpu'] });
async function runWatched() {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.request.post(`${url}/login`, { data: { token }, headers: { origin: url } });
  const next = (await api('/runs?limit=1')).runs[0].number + 1;
  const result = runOnServer();
  await sleep(100);
  await page.goto(`${url}/runs/${next}`);
  const done = await result;
  await page.close();
  return done;
}

/** Runs the job with open sockets that receive only run status changes. */
async function runWithIdleSockets() {
  const open = () => openWebSocket({ port: PORT, token, path: '/events' });
  const opened = await Promise.all(Array.from({ length: sockets }, open));
  const rejected = opened.filter((one) => !isAccepted(one)).length;
  if (rejected > 0) throw new Error(`${rejected} of ${sockets} sockets were rejected`);
  const result = await runOnServer();
  for (const { socket } of opened) socket.destroy();
  return result;
}

const arms = { alone: runAlone, server: runOnServer, watched: runWatched, idle: runWithIdleSockets };
const results = { alone: [], server: [], watched: [], idle: [] };
await runOnServer(); // lays out the file
for (let round = 0; round < rounds; round++) {
  for (const name of Object.keys(arms).sort(() => Math.random() - 0.5)) results[name].push(await arms[name]());
}
await browser.close();
server.kill('SIGTERM');
rmSync(home, { recursive: true, force: true });

const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const ratios = (name) => results[name].map((one, round) => one.iops / results.alone[round].iops);
const spread = (values) => `${Math.min(...values).toFixed(3)} to ${Math.max(...values).toFixed(3)}`;
console.log(`${rounds} rounds of ${seconds} s, 4k random read, direct, depth 8; runner alone: ${Math.round(median(results.alone.map((one) => one.iops)))} IOPS (median)`);
for (const name of ['server', 'watched', 'idle']) {
  console.log(`${name} ÷ alone: ${median(ratios(name)).toFixed(3)} (median of ratios; ${spread(ratios(name))})`);
  const of = (field) => results[name].map((one) => one[field]);
  console.log(`  first sample after ${Math.round(median(of('first_sample_ms')))} ms (max ${Math.round(Math.max(...of('first_sample_ms')))}), ${median(of('samples_per_second')).toFixed(1)} samples per second`);
}
const change = results.idle.map((one, round) => one.iops / results.server[round].iops).sort((a, b) => a - b);
// The second-lowest and second-highest of nine ratios are the bounds of a 96 % confidence interval.
const [low, high] = rounds < 9 ? [change.at(0), change.at(-1)] : [change.at(1), change.at(-2)];
console.log(`${sockets} idle sockets ÷ none: ${median(change).toFixed(3)} (${low.toFixed(3)} to ${high.toFixed(3)})`);
