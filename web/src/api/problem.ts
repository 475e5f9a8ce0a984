// Failed API calls: RFC 9457 problems, and failures without a response. A 401 also notifies the
// sign-in page.
import type { Problem, ProblemDetails } from './generated/types.gen';

export class ApiProblem extends Error {
  override name = 'ApiProblem';
  /** What is wrong and how to fix it, shown below the title. */
  readonly lines: readonly string[];

  constructor(
    /** HTTP status; 0 if there was no response. */
    readonly status: number,
    /** Machine-readable code, such as `not_found`. */
    readonly code: string,
    readonly title: string,
    detail: string,
    /** One entry per invalid field. */
    readonly problems: Problem[] = [],
    lines?: readonly string[],
  ) {
    super(detail || title);
    this.lines = lines ?? (problems.length > 0 ? problems.map(problemText) : [detail]);
  }
}

export const problemText = ({ detail, remedy }: Problem): string =>
  [detail, remedy].filter(Boolean).join(' ');

const listeners = new Set<() => void>();

/** Calls `listener` on every 401. Returns an unsubscribe function. */
export function onUnauthorized(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Converts a failed call's error; `response` is undefined if the server was not reached. */
export function toApiProblem(error: unknown, response: Response | undefined): ApiProblem {
  if (!response) {
    return new ApiProblem(
      0,
      'no_response',
      'The server is not responding',
      'It may have stopped, or the connection was lost.',
    );
  }
  const { status, statusText } = response;
  if (status === 401) for (const listener of listeners) listener();
  if (!isProblem(error)) {
    return new ApiProblem(
      status,
      `http_${status}`,
      `The server returned ${status} ${statusText}`,
      '',
    );
  }
  const { code, title, errors } = error;
  const detail = error.detail ?? '';
  const shown = title === statusText ? replaceReasonPhrase(error) : undefined;
  return new ApiProblem(status, code, shown?.title ?? title, detail, errors, shown?.lines);
}

/** Uses the first problem or sentence as the title if the title is just the HTTP reason phrase. */
function replaceReasonPhrase({ detail, errors = [] }: ProblemDetails) {
  const [problem, ...others] = errors;
  if (problem)
    return { title: problem.detail, lines: [problem.remedy, ...others.map(problemText)] };
  const [, title, rest = ''] = /^(.*?[.!?])(?:\s+(.*))?$/s.exec(detail ?? '') ?? [];
  return title ? { title, lines: [rest] } : undefined;
}

function isProblem(error: unknown): error is ProblemDetails {
  return typeof error === 'object' && error !== null && 'title' in error && 'code' in error;
}
