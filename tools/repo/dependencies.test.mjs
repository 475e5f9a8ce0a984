// Every Rust dependency is used by the crate that names it. (The pages are checked by knip.)
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, reject, sources } from './sources.mjs';

const CRATES = ['protocol', 'runner', 'server', 'bench'];

/** Names in the dependency tables of a manifest. */
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
  const offenses = dependencies(manifestOf('.'), /^workspace\.dependencies$/).filter((name) => !used.has(name));
  reject(offenses, 'Remove it from the workspace.');
});
