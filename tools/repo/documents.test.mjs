// Rules for migrations, documents and container files.
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { lines, ROOT, reject, sources } from './sources.mjs';

const documents = () => sources('.', ['.md']);
const read = (path) => readFileSync(join(ROOT, path), 'utf8');

test('every column has a comment', () => {
  const offenses = sources('migrations', ['.sql']).flatMap((file) => {
    let inTable = false;
    return lines(file)
      .filter(({ line }) => {
        const code = line.trim();
        inTable = code.startsWith('CREATE TABLE') || (inTable && !code.startsWith(')'));
        return inTable && /^[a-z]\w* +[A-Z]/.test(code) && !code.includes('-- ');
      })
      .map(({ number, line }) => `${file.path}:${number}: ${line.trim()}`);
  });
  reject(offenses, 'Add a `--` comment with the contents and unit of the column.');
});

/** Returns the lines outside code blocks. */
function prose(file) {
  let inBlock = false;
  return lines(file).filter(({ line }) => {
    const fence = line.trimStart().startsWith('```');
    if (fence) inBlock = !inBlock;
    return !fence && !inBlock && !line.startsWith('    ');
  });
}

test('links between documents resolve', () => {
  const isBroken = (path, link) => {
    const target = link.split('#')[0];
    const elsewhere = link.includes('://') || link.startsWith('mailto:') || target === '';
    return !elsewhere && !existsSync(join(ROOT, dirname(path), target));
  };
  const offenses = documents().flatMap((file) =>
    prose(file).flatMap(({ number, line }) =>
      [...line.matchAll(/\]\(([^)]*)\)/g)]
        .filter(([, link]) => isBroken(file.path, link))
        .map(([, link]) => `${file.path}:${number}: ${link}`),
    ),
  );
  reject(offenses, 'Fix the link.');
});

test('files mentioned in documents exist', () => {
  const ours = /^(protocol|runner|server|web|tools|docs|docker|examples|migrations|bench)\//;
  const built = /^web\/(dist|node_modules)/;
  const offenses = documents().flatMap((file) =>
    lines(file).flatMap(({ number, line }) =>
      line
        .split('`')
        .filter((word, index) => index % 2 === 1 && ours.test(word) && !/[*{< $…]/.test(word))
        .map((word) => word.replace(/\/$|::.*$/, ''))
        .filter((word) => !built.test(word) && !existsSync(join(ROOT, word)))
        .map((word) => `${file.path}:${number}: ${word}`),
    ),
  );
  reject(offenses, "Use the file's current path.");
});

test('prose is wrapped at 100 columns', () => {
  const isLong = ({ line }) => [...line].length > 100 && !/^\s*\||https?:|\]\(/.test(line);
  const offenses = documents().flatMap((file) =>
    prose(file)
      .filter(isLong)
      .map(({ number, line }) => `${file.path}:${number}: ${[...line].length} columns`),
  );
  reject(offenses, 'Wrap it; tables and links may be longer.');
});

test('the README is short', () => {
  assert.ok(read('README.md').split('\n').length <= 150, 'README.md has more than 150 lines');
});

test('the container has io_uring and no privileges', () => {
  const profile = JSON.parse(read('docker/seccomp-io_uring.json'));
  assert.equal(profile.defaultAction, 'SCMP_ACT_ERRNO', 'unlisted system calls must fail');
  const allowed = profile.syscalls.flatMap(({ names }) => names);
  for (const call of ['io_uring_setup', 'io_uring_enter', 'io_uring_register'])
    assert.ok(allowed.includes(call), `${call} is missing from docker/seccomp-io_uring.json`);
  const forbidden =
    'mount umount2 bpf init_module kexec_load ptrace setns unshare keyctl reboot swapon';
  for (const call of forbidden.split(' '))
    assert.ok(!allowed.includes(call), `${call} must not be in docker/seccomp-io_uring.json`);
  const compose = read('docker-compose.yml');
  assert.ok(!/^\s*privileged:/m.test(compose) && !compose.includes('unconfined'));
});
