// Reads the repository's files, and reports rule violations.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export const ROOT = new URL('../../', import.meta.url).pathname;

const SKIPPED = new Set([
  '.git',
  'dist',
  'generated',
  'node_modules',
  'playwright-report',
  'target',
  'test-results',
  'var',
]);

/**
 * Returns the files in a folder tree whose names end with one of `suffixes`, as `{ path, text }`,
 * sorted by path.
 */
export function sources(folder, suffixes) {
  const found = [];
  const visit = (path) => {
    for (const entry of readdirSync(join(ROOT, path), { withFileTypes: true })) {
      const child = join(path, entry.name);
      if (entry.isDirectory() && !SKIPPED.has(entry.name)) visit(child);
      if (entry.isFile() && suffixes.some((suffix) => entry.name.endsWith(suffix)))
        found.push({ path: child, text: readFileSync(join(ROOT, child), 'utf8') });
    }
  };
  visit(folder);
  return found.sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** Returns the lines with their numbers. With `code`, omits lines that contain only a comment. */
export function lines({ text }, { code = false } = {}) {
  return text
    .split('\n')
    .map((line, index) => ({ number: index + 1, line }))
    .filter(({ line }) => !code || !line.trimStart().startsWith('//'));
}

/** Returns `path:line: text` for each code line that contains one of the words. */
export function findMentions(files, words) {
  return files.flatMap((file) =>
    lines(file, { code: true })
      .filter(({ line }) => words.some((word) => line.includes(word)))
      .map(({ number, line }) => `${file.path}:${number}: ${line.trim()}`),
  );
}

/** Fails if there are violations, and lists them with the remedy. */
export function reject(offenses, remedy) {
  assert.equal(offenses.length, 0, `\n${offenses.join('\n')}\n→ ${remedy}\n`);
}
