import { expect, it } from 'vitest';
import type { Proof } from '../../api';
import { proofRow } from './proof';

const plain = (text: string) => text.replaceAll('\u00a0', ' ');
const proof = (change: Partial<Proof>): Proof => ({
  layer: 'device',
  name: 'bytes read by vda',
  unit: 'bytes',
  difference: 0,
  ...change,
});

it.each<[Partial<Proof>, string[]]>([
  [
    { before: 4096, after: 1_052_672, difference: 1_048_576 },
    ['4,096', '1,052,672', '+1,048,576', '+1 MiB'],
  ],
  [{ before: 10, after: 4, difference: -6 }, ['10', '4', '−6', '']],
  [{ difference: 853_333, unit: 'I/Os' }, ['–', '–', '+853,333', '']],
  [{ before: 7, after: 7 }, ['7', '7', '0', '']],
])('formats counters of %j', (change, expected) => {
  const { before, after, difference, short } = proofRow(proof(change));
  expect([before, after, difference, plain(short)]).toEqual(expected);
});
