import { expect, it } from 'vitest';
import { binaryStep } from './byte-axis';

const KIB = 1024;
const MIB = KIB * KIB;
it.each([
  [0, 1],
  [5, 1],
  [900, 256],
  [343 * MIB, 128 * MIB],
  [1400 * MIB, 512 * MIB],
  [5 * 1024 * MIB, 1024 * MIB],
])('an axis up to %i bytes has ticks every %i', (max, step) => expect(binaryStep(max)).toBe(step));
