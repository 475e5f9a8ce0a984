// Measures the frame times and the JavaScript heap of two pages. Frame times are the intervals
// between requestAnimationFrame callbacks in headless Chromium, which renders in software. The heap
// is measured after a garbage collection.
//
//     node tools/page-frames.mjs URL TOKEN RUN [seconds]
//     node tools/page-frames.mjs URL TOKEN editor [seconds] [lines]
//
// Live run page: measured when idle, and while the pointer moves over its charts. Needs
// a live run's number. Job file editor: measured while text is typed in the middle of a file,
// and while the page is scrolled. Both need a running server.
import { createRequire } from 'node:module';

const require = createRequire(new URL('../web/package.json', import.meta.url));
const { chromium } = require('@playwright/test');
const [url, token, run, seconds = '20', lines = '2000'] = process.argv.slice(2);
const MEASURED_MS = Number(seconds) * 1000;
const WARM_UP_MS = 3000;

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Runs in the page. Returns the sorted intervals between frames, in milliseconds. */
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
  const [p50, p95, p99, max] = [0.5, 0.95, 0.99, 1].map((share) => percentile(sorted, share));
  process.stdout.write(
    `${name}: ${sorted.length} frames, p50 ${p50}, p95 ${p95}, p99 ${p99}, max ${max} ms\n`,
  );
}

/** Measures frames while calling `act` repeatedly. */
async function measure(page, name, act) {
  const end = Date.now() + MEASURED_MS;
  const measured = page.evaluate(intervals, MEASURED_MS);
  for (let step = 0; Date.now() < end; step += 1) await act(step);
  print(name, await measured);
}

async function measureLiveRun(page) {
  await page.goto(`${url}/runs/${run}`);
  await page.getByText(/^mean \d/).waitFor();
  await pause(WARM_UP_MS);
  print('live samples', await page.evaluate(intervals, MEASURED_MS));
  const chart = await page.locator('.chart .canvas').first().boundingBox();
  await measure(page, 'pointer over a chart', async (step) => {
    const x = chart.x + 70 + ((step * 7) % (chart.width - 80));
    await page.mouse.move(x, chart.y + chart.height / 2);
    await pause(8);
  });
}

/** Returns a job file with `count` lines and the maximum number of jobs per run. */
function jobFile(count) {
  const sections = 64;
  const perSection = Math.floor(count / sections);
  const section = (_, index) => {
    const options = [
      `[job${index}]`,
      `filename=file${index}`,
      'rw=randread',
      'bs=4k',
      'size=8m',
      'direct=1',
      'runtime=10s',
      'time_based',
    ];
    const comments = Array.from(
      { length: perSection - options.length },
      (_unused, line) => `; ${index}.${line}: why this job has these options`,
    );
    return [...options, ...comments].join('\n');
  };
  return Array.from({ length: sections }, section).join('\n');
}

/** Types in the middle of a long job file, and scrolls. */
async function measureEditor(page) {
  await page.goto(`${url}/new`);
  const area = page.getByRole('textbox', { name: 'Job file' });
  const text = jobFile(Number(lines));
  // `fill` would insert the lines one by one.
  await area.evaluate((element, value) => {
    element.focus();
    element.select();
    element.setRangeText(value);
    element.dispatchEvent(new InputEvent('input', { bubbles: true }));
  }, text);
  await pause(WARM_UP_MS);
  process.stdout.write(`${text.split('\n').length} lines\n`);
  const middle = text.indexOf('\n', Math.floor(text.length / 2));
  await area.evaluate((element, at) => element.setSelectionRange(at, at), middle);
  const typed = '\n; a comment that someone types at a normal speed, with a word or two\niodepth=4';
  await measure(page, 'typing', async (step) => {
    const key = typed[step % typed.length];
    await page.keyboard.press(key === '\n' ? 'Enter' : key);
    await pause(60);
  });
  await page.mouse.move(1200, 700);
  await measure(page, 'scrolling', async (step) => {
    await page.mouse.wheel(0, Math.floor(step / 100) % 2 === 0 ? 120 : -120);
    await pause(16);
  });
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox'],
});
try {
  // The viewport is high enough to show all charts, so that all of them are drawn.
  const page = await browser.newPage({ viewport: { width: 1440, height: 1400 } });
  await page.request.post(`${url}/login`, { data: { token }, headers: { origin: url } });
  if (run === 'editor') await measureEditor(page);
  else await measureLiveRun(page);

  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const charts = await page.locator('.chart canvas').count();
  process.stdout.write(`heap: ${(usedSize / 1e6).toFixed(1)} MB; ${charts} charts\n`);
} finally {
  await browser.close();
}
