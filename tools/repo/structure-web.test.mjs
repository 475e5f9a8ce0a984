// Import rules for the pages: no cycles between files, one-way imports between layers, and packages
// that only some layers may use. Type imports and re-exports are included.
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { cycles } from './graph.mjs';
import { reject, sources } from './sources.mjs';

const WEB = 'web/src';

/** Layer → layers that it may import. Layers that are not listed may import any layer. */
const LAYERS = {
  api: [],
  ui: [],
  model: ['api', 'ui'],
  charts: ['api', 'ui', 'model'],
  pages: ['api', 'ui', 'model', 'charts'],
};

/** Package prefix → layers that may not import it. */
const FORBIDDEN = {
  react: ['api', 'model'],
  '@mantine/': ['api', 'model'],
  'chart.js': ['api', 'ui', 'model', 'pages', 'app'],
  'react-chartjs-2': ['api', 'ui', 'model', 'pages', 'app'],
  chartjs: ['api', 'ui', 'model', 'pages', 'app'],
};

const SPECIFIER = /(?:^|[\s}])(?:import|from)\s*\(?\s*'([^']+)'/gm;

const specifiers = ({ text }) => {
  const code = text.replace(/^\s*(\/\/|\/?\*).*$/gm, '');
  return [...code.matchAll(SPECIFIER)].map((match) => match[1]);
};

/** Map(file → Set(files that it imports)). */
function importGraph(files) {
  const paths = new Set(files.map(({ path }) => path));
  const resolve = (from, specifier) => {
    const base = join(dirname(from), specifier);
    return ['', '.ts', '.tsx', '/index.ts'].map((end) => base + end).find((path) => paths.has(path));
  };
  return new Map(
    files.map((file) => {
      const relative = specifiers(file).filter((specifier) => specifier.startsWith('.'));
      const targets = relative.map((specifier) => resolve(file.path, specifier));
      return [file.path, new Set(targets.filter(Boolean))];
    }),
  );
}

const files = sources(WEB, ['.ts', '.tsx']);
const product = files.filter(({ path }) => !/\.test\.|\/test-/.test(path));
const parts = (path) => path.slice(WEB.length + 1).split('/');
const layer = (path) => parts(path)[0];

function isAllowed(from, to) {
  if (layer(from) !== layer(to)) return LAYERS[layer(from)]?.includes(layer(to)) ?? true;
  return layer(from) !== 'pages' || parts(from)[1] === parts(to)[1];
}

const backward = (graph) =>
  [...graph].flatMap(([from, targets]) =>
    [...targets].filter((to) => !isAllowed(from, to)).map((to) => `${from} → ${to}`),
  );

const forbidden = (all) =>
  all.flatMap((file) =>
    specifiers(file)
      .filter((name) =>
        Object.entries(FORBIDDEN).some(
          ([prefix, layers]) => layers.includes(layer(file.path)) && name.startsWith(prefix),
        ),
      )
      .map((name) => `${file.path}: ${name}`),
  );

test('no import cycle between files of web/src', () => {
  const found = cycles(importGraph(files)).map((cycle) => cycle.join('\n    '));
  reject(found, 'Move the code that both files need into a separate file.');
});

test('imports follow the layer order, and pages do not import each other', () => {
  reject(backward(importGraph(product)), 'api, ui ← model ← charts ← pages ← app.');
});

test('the model is independent of React, and only charts use Chart.js', () => {
  reject(forbidden(product), 'Pass in data, or move the code to charts.');
});

test('the rules find offenses', () => {
  const file = (path, text) => ({ path: `${WEB}/${path}`, text });
  const all = [
    file('model/a.ts', "export type { B } from './b';\nimport { useState } from 'react';"),
    file('model/b.ts', "import type {\n  A,\n} from './a';\nconst c = import('../charts/c');"),
    file('charts/c.tsx', "// import './d';\nimport { Chart } from 'chart.js';"),
    file('pages/one/page.tsx', "import { two } from '../two/page';"),
    file('pages/two/page.tsx', "import '../../charts/c';\nimport { Line } from 'react-chartjs-2';"),
  ];
  const graph = importGraph(all);
  assert.deepEqual(cycles(graph), [[`${WEB}/model/a.ts`, `${WEB}/model/b.ts`]]);
  assert.deepEqual(backward(graph), [
    `${WEB}/model/b.ts → ${WEB}/charts/c.tsx`,
    `${WEB}/pages/one/page.tsx → ${WEB}/pages/two/page.tsx`,
  ]);
  assert.deepEqual(forbidden(all), [
    `${WEB}/model/a.ts: react`,
    `${WEB}/pages/two/page.tsx: react-chartjs-2`,
  ]);
});
