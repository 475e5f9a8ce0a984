// Import graph of a Rust crate's files. An import is an edge to the file that defines the
// item; re-exports are followed. Test code is ignored. Relies on rustfmt: top-level items start in
// the first column.
import { sources } from './sources.mjs';

const ITEM =
  /^(?:pub(?:\([^)]*\))? )?(?:(?:unsafe|async|const|extern "C") )*(?:fn|struct|enum|union|trait|type|const|static|macro_rules!) +(?:mut )?(\w+)/gm;
const USE = /^(pub(?:\([^)]*\))? )?use ([^;]+);/gm;
const PATH = /(?<![\w:$])(?:crate|super|self)(?:::\w+)+/g;

/** Map(file path → Set(file paths it imports from)). `exports` are names that macros define, by module. */
export function importGraph(folder, exports = {}) {
  const modules = new Map();
  for (const { path, text } of sources(folder, ['.rs'])) {
    const name = path.slice(folder.length + 1, -'.rs'.length);
    modules.set(name, { path, code: stripTestCode(text) });
  }
  for (const name of modules.keys()) if (isTest(name, modules)) modules.delete(name);
  for (const [name, module] of modules) {
    module.items = new Set([...module.code.matchAll(ITEM)].map((match) => match[1]));
    for (const item of exports[name] ?? []) module.items.add(item);
    module.reexports = new Map();
    module.paths = new Set();
    for (const [, visibility, tree] of module.code.matchAll(USE)) {
      for (const { path, alias } of expand(tree)) {
        const absolute = toAbsolute(name, path, modules);
        module.paths.add(absolute);
        if (visibility) module.reexports.set(alias ?? path.split('::').at(-1), absolute);
      }
    }
    const body = module.code.replace(USE, '');
    for (const [path] of body.matchAll(PATH)) module.paths.add(toAbsolute(name, path, modules));
    for (const [path] of body.matchAll(/(?<![\w:.])[a-z]\w*(?:::\w+)+/g))
      if (children(name, modules).has(path.split('::')[0]))
        module.paths.add(toAbsolute(name, path, modules));
  }
  const graph = new Map();
  for (const [name, { path, paths }] of modules) {
    const targets = [...paths].map((used) => definition(used, modules)).filter(Boolean);
    graph.set(path, new Set(targets.filter((to) => to !== name).map((to) => modules.get(to).path)));
  }
  return graph;
}

/**
 * Splits an import into one `use` per path, such as `use std::fs; use std::io;`. Keeps the number
 * of lines.
 */
export function flattenImports(text) {
  return text.replace(/^( *(?:pub(?:\([^)]*\))? )?use )([^;]+);/gm, (statement, start, tree) => {
    const flat = expand(tree).map(({ path }) => `${start.trim()} ${path};`);
    return flat.join(' ') + '\n'.repeat(statement.split('\n').length - 1);
  });
}

/** Returns the source without comments, string contents and items under `#[cfg(test)]`. */
export function stripTestCode(text) {
  return text
    .replace(/^#\[cfg\(test\)\]\n(?:#\[.*\]\n)*(?:.*;\n|[^\n]*\n(?:(?!\}).*\n)*\}\n)/gm, '')
    .replace(/\/\/.*$/gm, '')
    .replace(/"(?:\\.|[^"\\])*"/g, '""');
}

function isTest(name, modules) {
  if (/(^|\/)tests(\/|$)/.test(name)) return true;
  const parent = name.includes('/') ? name.slice(0, name.lastIndexOf('/')) : 'lib';
  const child = name.split('/').at(-1);
  const code = modules.get(parent)?.code ?? '';
  const isDeclared = new RegExp(`^(pub(\\([^)]*\\))? )?mod ${child};`, 'm').test(code);
  return !['lib', 'main'].includes(name) && modules.has(parent) && !isDeclared;
}

function children(name, modules) {
  const prefix = name === 'lib' || name === 'main' ? '' : `${name}/`;
  const below = [...modules.keys()].filter((other) => other.startsWith(prefix) && other !== name);
  return new Set(below.map((other) => other.slice(prefix.length)).filter((rest) => !rest.includes('/')));
}

/** Expands `a::{b::C, d as e}` into its paths. */
function expand(tree) {
  const open = tree.indexOf('{');
  if (open < 0) {
    const [path, alias] = tree.trim().split(/\s+as\s+/);
    return [{ path, alias }];
  }
  const prefix = tree.slice(0, open).trim();
  const parts = [];
  let depth = 0;
  let part = '';
  for (const char of tree.slice(open + 1, tree.lastIndexOf('}'))) {
    depth += (char === '{') - (char === '}');
    if (char === ',' && depth === 0) {
      parts.push(part);
      part = '';
    } else part += char;
  }
  return [...parts, part]
    .filter((one) => one.trim())
    .flatMap(expand)
    .map(({ path, alias }) => ({ path: path === 'self' ? prefix.slice(0, -2) : prefix + path, alias }));
}

function toAbsolute(name, path, modules) {
  const segments = path.split('::');
  let base = name === 'lib' || name === 'main' ? [] : name.split('/');
  if (segments[0] === 'crate') return path;
  if (segments[0] !== 'super' && segments[0] !== 'self')
    return children(name, modules).has(segments[0]) ? ['crate', ...base, ...segments].join('::') : path;
  while (segments[0] === 'super' || segments[0] === 'self')
    if (segments.shift() === 'super') base = base.slice(0, -1);
  return ['crate', ...base, ...segments].join('::');
}

/** Returns the module that defines the item at a path, or undefined for other crates. */
function definition(path, modules, seen = new Set()) {
  const segments = path.split('::');
  if (segments.shift() !== 'crate' || seen.has(path)) return undefined;
  for (let length = segments.length; length > 0; length--) {
    const name = segments.slice(0, length).join('/');
    const module = modules.get(name);
    if (!module) continue;
    const item = segments[length];
    const reexport = item && !module.items?.has(item) && module.reexports?.get(item);
    return (reexport && definition(reexport, modules, new Set([...seen, path]))) || name;
  }
  return undefined;
}
