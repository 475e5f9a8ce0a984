// Measures the Compare page with 8 groups of 20 runs: the comparison request's duration, the
// time until the table is shown and the page responds, and the time until all series are loaded.
// Requires `make build` and the `comparison_speed` test's database (LEADLINE_SPEED_COPY=FILE).
// Usage: node tools/compare-speed.mjs FILE [PROFILE]
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const ROOT = join(import.meta.dirname, '..');
const require = createRequire(join(ROOT, 'web/package.json'));
const { chromium } = require('@playwright/test');
const [file, profile = 'release'] = process.argv.slice(2);
const ROUNDS = 5;
const GROUPS = [...'abcdefgh'].map((letter, index) => `${letter}=tag:group${index}`).join('&');

const home = mkdtempSync(join(ROOT, 'target/compare-speed-'));
copyFileSync(file, join(home, 'leadline.db'));
const program = join(ROOT, 'target', profile, 'leadline');
const options = ['serve', '--data-dir', home, '--listen', '127.0.0.1:0', '--no-auth'];
const server = spawn(program, options, { stdio: ['ignore', 'pipe', 'ignore'] });
let output = '';
server.stdout.setEncoding('utf8').on('data', (text) => {
  output += text;
});
while (!/Open .*\n/.test(output)) await sleep(50);
const [, url] = output.match(/Open +(http:\/\/[^/\s]+)/);

const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
await page.goto(`${url}/runs`);
await sleep(2000);
for (let round = 0; round < ROUNDS; round++) {
  let began = performance.now();
  const since = () => Math.round(performance.now() - began);
  await (await fetch(`${url}/api/v1/compare?${GROUPS}`)).arrayBuffer();
  const comparison = since();
  began = performance.now();
  await page.goto(`${url}/compare?${GROUPS}`);
  await page.getByRole('region', { name: /^Metrics/ }).waitFor();
  // Wait until the main thread has drawn a frame and run another task.
  await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done))));
  const interactive = since();
  await page.waitForLoadState('networkidle');
  console.log(`comparison ${comparison} ms, page interactive ${interactive} ms, loaded ${since()} ms`);
}
await browser.close();
server.kill();
rmSync(home, { recursive: true });
