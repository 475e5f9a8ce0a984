import { expect, it } from 'vitest';
import { termOf, withTerm } from './filter';

it.each([
  ['', 'verdict', 'device', 'verdict:device'],
  ['rw:read demo', 'verdict', 'device', 'rw:read demo verdict:device'],
  ['verdict:device rw:read', 'verdict', 'mixed', 'rw:read verdict:mixed'],
  ['verdict:device rw:read', 'verdict', null, 'rw:read'],
  ['-verdict:device', 'verdict', 'mixed', '-verdict:device verdict:mixed'],
])('%j with %s:%s is %j', (filter, key, value, expected) => {
  expect(withTerm(filter, key, value)).toBe(expected);
  expect(termOf(expected, key)).toBe(value);
});
