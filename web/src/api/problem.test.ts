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

it.each([
  ['Unknown key `a`. Use rw or bs.', 'Unknown key `a`.', ['Use rw or bs.']],
  ['Run 9 does not exist.', 'Run 9 does not exist.', ['']],
  ['no sentence', 'Reason', ['no sentence']],
])('shows the first sentence of %j instead of a reason phrase', (detail, title, lines) =>
  expect(toApiProblem({ title: 'Reason', code: 'x', detail }, response(422))).toMatchObject({
    title,
    lines,
  }),
);

it('shows the first problem instead of a reason phrase', () => {
  const problem = (detail: string, remedy: string) => ({
    code: 'bad_value',
    kind: 'invalid' as const,
    field: 'bs',
    detail,
    remedy,
  });
  const errors = [problem('No.', 'Yes.'), problem('Also no.', 'Also yes.')];
  const body = { title: 'Reason', code: 'rejected', detail: 'bs: No. Yes.', errors };
  expect(toApiProblem(body, response(422))).toMatchObject({
    title: 'No.',
    lines: ['Yes.', 'Also no. Also yes.'],
    message: 'bs: No. Yes.',
    problems: errors,
  });
});
