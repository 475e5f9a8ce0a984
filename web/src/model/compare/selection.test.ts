import { expect, it } from 'vitest';
import { type CompareSearch, studySearch, toParameters, withGroups } from './selection';

it.each<[CompareSearch, ReturnType<typeof toParameters>]>([
  [{}, null],
  [{ runs: '1' }, null],
  [{ runs: '1,2' }, { runs: '1,2', baseline: '1' }],
  [
    { runs: '1,2', baseline: '2' },
    { runs: '1,2', baseline: '2' },
  ],
  [
    { runs: '1,2', baseline: '7' },
    { runs: '1,2', baseline: '1' },
  ],
  [{ a: 'tag:x' }, null],
  [
    { a: 'tag:x', b: ' 3,4 ' },
    { a: 'tag:x', b: '3,4' },
  ],
  [
    { a: 'x', c: 'y', baseline: 'b', threshold: '5' },
    { a: 'x', b: 'y', baseline: 'b', threshold: 5 },
  ],
  [
    { runs: '1,2', threshold: 'x' },
    { runs: '1,2', baseline: '1' },
  ],
])('reads %j', (search, expected) => expect(toParameters(search)).toEqual(expected));

it('writes groups in order', () => {
  expect(withGroups({ runs: '1,2', threshold: '3' }, ['one', ' ', 'two'])).toEqual({
    a: 'one',
    b: 'two',
    threshold: '3',
  });
  expect(studySearch(7, 2)).toEqual({ a: 'study:7/step:1', b: 'study:7/step:2' });
});
