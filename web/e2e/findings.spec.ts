// Buttons in findings: rerun with different options, and copy a shell command.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from '@playwright/test';
import type { Finding, Run } from '../src/api';
import { expect, type Server, shortRun, test } from './server';

interface Case {
  code: string;
  button: string;
  /** Options that the rerun must have. `removed` lists options that it must not have. */
  options: Record<string, unknown>;
  removed?: readonly string[];
  run: object;
  /** A run on the same target that is executed first. */
  before?: object;
  /** Cancel the run after its first sample. */
  isCancelled?: boolean;
}

const BUFFERED = { direct: 0, ioengine: 'psync', iodepth: 1, runtime: '500ms' };
const WINDOW = { steadystate: 'iops:0.0001%', steadystate_duration: '2s' };

const CASES: readonly Case[] = [
  {
    code: 'short_run',
    button: 'Run for 60 s',
    options: { runtime: '60s', time_based: 1 },
    run: shortRun('short', { ioengine: 'null', runtime: '300ms' }),
  },
  {
    code: 'stopped_early',
    button: 'Run again',
    options: { runtime: '50s' },
    run: shortRun('stopped', { ioengine: 'null', runtime: '50s' }),
    isCancelled: true,
  },
  {
    code: 'depth_is_one',
    button: 'Rerun with io_uring',
    options: { ioengine: 'io_uring' },
    run: shortRun('one at a time', { ioengine: 'psync', runtime: '300ms' }),
  },
  {
    code: 'steady_state_not_reached',
    button: 'Run up to four times as long',
    options: { runtime: '12000ms' },
    run: shortRun('unsteady', { runtime: '3s', ...WINDOW }),
  },
  {
    code: 'warm_cache',
    button: 'Rerun cold',
    options: { cache_state: 'cold' },
    removed: ['invalidate', 'pre_read'],
    before: shortRun('fill', { ...BUFFERED, filename: 'warm', pre_read: 1 }),
    run: shortRun('warm', { ...BUFFERED, filename: 'warm', invalidate: 0 }),
  },
  {
    code: 'initial_write',
    button: 'Rerun as overwrite',
    options: { file_state: 'overwrite' },
    removed: ['fallocate', 'overwrite'],
    run: shortRun('initial', {
      filename: 'initial',
      rw: 'write',
      fallocate: 'native',
      runtime: '300ms',
    }),
  },
  {
    code: 'deferred_write',
    button: 'Rerun with end_fsync',
    options: { end_fsync: 1 },
    run: shortRun('deferred', {
      ...BUFFERED,
      filename: 'deferred',
      rw: 'write',
      file_state: 'fresh',
    }),
  },
  {
    code: 'unwritten_blocks',
    button: 'Rerun after writing the file',
    options: { file_state: 'written' },
    removed: ['fallocate', 'overwrite', 'create_on_open', 'file_append'],
    // Allocates the file, but writes only its first blocks.
    before: shortRun('allocate', {
      filename: 'unwritten',
      rw: 'write',
      file_state: 'fresh',
      fallocate: 'native',
      io_size: '64k',
      runtime: undefined,
      time_based: undefined,
    }),
    run: shortRun('unwritten', { filename: 'unwritten', runtime: '300ms' }),
  },
  {
    code: 'depth_not_reached',
    button: 'Rerun with 2 jobs',
    options: { numjobs: 2 },
    // A block takes longer to prepare than to write, so few writes are in flight. Each job has its
    // own file, because jobs that verify blocks cannot share one.
    run: shortRun('starved', {
      filename: undefined,
      rw: 'randwrite',
      iodepth: 16,
      size: '8m',
      verify: 'sha3-512',
    }),
  },
];

async function finish(server: Server, { run, isCancelled }: Case): Promise<number> {
  if (!isCancelled) return server.finish(run);
  const { number } = await server.call<Run>('POST', '/runs', run);
  const get = () => server.call<Run>('GET', `/runs/${number}`);
  await expect.poll(async () => (await get()).samples, { timeout: 30_000 }).toBeGreaterThan(0);
  await server.call('POST', `/runs/${number}/cancel`);
  await expect.poll(async () => (await get()).status, { timeout: 30_000 }).toBe('cancelled');
  return number;
}

const fetchFinding = async (server: Server, number: number, code: string) => {
  const { findings } = await server.call<Run>('GET', `/runs/${number}`);
  return findings?.find((finding) => finding.code === code);
};

/** Clicks the finding's button, and returns the rerun's job. */
async function clickRerun(
  page: Page,
  server: Server,
  { number, finding, button }: { number: number; finding: Finding; button: string },
) {
  await page.goto(`${server.url}/runs/${number}`);
  await cardOf(page, finding).getByRole('button', { name: button, exact: true }).click();
  await expect(page).not.toHaveURL(new RegExp(`/runs/${number}$`));
  const rerun = Number(page.url().split('/').at(-1));
  // A short rerun may already have ended.
  await server.call('POST', `/runs/${rerun}/cancel`).catch(() => null);
  const get = () => server.call<Run>('GET', `/runs/${rerun}`);
  await expect.poll(async () => (await get()).status).toMatch(/done|failed|cancelled/);
  return (await get()).requested.jobs[0];
}

const cardOf = (page: Page, { sentence }: Finding) =>
  page.locator('.finding', { hasText: sentence });

for (const tried of CASES)
  test(`${tried.code}: ${tried.button}`, async ({ signedIn: page, server }) => {
    test.setTimeout(120_000);
    if (tried.before) await server.finish(tried.before);
    const number = await finish(server, tried);
    const finding = await fetchFinding(server, number, tried.code);
    // Whether files share blocks or pages depends on the host's filesystem.
    test.skip(!finding, `this host does not report ${tried.code}`);
    if (!finding) return;
    const job = await clickRerun(page, server, { number, finding, button: tried.button });
    expect(job).toMatchObject(tried.options);
    for (const option of tried.removed ?? []) expect(job).not.toHaveProperty(option);
  });

/** Runs a program that requires root. Skips the test if the program fails. */
function tryCommand(...[program = '', ...parameters]: string[]): string {
  try {
    return execFileSync(program, parameters, { encoding: 'utf8', stdio: 'pipe' }).trim();
  } catch (error) {
    const reason = `${program}: ${error instanceof Error ? error.message : String(error)}`;
    test.skip(reason !== '', reason);
    return '';
  }
}

/** Copies the finding's command with its copy button, and runs it. */
async function copyAndExecute(page: Page, server: Server, number: number, code: string) {
  const finding = await fetchFinding(server, number, code);
  if (!finding?.command) throw new Error(`run ${number} has no command for ${code}`);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${server.url}/runs/${number}`);
  const card = cardOf(page, finding);
  await card.getByRole('button', { name: `Copy ${finding.command}` }).click();
  await expect(page.getByText('Command copied')).toBeVisible();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toBe(finding.command);
  // Only findings that no job option resolves have a command.
  await expect(card.getByRole('button', { name: /^(Rerun|Run)/ })).toHaveCount(0);
  tryCommand('sh', '-c', copied);
}

test('loop_without_direct_io: the copied command resolves it', async ({
  signedIn: page,
  server,
}) => {
  test.setTimeout(90_000);
  const image = join(server.directory, 'loop.img');
  tryCommand('truncate', '-s', '32m', image);
  const device = tryCommand('losetup', '--find', '--show', image);
  try {
    const run = shortRun('cached loop', { filename: device, size: '16m', runtime: '300ms' });
    const number = await server.finish(run);
    await copyAndExecute(page, server, number, 'loop_without_direct_io');
    const next = await server.finish(run);
    expect(await fetchFinding(server, next, 'loop_without_direct_io')).toBeUndefined();
  } finally {
    execFileSync('losetup', ['--detach', device]);
  }
});

/** Calls `use` with a directory in the target root, on a new btrfs filesystem. */
async function withBtrfs(
  server: Server,
  { name, options }: { name: string; options: string },
  use: (directory: string) => Promise<void>,
) {
  const image = join(server.directory, `${name}.img`);
  tryCommand('truncate', '-s', '160m', image);
  tryCommand('mkfs.btrfs', '--quiet', image);
  const directory = join(server.directory, 'targets', name);
  mkdirSync(directory, { recursive: true });
  const device = tryCommand('losetup', '--direct-io=on', '--find', '--show', image);
  try {
    tryCommand('mount', '--options', options, device, directory);
    await use(directory);
  } finally {
    spawnSync('umount', [directory]);
    execFileSync('losetup', ['--detach', device]);
  }
}

test('direct_io_fallback: the copied command resolves it for new files', async ({
  signedIn: page,
  server,
}) => {
  test.setTimeout(90_000);
  await withBtrfs(server, { name: "it's btrfs", options: 'defaults' }, async (directory) => {
    const finish = (filename: string) =>
      server.finish(
        shortRun('on btrfs', {
          filename: join(directory, filename),
          rw: 'randwrite',
          runtime: '500ms',
        }),
      );
    const number = await finish('first');
    const finding = await fetchFinding(server, number, 'direct_io_fallback');
    // Since Linux 6.14, direct writes to files with checksums go through the page cache.
    test.skip(!finding, 'this kernel writes directly to btrfs files with checksums');
    await copyAndExecute(page, server, number, 'direct_io_fallback');
    const next = await finish('second');
    expect(await fetchFinding(server, next, 'direct_io_fallback')).toBeUndefined();
  });
});

test('compressed: Rerun with incompressible data', async ({ signedIn: page, server }) => {
  test.setTimeout(90_000);
  const mounted = { name: 'compressed', options: 'compress-force=zstd' };
  await withBtrfs(server, mounted, async (directory) => {
    const options = { ...BUFFERED, filename: join(directory, 'zeros'), bs: '128k' };
    // Direct writes and writes to allocated blocks are not compressed.
    const data = { zero_buffers: 1, fallocate: 'none', end_fsync: 1 };
    const write = { ...options, rw: 'write', ...data };
    await server.finish(shortRun('zeros', write));
    const read = { ...options, rw: 'read', cache_state: 'cold' };
    const number = await server.finish(shortRun('compressed', read));
    const finding = await fetchFinding(server, number, 'compressed');
    if (!finding) throw new Error('the compressed file was not reported');
    const button = 'Rerun with incompressible data';
    const job = await clickRerun(page, server, { number, finding, button });
    // The file is overwritten with incompressible data before it is read.
    expect(job).toMatchObject({ refill_buffers: 1, file_state: 'written', rw: 'read' });
  });
});
