// Screenshots of every page and state, for visual review: `npm run screenshots`. CONTRIBUTING.md
// describes the options. There are no assertions; the tests are in `e2e`.
import { defineConfig } from '@playwright/test';
import tests from './playwright.config';

const LAYOUTS = [
  { name: '1440', viewport: { width: 1440, height: 900 } },
  { name: '1024', viewport: { width: 1024, height: 800 } },
  { name: '390', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
].flatMap(({ name, ...device }) =>
  (['dark', 'light'] as const).map((colorScheme) => ({
    name: `${name}-${colorScheme}`,
    use: { ...device, colorScheme },
    testMatch: 'views.spec.ts',
  })),
);

export default defineConfig({
  ...tests,
  testDir: 'screenshots',
  // All views share one server. The first view creates its data, and live views change its state.
  workers: 1,
  timeout: 300_000,
  use: {
    ...tests.use,
    actionTimeout: 5000,
    trace: 'off',
    contextOptions: { reducedMotion: 'reduce' },
  },
  projects: [
    ...LAYOUTS,
    { name: 'sheets', testMatch: 'sheets.spec.ts', dependencies: LAYOUTS.map(({ name }) => name) },
  ],
});
