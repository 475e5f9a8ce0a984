// Frame times and JavaScript heap of the page of a live run, without input and while the pointer
// moves over its charts. Frame times are the intervals between requestAnimationFrame callbacks in
// headless Chromium, which renders in software. The heap is measured after a garbage collection.
//
//     node tools/page-frames.mjs URL TOKEN RUN [seconds]
//
// Needs a running server and the number of a live run.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../web/package.json', import.meta.url));
const { chromium } = require('@playwright/test');
const [url, token, run, seconds = '20'] = process.argv.slice(2);
const MEASURED_MS = Number(seconds) * 1000;
const WARM_UP_MS = 3000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs in the page: intervals between frames in milliseconds, sorted. */
const intervals = (duration_ms) =>
  new Promise((resolve) => {
    const found = [];
    let last = performance.now();
    const end = last + duration_ms;
    const frame = () => {
      const now = performance.now();
      found.push(now - last);
      last = now;
      if (now < end) requestAnimationFrame(frame);
      else resolve(found.sort((a, b) => a - b));
    };
    requestAnimationFrame(frame);
  });

const percentile = (sorted, share) => sorted[Math.floor((sorted.length - 1) * share)].toFixed(1);

function print(name, sorted) {
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => percentile(sorted, share));
  process.stdout.write(`${name}: ${sorted.length} frames, p50 ${p50}, p99 ${p99}, max ${max} ms\n`);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  // High enough for all charts to be visible, so that all are drawn.
  const page = await browser.newPage({ viewport: { width: 1440, height: 1400 } });
  await page.request.post(`${url}/login`, { data: { token }, headers: { origin: url } });
  await page.goto(`${url}/runs/${run}`);
  await page.getByText(/^mean \d/).waitFor();
  await pause(WARM_UP_MS);
  print('live samples', await page.evaluate(intervals, MEASURED_MS));

  const chart = await page.locator('.chart .canvas').first().boundingBox();
  const end = Date.now() + MEASURED_MS;
  const measured = page.evaluate(intervals, MEASURED_MS);
  for (let step = 0; Date.now() < end; step += 1) {
    const x = chart.x + 70 + ((step * 7) % (chart.width - 80));
    await page.mouse.move(x, chart.y + chart.height / 2);
    await pause(8);
  }
  print('pointer over a chart', await measured);

  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const charts = await page.locator('.chart canvas').count();
  process.stdout.write(`heap: ${(usedSize / 1e6).toFixed(1)} MB; ${charts} charts\n`);
} finally {
  await browser.close();
}
