// Playwright fixture: a real server with a temporary data directory, a free port and a token. Its
// data is removed after the tests.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test as base, expect, type Page } from '@playwright/test';

const PROGRAM = process.env.LEADLINE_PROGRAM ?? '../target/debug/leadline';
const TOKEN = '0123456789abcdef0123456789abcdef';
const START_TIMEOUT_MS = 15_000;

/** A server that can be killed and restarted with the same data and port. */
export class Server {
  private child: ChildProcess | undefined;
  /** The server's URL, such as `http://127.0.0.1:40123`. */
  url = '';

  /** `directory` is the data directory. */
  constructor(readonly directory = mkdtempSync(join(tmpdir(), 'leadline-e2e-'))) {}

  /** Process ID of the server. */
  get pid(): number {
    return this.child?.pid ?? 0;
  }

  /**
   * Starts the server and waits for its URL. `call` and `signIn` only work with the default token.
   */
  async start(token = TOKEN, options: readonly string[] = []) {
    const listen = this.url ? new URL(this.url).host : '127.0.0.1:0';
    const child = spawn(
      PROGRAM,
      ['serve', '--listen', listen, '--data-dir', this.directory, '--token', token, ...options],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    );
    this.child = child;
    this.url = await new Promise<string>((resolve, reject) => {
      let output = '';
      const read = (data: Buffer) => {
        output += data.toString();
        const found = /Open +(http:\/\/[\d.:]+)\//.exec(output)?.[1];
        if (found) resolve(found);
      };
      child.stdout?.on('data', read);
      child.stderr?.on('data', read);
      child.on('error', reject);
      child.on('exit', (code) => reject(new Error(`the server exited with ${code}: ${output}`)));
      setTimeout(
        () => reject(new Error(`the server did not print its URL: ${output}`)),
        START_TIMEOUT_MS,
      ).unref();
    });
  }

  /** Kills the server without shutting it down. */
  async kill() {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const exited = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await exited;
  }

  /** Kills the server and removes its data. */
  async remove() {
    await this.kill();
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  /** Calls the API. */
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

  /** Starts a run, waits until it ends, and returns its number. */
  async finish(run: object): Promise<number> {
    const { number } = await this.call<{ number: number }>('POST', '/runs', run);
    await expect
      .poll(async () => (await this.call<{ status: string }>('GET', `/runs/${number}`)).status, {
        timeout: 30_000,
      })
      .toMatch(/done|failed/);
    return number;
  }

  /** Signs in without opening a page. */
  async authenticate(page: Page) {
    const headers = { origin: this.url };
    await page.request.post(`${this.url}/login`, { data: { token: TOKEN }, headers });
  }

  /** Signs in and opens the application. */
  async signIn(page: Page) {
    await this.authenticate(page);
    await page.goto(this.url);
    await expect(page.getByRole('link', { name: 'Leadline' })).toBeVisible();
  }
}

/** A short job with a small file. `change` sets other options. */
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

type UseServer = (server: Server) => Promise<void>;

// biome-ignore lint/correctness/noEmptyPattern: Playwright requires the pattern
async function startServer({}, use: UseServer) {
  const server = new Server();
  await server.start();
  await use(server);
  await server.remove();
}

interface Servers {
  /**
   * Test files with the same value share a server and its runs. A file that needs an empty history
   * or known run numbers sets a unique value, so it gets its own worker and server.
   */
  history: string;
  /** One server per worker. It keeps the runs from all of the worker's test files. */
  server: Server;
}

/** A signed-in page. Page errors and requests to other hosts fail the test. */
export const test = base.extend<{ signedIn: Page }, Servers>({
  history: ['shared', { scope: 'worker', option: true }],
  server: [startServer, { scope: 'worker' }],
  signedIn: async ({ page, server }, use) => {
    const otherRequests: string[] = [];
    const errors: string[] = [];
    page.on('request', (request) => {
      const { origin, protocol } = new URL(request.url());
      if (protocol.startsWith('http') && origin !== server.url) otherRequests.push(request.url());
    });
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error' && /Content Security Policy/.test(message.text()))
        errors.push(message.text());
    });
    await server.signIn(page);
    await use(page);
    expect(otherRequests, 'requests to other hosts').toEqual([]);
    expect(errors, 'errors on the page').toEqual([]);
  },
});

export { expect };
