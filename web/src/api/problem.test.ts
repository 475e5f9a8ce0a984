import { expect, it, vi } from 'vitest';
import { onSignedOut, readProblem } from './problem';

const answered = (status: number) => new Response(null, { status, statusText: 'Words' });

it('keeps what the server says', () => {
  const errors = [
    { code: 'bad_value', kind: 'invalid', field: 'jobs[0].bs', detail: 'No.', remedy: 'Yes.' },
  ];
  const problem = readProblem(
    { title: 'Refused', code: 'refused', detail: 'why', errors },
    answered(422),
  );
  expect(problem).toMatchObject({
    status: 422,
    code: 'refused',
    title: 'Refused',
    detail: 'why',
    problems: errors,
  });
});
it('says so when no answer came, or none that can be read', () => {
  expect(readProblem(new TypeError('failed to fetch'), undefined)).toMatchObject({
    status: 0,
    code: 'no_answer',
  });
  expect(readProblem('<html>', answered(502))).toMatchObject({
    code: 'http_502',
    title: 'The server answered 502 Words',
  });
});
it('tells whoever shows the way in about a 401, until told not to', () => {
  const heard = vi.fn();
  const stop = onSignedOut(heard);
  readProblem({}, answered(401));
  readProblem({}, answered(403));
  stop();
  readProblem({}, answered(401));
  expect(heard).toHaveBeenCalledTimes(1);
});
