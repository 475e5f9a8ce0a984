// Browser tests against the real programs. Each worker starts its own server (`e2e/server.ts`); the
// browser is the system's Chromium, so nothing is downloaded. Tests mostly wait for runs to end, so
// two workers halve the total time. No test depends on a measured value that concurrent runs could
// change.
import { existsSync } from 'node:fs';
import { defineConfig } from '@playwright/test';

const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(
  existsSync,
);

export default defineConfig({
  testDir: 'e2e',
  workers: 2,
  fullyParallel: false,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  reporter: [['list']],
  outputDir: 'test-results',
  use: {
    browserName: 'chromium',
    viewport: { width: 1440, height: 900 },
    trace: 'on-first-retry',
    launchOptions: { executablePath: CHROMIUM, args: ['--no-sandbox'] },
  },
});
