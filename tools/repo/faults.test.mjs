// Checks the fault catalog: each fault has a row, and each listed test exists.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, reject, sources } from './sources.mjs';

const FAULTS = 74;
const CATALOG = 'docs/lab/faults.md';
const rows = readFileSync(join(ROOT, CATALOG), 'utf8')
  .split('\n')
  .filter((line) => /^\| F\d/.test(line));

/** Returns a file's text, or that of all tests in a folder. */
function text(path) {
  if (/\.\w+$/.test(path)) return readFileSync(join(ROOT, path), 'utf8');
  return sources(path, ['.rs', '.ts']).map((file) => file.text).join('\n');
}

/** Returns whether a function, a test table entry, or a Playwright test has this name. */
function isTest(text, name) {
  const entry = new RegExp(`^\\s*(pub(\\(\\w+\\))? )?(async )?(fn ${name}\\(|${name} =>)`, 'm');
  return text.includes(`test('${name}'`) || (/^\w+$/.test(name) && entry.test(text));
}

test('every fault has one row', () => {
  const found = rows.map((row) => Number(/^\| F(\d+) /.exec(row)?.[1]));
  const expected = Array.from({ length: FAULTS }, (_, index) => index + 1);
  assert.deepEqual(found, expected);
});

test('the tests listed for each fault exist', () => {
  const named = rows.flatMap((row) => [...row.matchAll(/`([\w./-]+)::([^`]+)`/g)]);
  assert.ok(named.length > FAULTS);
  const offenses = named
    .filter(([, path, name]) => !isTest(text(path), name))
    .map(([, path, name]) => `${CATALOG}: ${path}::${name}`);
  reject(offenses, "Use the test's current path and name.");
});
