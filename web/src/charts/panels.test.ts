import { expect, it } from 'vitest';
import { panelsOf } from './panels';

it('says of how many processors a share is', () => {
  const processor = panelsOf({ reads: true, writes: false, trims: false }).find(
    ({ key }) => key === 'processor',
  );
  expect(processor?.lines.map(({ label }) => label)).toEqual([
    'runner user, of one',
    'runner system, of one',
    'host, of all',
    'pressure',
  ]);
});
