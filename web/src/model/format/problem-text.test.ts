import { expect, it } from 'vitest';
import { ApiProblem } from '../../api/problem';
import { errorText } from './problem-text';

it('lists problems with remedies, or the detail without problems', () => {
  const problem = {
    code: 'x',
    kind: 'invalid' as const,
    field: null,
    detail: 'No.',
    remedy: 'Do this.',
  };
  expect(errorText(new ApiProblem(422, 'refused', 'Refused', 'long', [problem]))).toEqual({
    title: 'Refused',
    detail: '',
    remedies: ['No. Do this.'],
  });
  expect(errorText(new ApiProblem(429, 'full', 'Full', 'why'))).toEqual({
    title: 'Full',
    detail: 'why',
    remedies: [],
  });
  expect(errorText(new Error('boom')).detail).toContain('boom');
});
