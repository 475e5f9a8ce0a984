// Checks that the scripts and styles that index.html loads are below a compressed size limit.
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

const DIST = new URL('../web/dist/', import.meta.url).pathname;
/** Limit in compressed bytes, which take 200 ms at 10 Mbit/s. */
const SCRIPT_LIMIT = 250 * 1024;
/** Compressed bytes. */
const STYLE_LIMIT = 60 * 1024;

function compressed(names) {
  return names.reduce((sum, name) => sum + statSync(join(DIST, `${name}.gz`)).size, 0);
}

function check(what, names, limit) {
  const bytes = compressed(names);
  const verdict = bytes <= limit ? 'ok' : 'over the limit: lazy-load code that the first page does not need';
  console.log(`${what}: ${(bytes / 1024).toFixed(1)} of ${limit / 1024} KiB gzip in ${names.length} files, ${verdict}`);
  return bytes <= limit;
}

const page = readFileSync(join(DIST, 'index.html'), 'utf8');
const named = (pattern) => [...page.matchAll(pattern)].map(([, name]) => name.replace(/^\//, ''));
const scripts = named(/(?:src|href)="([^"]+\.js)"/g);
const styles = named(/href="([^"]+\.css)"/g);
const results = [check('scripts', scripts, SCRIPT_LIMIT), check('styles', styles, STYLE_LIMIT)];
process.exit(scripts.length > 0 && results.every(Boolean) ? 0 : 1);
