// While nothing changes, open pages send no requests, and the server does not start the runner.
// `LEADLINE_IDLE_SECONDS=70 npx playwright test quiet` runs longer, with the default heartbeat
// interval.
import { readdirSync, readFileSync } from 'node:fs';
import { expect, Server, shortRun, test } from './server';

const SECONDS = Number(process.env.LEADLINE_IDLE_SECONDS ?? 6);
const TABS = SECONDS > 60 ? 20 : 4;
const HEARTBEAT_MS = SECONDS > 60 ? 10_000 : 500;
const POLL_MS = 20;

/** Returns the number of a process's children. */
const children = (pid: number) =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) => {
    try {
      return readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8').split(' ').filter(Boolean);
    } catch {
      return []; // The thread has exited.
    }
  }).length;

test('idle tabs only receive heartbeats', async ({ browser }) => {
  test.setTimeout((SECONDS + 60) * 1000);
  const server = new Server();
  await server.start(undefined, ['--heartbeat-ms', String(HEARTBEAT_MS)]);
  try {
    const number = await server.finish(shortRun('finished'));
    const context = await browser.newContext();
    const paths = ['/runs', `/runs/${number}`, '/devices', '/new', '/studies'];
    let heartbeats = 0;
    const requests: string[] = [];
    for (let tab = 0; tab < TABS; tab += 1) {
      const page = await context.newPage();
      page.on('websocket', (socket) => {
        requests.push(socket.url());
        socket.on('framereceived', ({ payload }) => {
          if (String(payload).includes('"heartbeat"')) heartbeats += 1;
        });
      });
      page.on('request', (request) => requests.push(request.url()));
      if (tab === 0) await server.signIn(page);
      await page.goto(server.url + paths[tab % paths.length]);
      await expect(page.getByText(/\d running · \d queued/)).toBeVisible();
    }
    await new Promise((resolve) => setTimeout(resolve, 2000));
    requests.length = 0;
    heartbeats = 0;
    let most = 0;
    for (const end = Date.now() + SECONDS * 1000; Date.now() < end; ) {
      most = Math.max(most, children(server.pid));
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    expect(requests).toEqual([]);
    expect(most, 'runner processes').toBe(0);
    const expected = (TABS * SECONDS * 1000) / HEARTBEAT_MS;
    expect(heartbeats).toBeGreaterThan(expected * 0.7);
    expect(heartbeats).toBeLessThan(expected * 1.3 + TABS);
    const description = `${TABS} tabs, ${SECONDS} s: ${heartbeats} heartbeats, no requests`;
    test.info().annotations.push({ type: 'quiet', description });
    await context.close();
  } finally {
    await server.remove();
  }
});
