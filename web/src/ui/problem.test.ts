import { expect, it } from 'vitest';
import { ApiProblem } from '../api/problem';
import { errorText } from './problem';

it('shows failed calls with their title, and other errors as unexpected', () => {
  expect(errorText(new ApiProblem(429, 'full', 'Full', 'why'))).toMatchObject({
    title: 'Full',
    lines: ['why'],
  });
  expect(errorText(new Error('boom'))).toEqual({
    title: 'Unexpected error',
    lines: ['Error: boom', 'Reload the page.'],
  });
});
