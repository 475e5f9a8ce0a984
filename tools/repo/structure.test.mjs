// Import rules: no cycles between files, and imports only in the module order of ARCHITECTURE.md.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cycles } from './graph.mjs';
import { flattenImports, importGraph, stripTestCode } from './rust-imports.mjs';
import { findMentions, reject, sources } from './sources.mjs';

const CRATES = ['protocol/src', 'runner/src', 'server/src', 'bench/src', 'lab/src', 'stats/src', 'compare/src', 'export/src'];

/**
 * Module → modules in the same crate that it may import. Modules that are not listed may import any
 * module.
 */
const RUNNER = {
  plan: [],
  analysis: [],
  dialect: [],
  system: ['plan', 'dialect'],
  load: ['plan', 'system'],
  run: ['plan', 'analysis', 'system', 'load'],
  cli: ['plan', 'dialect', 'system', 'run'],
};
const SERVER = {
  clock: [],
  fail_point: [],
  lock_holder: [],
  rollups: [],
  store: ['clock', 'lock_holder', 'rollups'],
  error: ['store'],
  scheduler: [],
  events: ['clock', 'error', 'fail_point', 'rollups', 'store', 'scheduler'],
};

/** Runner modules that only compute and do not make system calls. */
const PURE = ['plan', 'analysis', 'dialect', 'load/pattern', 'load/rate', 'load/data', 'load/verify'];
const SYSTEM = [
  'rustix',
  'libc::',
  'io_uring::',
  'procfs::',
  'std::fs',
  'std::thread',
  'std::process',
  'std::env',
  'std::net',
  'Instant',
  'SystemTime',
];

/** Splits imports by path, so that a rule also finds `std::fs` in `use std::{fs, io};`. */
const rust = (folder) =>
  sources(folder, ['.rs']).map(({ path, text }) => ({ path, text: flattenImports(text) }));
const inside = (path, folder, module) =>
  path === `${folder}/${module}.rs` || path.startsWith(`${folder}/${module}/`);

for (const folder of CRATES) {
  test(`no import cycle between files of ${folder}`, () => {
    const found = cycles(importGraph(folder)).map((files) => files.join('\n    '));
    reject(found, 'Move the code that both files need into a separate file.');
  });
}

function backward(folder, allowed) {
  const module = (path) => path.slice(folder.length + 1).split(/[./]/)[0];
  const offenses = [];
  for (const [from, targets] of importGraph(folder)) {
    const may = allowed[module(from)];
    for (const to of targets)
      if (may && module(to) !== module(from) && !may.includes(module(to)))
        offenses.push(`${from} → ${to}`);
  }
  return offenses;
}

test('imports follow the module order', () => {
  const offenses = [...backward('runner/src', RUNNER), ...backward('server/src', SERVER)];
  reject(offenses, 'Move the item down, or the code that uses it up.');
});

test('crates depend on each other in one direction', () => {
  const forbidden = {
    'protocol/src': ['leadline_runner', 'leadline_server'],
    'runner/src': ['leadline_server', 'axum::', 'sqlx::', 'tokio::'],
    'server/src': ['leadline_runner'],
  };
  const offenses = Object.entries(forbidden).flatMap(([folder, words]) =>
    findMentions(rust(folder), words),
  );
  reject(offenses, 'web → server → protocol ← runner.');
});

test('pure modules make no system calls', () => {
  const isPure = ({ path }) => PURE.some((module) => inside(path, 'runner/src', module));
  const crates = ['protocol', 'compare', 'stats', 'export'].flatMap((crate) => rust(`${crate}/src`));
  const files = [...crates, ...rust('runner/src').filter(isPure)];
  const product = files
    .filter(({ path }) => !/tests?[./]|fixture/.test(path))
    .map(({ path, text }) => ({ path, text: stripTestCode(text) }));
  reject(findMentions(product, SYSTEM), 'Pass in what the module needs, as plan::host_view does.');
});

test('engines and the measuring loop do not import jobs or plans', () => {
  const files = rust('runner/src').filter(
    ({ path }) => inside(path, 'runner/src', 'load/engine') || path.includes('load/measure'),
  );
  const product = files.filter(({ path }) => !/tests/.test(path));
  reject(
    findMentions(product, ['protocol::job', 'protocol::plan', 'crate::plan', 'println!']),
    'Decide it in the plan and pass in the result.',
  );
});

test('SQL is only in the store', () => {
  const files = rust('server/src').filter(({ path }) => !inside(path, 'server/src', 'store'));
  const sql = ['sqlx::query', 'QueryBuilder', '"SELECT ', '"INSERT ', '"UPDATE ', '"DELETE FROM'];
  reject(findMentions(files, sql), 'Add a function to the store and call it.');
});

test('axum is only in api and serve', () => {
  const files = rust('server/src').filter(
    ({ path }) => !inside(path, 'server/src', 'api') && !inside(path, 'server/src', 'serve'),
  );
  reject(findMentions(files, ['axum']), 'Return a value or an error, and let api turn it into a response.');
});

test('only the supervisor starts processes', () => {
  const files = rust('server/src').filter(({ path }) => !inside(path, 'server/src', 'supervisor'));
  reject(findMentions(files, ['process::Command', 'Command::new(']), 'Start it in supervisor.');
});

test('the import graph follows re-exports and ignores tests', () => {
  assert.equal(stripTestCode('#[cfg(test)]\nmod tests {\n    use crate::a;\n}\nfn f() {}\n').trim(), 'fn f() {}');
  const graph = new Map([
    ['a', new Set(['b'])],
    ['b', new Set(['c'])],
    ['c', new Set(['a'])],
    ['d', new Set(['a'])],
  ]);
  assert.deepEqual(cycles(graph), [['a', 'b', 'c']]);
});

test('rules apply to each path of a nested import', () => {
  const text = 'use std::{\n    fs::{self, File},\n    io,\n};\nfn f() {}\n';
  assert.equal(
    flattenImports(text),
    'use std::fs; use std::fs::File; use std::io;\n\n\n\nfn f() {}\n',
  );
});
