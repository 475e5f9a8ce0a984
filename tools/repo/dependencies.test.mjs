// Checks that every Rust dependency is used by the crate that declares it, has a license that
// permits distributing Leadline, and comes from the registry in a single version. knip checks the
// web application's dependencies.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, reject, sources } from './sources.mjs';

const CRATES = ['protocol', 'runner', 'server', 'bench', 'lab', 'stats', 'compare', 'export'];

/** Returns the names in the dependency tables of a manifest. */
function dependencies(manifest, table) {
  const sections = manifest.split(/^\[/m).filter((section) => table.test(section.split(']\n')[0]));
  return sections.flatMap((section) =>
    [...section.matchAll(/^([\w-]+)(?:\.workspace)? *=/gm)].map((match) => match[1]),
  );
}

const manifestOf = (folder) => readFileSync(join(ROOT, folder, 'Cargo.toml'), 'utf8');

test('every dependency is used', () => {
  const offenses = CRATES.flatMap((name) => {
    const code = sources(name, ['.rs'])
      .map(({ text }) => text)
      .join('\n');
    return dependencies(manifestOf(name), /dependencies$/)
      .filter((used) => !new RegExp(`\\b${used.replaceAll('-', '_')}(::|;| as )`).test(code))
      .map((unused) => `${name}/Cargo.toml: ${unused}`);
  });
  reject(offenses, 'Remove it.');
});

test('every version in the workspace is used by a crate', () => {
  const used = new Set(CRATES.flatMap((name) => dependencies(manifestOf(name), /dependencies$/)));
  const offenses = dependencies(manifestOf('.'), /^workspace\.dependencies$/).filter(
    (name) => !used.has(name),
  );
  reject(offenses, 'Remove it from the workspace.');
});

/** Licenses that permit distribution under the Apache license if their text is included. */
const LICENSES = new Set([
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'MIT',
  'Unicode-3.0',
  'Zlib',
]);
/** Other licenses, by crate. They are listed in NOTICE. */
const EXCEPTIONS = { inferno: 'CDDL-1.0' };
/** Crates that dependencies require in multiple versions. Each costs build time and binary size. */
const DUPLICATES = new Set(
  [
    ['base64', 'block-buffer', 'cpufeatures', 'crypto-common', 'digest', 'sha1', 'sha2'],
    ['getrandom', 'hashbrown', 'r-efi', 'rand', 'rand_core', 'strum', 'strum_macros', 'syn'],
    ['tokio-tungstenite', 'tower-http', 'tungstenite'],
  ].flat(),
);

// Downloads only the crates that this platform needs.
const METADATA = [
  'metadata',
  '--format-version',
  '1',
  '--locked',
  '--filter-platform',
  'x86_64-unknown-linux-gnu',
];
const metadata = JSON.parse(execFileSync('cargo', METADATA, { cwd: ROOT, maxBuffer: 1 << 28 }));
const external = metadata.packages.filter(({ source }) => source !== null);

/** `A OR B` requires one of the licenses, `A AND B` both. `/` is an old form of OR. */
const isPermitted = (license) =>
  license
    .replaceAll(/[()]/g, '')
    .split(' AND ')
    .every((part) => part.split(/ OR | ?\/ ?/).some((choice) => LICENSES.has(choice.trim())));

test('crate licenses permit distribution', () => {
  const offenses = external
    .filter(({ name, license }) => EXCEPTIONS[name] !== license && !isPermitted(license ?? ''))
    .map(({ name, license }) => `${name}: ${license}`);
  reject(offenses, 'Replace the crate, or add its license after reading it.');
});

test('crates come from the registry', () => {
  const unpublished = external.filter(({ source }) => !source.startsWith('registry+'));
  reject(
    unpublished.map(({ name, source }) => `${name}: ${source}`),
    'Use a published version.',
  );
});

test('no other crate is present in two versions', () => {
  const twice = [...groupByName(external)].filter(
    ([name, all]) => all.length > 1 && !DUPLICATES.has(name),
  );
  reject(
    twice.map(([name, all]) => `${name}: ${all.map(({ version }) => version).join(', ')}`),
    'Choose dependency versions that agree on one version (cargo tree --duplicates).',
  );
});

function groupByName(packages) {
  const groups = new Map();
  for (const entry of packages) groups.set(entry.name, [...(groups.get(entry.name) ?? []), entry]);
  return groups;
}

// The fuzz targets are a separate workspace, so adding a dependency does not update their lock file.
test('the lock file of the fuzz targets is current', () => {
  const options = { cwd: join(ROOT, 'fuzz'), maxBuffer: 1 << 28, stdio: 'pipe' };
  try {
    execFileSync('cargo', METADATA, options);
  } catch (error) {
    reject([String(error.stderr)], 'cd fuzz && cargo update --workspace');
  }
});
