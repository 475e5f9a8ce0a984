import { expect, it } from 'vitest';
import { hotFunctions } from './hot-functions';

it.each<[string, string, [string, number][]]>([
  [
    'stacks with the same leaf',
    'a;read;copy 30\nb;copy 10\na;read 60\n',
    [
      ['read', 0.6],
      ['copy', 0.4],
    ],
  ],
  ['names with spaces', 'main;<T as Trait>::call it 3\n', [['<T as Trait>::call it', 1]]],
  [
    'more functions than the limit',
    'a 3\nb 2\nc 1\n',
    [
      ['a', 0.5],
      ['b', 1 / 3],
    ],
  ],
  ['nothing', '', []],
])('%s', (_, folded, expected) => {
  expect(hotFunctions({ folded }, 2)).toEqual(expected.map(([name, share]) => ({ name, share })));
});
