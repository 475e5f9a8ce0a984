// What went wrong between page and server, in a shape that can be shown: what failed, why, and what to try (RFC 9457
// problems, and the failures that never reached the server). A 401 is also told to whoever shows the login page.
import type { Problem, ProblemDetails } from './generated/types.gen';

/** A call that failed. */
export class ApiProblem extends Error {
  override name = 'ApiProblem';

  constructor(
    /** HTTP status; 0 when no answer came. */
    readonly status: number,
    /** Stable name of the problem, such as `not_found`. */
    readonly code: string,
    readonly title: string,
    /** Why, in a sentence. */
    readonly detail: string,
    /** Every bad field, where fields are what is wrong. */
    readonly problems: Problem[] = [],
  ) {
    super(detail || title);
  }
}

const listeners = new Set<() => void>();

/** Calls back whenever the server asks for a token. Returns how to stop it. */
export function onSignedOut(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Makes a problem of whatever a call ended with. */
export function readProblem(error: unknown, response: Response | undefined): ApiProblem {
  if (!response) {
    return new ApiProblem(
      0,
      'no_answer',
      'The server does not answer',
      'It may have been stopped, or the connection is gone.',
    );
  }
  if (response.status === 401) for (const listener of listeners) listener();
  const problem = isProblem(error) ? error : null;
  return new ApiProblem(
    response.status,
    problem?.code ?? `http_${response.status}`,
    problem?.title ?? `The server answered ${response.status} ${response.statusText}`,
    problem?.detail ?? '',
    problem?.errors ?? [],
  );
}

function isProblem(error: unknown): error is ProblemDetails {
  return typeof error === 'object' && error !== null && 'title' in error && 'code' in error;
}
