// `make dev`: serves the pages from Vite with hot reload, and runs a debug build of the server that
// is rebuilt and restarted when a Rust source file changes. Arguments are passed to `leadline
// serve`.
import { spawn } from 'node:child_process';
import { watch } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const WATCHED = ['protocol/src', 'stats/src', 'compare/src', 'export/src', 'runner/src', 'server/src', 'migrations'];
const LISTEN = process.env.LEADLINE_LISTEN ?? '127.0.0.1:7070';
/** Delay before a rebuild, because editors save a file in multiple steps. */
const DEBOUNCE_MS = 150;

const env = { ...process.env, LEADLINE_LISTEN: LISTEN, LEADLINE_DATA_DIR: process.env.LEADLINE_DATA_DIR ?? join(ROOT, 'var') };
const start = (command, args, cwd = ROOT) => spawn(command, args, { cwd, env, stdio: 'inherit' });
const ended = (child) =>
  child.exitCode === null && child.signalCode === null ? new Promise((resolve) => child.once('exit', resolve)) : child.exitCode;

let server;
let isStale = false;
let isBuilding = false;

/**
 * Rebuilds until no source changes during the build. If the build succeeds, restarts the server.
 */
async function rebuild() {
  isStale = true;
  if (isBuilding) return;
  isBuilding = true;
  let code = 1;
  while (isStale) {
    isStale = false;
    code = await ended(start('cargo', ['build', '--quiet', '--locked', '-p', 'leadline', '-p', 'leadline-runner', '--bins']));
  }
  isBuilding = false;
  if (code !== 0) return;
  if (server) {
    server.kill('SIGTERM');
    await ended(server);
  }
  server = start('target/debug/leadline', ['serve', ...process.argv.slice(2)]);
}

await rebuild();
const vite = spawn('npx', ['--no-install', 'vite', '--clearScreen', 'false'], {
  cwd: join(ROOT, 'web'),
  env: { ...env, LEADLINE_URL: `http://${LISTEN}` },
  stdio: 'inherit',
});
let timer;
for (const folder of WATCHED)
  watch(join(ROOT, folder), { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(rebuild, DEBOUNCE_MS);
  });
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, async () => {
    vite.kill('SIGTERM');
    server?.kill('SIGTERM');
    await Promise.all([ended(vite), server && ended(server)]);
    process.exit(0);
  });
