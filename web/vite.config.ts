// Build, development server and unit tests of the pages. The built pages are embedded into the server; in development
// a running server answers /api and /login.
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

const server = process.env.LEADLINE_URL ?? 'http://127.0.0.1:7070';

export default defineConfig({
  plugins: [react()],
  // The server's content security policy knows no data: URLs, so that nothing is inlined.
  build: { assetsInlineLimit: 0, modulePreload: { polyfill: false }, target: 'es2022' },
  server: { proxy: { '/api': { target: server, ws: true }, '/login': server } },
  test: {
    // A loaded machine may take its time; nothing here waits for a clock.
    testTimeout: 30_000,
    restoreMocks: true,
    projects: [
      {
        extends: true,
        test: { name: 'model', environment: 'node', include: ['src/model/**/*.test.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'pages',
          environment: 'jsdom',
          include: ['src/{api,app,charts,pages,ui}/**/*.test.{ts,tsx}'],
          setupFiles: ['src/test-setup.ts'],
        },
      },
    ],
  },
});
