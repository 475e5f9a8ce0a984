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
    environment: 'jsdom',
    include: ['src/**/*.test.{ts,tsx}'],
    setupFiles: ['src/test-setup.ts'],
    restoreMocks: true,
  },
});
