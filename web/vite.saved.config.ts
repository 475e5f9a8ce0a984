// Builds saved-page.html, a single file with all scripts, styles and fonts. The server adds the
// data for a run or study to it.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';
import { viteSingleFile } from 'vite-plugin-singlefile';

const FILE = 'dist/saved-page.html';

/** The server embeds this file compressed. */
const compress: Plugin = {
  name: 'compress',
  apply: 'build',
  closeBundle() {
    writeFileSync(`${FILE}.gz`, gzipSync(readFileSync(FILE), { level: 9 }));
    rmSync(FILE);
  },
};

export default defineConfig({
  plugins: [react(), viteSingleFile(), compress],
  publicDir: false,
  build: {
    emptyOutDir: false,
    target: 'es2022',
    rolldownOptions: { input: 'saved-page.html' },
  },
});
