import { expect, it } from 'vitest';
import { addView, findView, removeView, type View, validViews } from './views';

const nightly: View = { name: 'nightly', search: { q: 'tag:nightly', columns: 'number,name' } };
const slow: View = { name: 'slow', search: { sort: 'lat_p99_ns', order: 'desc' } };

it('adds views in alphabetical order, and replaces those with the same name', () => {
  expect(addView([slow], nightly)).toEqual([nightly, slow]);
  const changed = { name: 'slow', search: { q: 'rw:read' } };
  expect(addView([nightly, slow], changed)).toEqual([nightly, changed]);
  expect(removeView([nightly, slow], 'nightly')).toEqual([slow]);
});

it('finds the view with the same search', () => {
  expect(findView([nightly, slow], { order: 'desc', sort: 'lat_p99_ns' })).toBe(slow);
  expect(findView([nightly, slow], { ...nightly.search, q: undefined })).toBeUndefined();
  expect(findView([nightly, slow], {})).toBeUndefined();
});

it('ignores stored values that are not views', () => {
  expect(validViews([nightly, null, 3, { name: 'x' }, { name: '', search: {} }])).toEqual([
    nightly,
  ]);
  expect(validViews([{ name: 'x', search: { q: 1 } }])).toEqual([]);
  expect(validViews('nightly')).toEqual([]);
});
