// Starts a server with its own data, and a browser that creates studies in the web UI as a user
// would.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const TIMEOUT_MS = 40 * 60_000;
/** Planning reads the device, which takes a long time if other programs use it. */
const PLAN_TIMEOUT_MS = 120_000;
const WIDTHS = [1440, 390];
const SCHEMES = ['light', 'dark'];

export class StudyBrowser {
  /** `screenshots`: directory; none if undefined. */
  static async start({ root, programs, home, screenshots }) {
    const { chromium } = createRequire(join(root, 'web/package.json'))('@playwright/test');
    const options = ['serve', '--data-dir', join(home, 'data'), '--target-root', home];
    const server = spawn(
      join(programs, 'leadline'),
      [...options, '--listen', '127.0.0.1:0', '--no-auth'],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const browser = new StudyBrowser();
    browser.server = server;
    browser.screenshots = screenshots;
    if (screenshots) mkdirSync(screenshots, { recursive: true });
    let output = '';
    server.stdout.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
    while (!/Open .*\n/.test(output)) await sleep(50);
    browser.url = output.match(/Open +(http:\/\/[^/\s]+)/)[1];
    const executablePath = ['/usr/bin/chromium', '/usr/bin/chromium-browser'].find(existsSync);
    browser.chromium = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
    browser.page = await browser.chromium.newPage({ viewport: { width: 1440, height: 900 } });
    return browser;
  }

  async close() {
    await this.chromium?.close();
    this.server.kill();
  }

  /** Returns each cell's name, swept values and median IOPS. */
  async sweep({ job, repeats, axes }) {
    const { page } = this;
    await this.#open(job);
    await page.getByLabel('Repeats per step').fill(String(repeats));
    await page.getByLabel('Maximum idle wait').fill('2');
    for (const [index, [option, values]] of Object.entries(axes).entries()) {
      await page.getByRole('button', { name: 'Add swept option' }).click();
      await page.getByLabel(`Option ${index + 1}`, { exact: true }).fill(option);
      await page.getByLabel(`Values of option ${index + 1}`).fill(values);
    }
    await this.#screenshot('sweep-form');
    const number = await this.#run('sweep');
    const { results } = await this.#get(`/studies/${number}`);
    return results.map(({ sweep, iops }) => ({
      name: sweep.map(({ option, value }) => `${option}=${value}`).join(' '),
      sweep: Object.fromEntries(sweep.map(({ option, value }) => [option, value])),
      iops: iops.median,
    }));
  }

  /** Returns each cell's mix, block size in bytes and mean IOPS. */
  async snia({ job, cellSeconds, maxRounds, mixes, blocks }) {
    const { page } = this;
    await this.#open(job);
    await page.getByLabel('Runs in this study').selectOption('IOPS test');
    await page.getByLabel('Duration per cell (s)').fill(String(cellSeconds));
    await page.getByLabel('Maximum rounds').fill(String(maxRounds));
    for (const [label, values] of [
      ['Read percentages', mixes],
      ['Block sizes', blocks],
    ]) {
      const field = page.getByLabel(label, { exact: true });
      await field.fill(values);
      // The field parses its list when it loses focus.
      await field.blur();
    }
    const confirmation = page.getByLabel(/^Type .+ to confirm$/);
    await confirmation.waitFor({ timeout: PLAN_TIMEOUT_MS });
    const label = await page.getByText(/^Type .+ to confirm$/).textContent();
    await confirmation.fill(label.match(/^Type (.+) to confirm$/)[1]);
    await this.#screenshot('snia-form');
    const number = await this.#run('snia');
    const { cells } = await this.#get(`/studies/${number}/procedure`);
    return cells.map(({ mix, block, value }) => ({ mix, block, iops: value.iops }));
  }

  async #open(job) {
    await this.page.goto(`${this.url}/new?study=1`);
    await this.page.getByRole('button', { name: 'Start over' }).click();
    await this.page.getByRole('textbox', { name: 'Job file' }).fill(job);
  }

  /** Starts the study in the form, and waits until the study page shows that it has ended. */
  async #run(name) {
    const { page } = this;
    const start = page.getByRole('button', { name: 'Start', exact: true });
    await page.locator('button:not([aria-disabled="true"])', { hasText: /^Start$/ }).waitFor({ timeout: PLAN_TIMEOUT_MS });
    const began = performance.now();
    await start.click();
    await page.waitForURL(/\/studies\/\d+$/, { timeout: PLAN_TIMEOUT_MS });
    const number = Number(page.url().split('/').at(-1));
    const { steps_total } = await this.#get(`/studies/${number}`);
    await sleep(15_000);
    await this.#screenshot(`${name}-running`);
    await page.getByText('Done', { exact: true }).first().waitFor({ timeout: TIMEOUT_MS });
    const minutes = ((performance.now() - began) / 60_000).toFixed(1);
    console.log(`${name}: study #${number} of ${steps_total} runs, done after ${minutes} min`);
    await this.#screenshot(`${name}-done`);
    return number;
  }

  async #screenshot(name) {
    if (!this.screenshots) return;
    const { page } = this;
    for (const width of WIDTHS)
      for (const colorScheme of SCHEMES) {
        await page.setViewportSize({ width, height: 900 });
        await page.emulateMedia({ colorScheme });
        await sleep(800);
        const path = join(this.screenshots, `${name}-${width}-${colorScheme}.png`);
        await page.screenshot({ path, fullPage: true });
      }
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: 'light' });
  }

  async #get(path) {
    return (await fetch(`${this.url}/api/v1${path}`)).json();
  }
}
