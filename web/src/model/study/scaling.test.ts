import { expect, it } from 'vitest';
import type { Scaled } from '../../api';
import { scalingText } from './scaling';

const UNSCALED: Scaled = {
  divided_by: 1,
  requested_bytes: 2 ** 26,
  largest_bytes: 2 ** 26,
  sentence: 'Sizes are not scaled; the largest is 64 MiB.',
};
const SCALED: Scaled = {
  divided_by: 2,
  requested_bytes: 2 ** 26,
  largest_bytes: 2 ** 25,
  sentence: 'All sizes are divided by 2.',
};

it.each<[string, Scaled, string]>([
  ['nothing if sizes are as requested', UNSCALED, ''],
  ['the scaling', SCALED, 'All sizes are divided by 2.'],
  [
    'the note of an unscaled study',
    { ...UNSCALED, note: 'Published with 10 MiB.' },
    'Published with 10 MiB.',
  ],
  [
    'both',
    { ...SCALED, note: 'Published with 1 GiB.' },
    'All sizes are divided by 2. Published with 1 GiB.',
  ],
])('shows %s', (_, scaled, expected) => expect(scalingText(scaled)).toBe(expected));
