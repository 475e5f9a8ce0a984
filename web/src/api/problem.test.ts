import { expect, it, vi } from 'vitest';
import { onUnauthorized, toApiProblem } from './problem';

const response = (status: number) => new Response(null, { status, statusText: 'Reason' });

it('keeps the fields of the problem', () => {
  const errors = [
    { code: 'bad_value', kind: 'invalid', field: 'jobs[0].bs', detail: 'No.', remedy: 'Yes.' },
  ];
  const problem = toApiProblem(
    { title: 'Rejected', code: 'rejected', detail: 'why', errors },
    response(422),
  );
  expect(problem).toMatchObject({
    status: 422,
    code: 'rejected',
    title: 'Rejected',
    message: 'why',
    problems: errors,
    lines: ['No. Yes.'],
  });
});

it('shows the detail of an error without problems', () =>
  expect(toApiProblem({ title: 'Full', code: 'full', detail: 'why' }, response(429)).lines).toEqual(
    ['why'],
  ));

it('handles missing responses and responses without a problem', () => {
  expect(toApiProblem(new TypeError('failed to fetch'), undefined)).toMatchObject({
    status: 0,
    code: 'no_response',
  });
  expect(toApiProblem('<html>', response(502))).toMatchObject({
    code: 'http_502',
    title: 'The server returned 502 Reason',
  });
});

it('notifies listeners of a 401 until they unsubscribe', () => {
  const listener = vi.fn();
  const stop = onUnauthorized(listener);
  toApiProblem({}, response(401));
  toApiProblem({}, response(403));
  stop();
  toApiProblem({}, response(401));
  expect(listener).toHaveBeenCalledTimes(1);
});
