// A real server of a test's own: a temporary data directory, a free port, a token, and the power to kill it. Nothing is
// left behind: the directory goes with the server.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';

const PROGRAM = process.env.LEADLINE_PROGRAM ?? '../target/debug/leadline';
const TOKEN = '0123456789abcdef0123456789abcdef';
/** How long a start may take, in ms. */
const START_MS = 15_000;

/** A server that a test may use, kill and start again on the same data and port. */
export class Server {
  private child: ChildProcess | undefined;
  private readonly directory = mkdtempSync(join(tmpdir(), 'leadline-e2e-'));
  /** Such as http://127.0.0.1:40123, without a slash at the end. */
  url = '';

  /** Starts it and waits until it says where it listens. Only with its usual token it can be called and signed in to. */
  async start(token = TOKEN) {
    const listen = this.url ? new URL(this.url).host : '127.0.0.1:0';
    const child = spawn(
      PROGRAM,
      ['serve', '--listen', listen, '--data-dir', this.directory, '--token', token],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    this.child = child;
    this.url = await new Promise<string>((resolve, reject) => {
      let said = '';
      const hear = (data: Buffer) => {
        said += data.toString();
        const found = /(http:\/\/[\d.:]+)\/login/.exec(said)?.[1];
        if (found) resolve(found);
      };
      child.stdout?.on('data', hear);
      child.stderr?.on('data', hear);
      child.on('error', reject);
      child.on('exit', (code) => reject(new Error(`the server ended with ${code}: ${said}`)));
      setTimeout(
        () => reject(new Error(`the server does not say where it listens: ${said}`)),
        START_MS,
      ).unref();
    });
  }

  /** Ends it at once, as a power cut would. */
  async kill() {
    const child = this.child;
    if (!child || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await gone;
  }

  /** Ends it and removes its data. */
  async remove() {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  /** Calls the interface with the token. */
  async call<T>(method: string, path: string, body?: unknown): Promise<T> {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    const response = await fetch(`${this.url}/api/v1${path}`, {
      method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!response.ok)
      throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as T;
  }

  /** Starts a run and waits for its end. */
  async finish(run: object): Promise<number> {
    const { number } = await this.call<{ number: number }>('POST', '/runs', run);
    await expect
      .poll(async () => (await this.call<{ status: string }>('GET', `/runs/${number}`)).status, {
        timeout: 30_000,
      })
      .toMatch(/done|failed/);
    return number;
  }

  /** Opens the printed link, as its reader would. */
  async signIn(page: Page) {
    await page.goto(`${this.url}/login?token=${TOKEN}`);
    await expect(page.getByRole('link', { name: 'Leadline' })).toBeVisible();
  }
}

/** A short job on a small file; `change` sets other options. */
export const shortRun = (name: string, change: object = {}) => ({
  name,
  jobs: [
    {
      name: 'short',
      filename: 'short',
      rw: 'randread',
      bs: '4k',
      iodepth: 4,
      direct: 1,
      size: '16m',
      runtime: '1s',
      time_based: 1,
      ...change,
    },
  ],
});

/** Tests with a server a worker, and a page that is signed in and never asks anybody else for anything. */
export const test = base.extend<{ signedIn: Page }, { server: Server }>({
  server: [
    // biome-ignore lint/correctness/noEmptyPattern: this is how a fixture without others is written
    async ({}, use) => {
      const server = new Server();
      await server.start();
      await use(server);
      await server.remove();
    },
    { scope: 'worker' },
  ],
  signedIn: async ({ page, server }, use) => {
    const strangers: string[] = [];
    const faults: string[] = [];
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== server.url) strangers.push(request.url());
    });
    page.on('pageerror', (error) => faults.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && /Content Security Policy/.test(message.text()))
        faults.push(message.text());
    });
    await server.signIn(page);
    await use(page);
    expect(strangers, 'requests that leave the host').toEqual([]);
    expect(faults, 'errors in the page').toEqual([]);
  },
});

export { expect };
