// Checks that the systemd units are sandboxed as docs/safety.md states.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from './sources.mjs';

const UNIT = 'leadline.service';
const units = join(ROOT, 'systemd');
const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;

/** Fails if the exposure level exceeds the limit, in tenths. */
function assertExposure(unit, tenths) {
  const { status, stdout, stderr } = spawnSync(
    'systemd-analyze',
    ['security', '--offline=true', `--threshold=${tenths}`, unit],
    { encoding: 'utf8' },
  );
  assert.equal(
    status,
    0,
    stdout
      .split('\n')
      .filter((line) => /✗|Overall/.test(line))
      .join('\n') + stderr,
  );
}

const options = { skip: !hasAnalyze && 'systemd-analyze is not installed' };

test("the unit's exposure is at most 1.5", options, () => {
  assertExposure(join(units, UNIT), 15);
});

test('the exposure with a device is at most 1.9', options, () => {
  const directory = mkdtempSync(join(tmpdir(), 'leadline-units-'));
  try {
    copyFileSync(join(units, UNIT), join(directory, UNIT));
    mkdirSync(join(directory, `${UNIT}.d`));
    copyFileSync(
      join(units, 'leadline-devices.conf'),
      join(directory, `${UNIT}.d`, 'devices.conf'),
    );
    assertExposure(join(directory, UNIT), 19);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
