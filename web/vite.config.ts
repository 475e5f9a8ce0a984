// Build, development server and unit tests. The build is embedded into the server. The development
// server forwards /api and /login to a running server.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import type { Plugin } from 'vite';
import { defineConfig } from 'vitest/config';

const require = createRequire(import.meta.url);
const server = process.env.LEADLINE_URL ?? 'http://127.0.0.1:7070';

/** The entry point and everything that it imports, which includes most libraries. */
const FIRST_CODE = [/web\/src\/main\.tsx$/, /rolldown.runtime/];
/**
 * Code that run and result pages share and need before they show charts. It does not include field
 * styles.
 */
const SHARED_CODE = [
  /node_modules\/@tanstack\//,
  /web\/src\/(api|model\/(format|run|fold|series|gauge|compare\/direct-run|job\/(export|job-text)))/,
  /web\/src\/ui\/(?!fields|filter-field)/,
  /web\/src\/charts\/(chart-group|gauge|legend|panels|use-live-run|verdict-badge|while-visible|zoom-row)/,
];
/** Code that forms and filters share. */
const FIELD_CODE = [
  /@mantine\/core\/esm\/components\/(CloseButton|Input|InputBase|Textarea|TextInput)\//,
  /web\/src\/ui\/filter-field/,
];
/** Small library modules. Otherwise, each of them would be a separate request. */
const LIBRARY_CODE = [/@mantine\/(hooks|core\/esm\/core)\//];
/** Chart.js, and the code that all charts share. */
const CHART_CODE = [
  /node_modules\/(chart\.js|react-chartjs-2|@kurkle\/color)\//,
  /web\/src\/charts\/(bands|chart-export|chart-js|chart-menu|crosshair|distribution|marks|plot-card|plugins|time-chart)/,
  /@mantine\/core\/esm\/components\/VisuallyHidden\//,
];

/**
 * A chunk that contains the modules matching the patterns. Their dependencies may be in other
 * chunks.
 */
const chunkOf = (name: string, patterns: readonly RegExp[]) => ({
  name,
  test: (id: string) => patterns.some((pattern) => pattern.test(id)),
  minShareCount: name === 'first' ? 1 : 2,
  includeDependenciesRecursively: name === 'first',
});

/** Copies Swagger UI for the server's page /api/docs. */
const swaggerUi: Plugin = {
  name: 'swagger-ui',
  apply: 'build',
  generateBundle() {
    const files = [
      require.resolve('swagger-ui-dist/swagger-ui-bundle.js'),
      require.resolve('swagger-ui-dist/swagger-ui.css'),
    ];
    for (const file of files) {
      const fileName = `api-docs/${basename(file)}`;
      this.emitFile({ type: 'asset', fileName, source: readFileSync(file) });
    }
  },
};

/**
 * Replaces scripts and styles with NAME.gz, because the server embeds compressed files. The web
 * UI's files are also compressed as NAME.br, because compressing responses with Brotli would take
 * the server too long.
 */
const compress: Plugin = {
  name: 'compress',
  apply: 'build',
  closeBundle() {
    for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
      if (!/\.(js|css)$/.test(name)) continue;
      const file = join('dist', name);
      writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 9 }));
      if (name.startsWith('assets/'))
        writeFileSync(`${file}.br`, brotliCompressSync(readFileSync(file)));
      rmSync(file);
    }
  },
};

export default defineConfig({
  plugins: [react(), swaggerUi, compress],
  // Nothing is inlined, because the content security policy forbids data: URLs.
  build: {
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: 'es2022',
    rolldownOptions: {
      // Removes unused Chart.js classes even if they have static fields.
      treeshake: { propertyReadSideEffects: false },
      output: {
        // Limits the number of chunks. With one chunk for each combination of pages that share
        // code, a page would require dozens of requests.
        codeSplitting: {
          groups: [
            chunkOf('first', FIRST_CODE),
            chunkOf('shared', SHARED_CODE),
            chunkOf('fields', FIELD_CODE),
            chunkOf('library', LIBRARY_CODE),
            chunkOf('charts', CHART_CODE),
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': { target: server, ws: true }, '/login': { target: server } } },
  test: {
    // Long enough for slow machines. No test depends on wall-clock time.
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
