// Failures in words for the screen: a problem of the server, with every problem and its remedy.
import type { Problem } from '../../api';
import { ApiProblem } from '../../api/problem';

/** What failed, why, and what to try. */
export interface ErrorText {
  title: string;
  detail: string;
  remedies: string[];
}

/** Puts whatever was thrown into words. */
export function errorText(error: unknown): ErrorText {
  if (!(error instanceof ApiProblem))
    return {
      title: 'Something went wrong in this page',
      detail: String(error),
      remedies: ['Reload the page.'],
    };
  return {
    title: error.title,
    detail: error.problems.length > 0 ? '' : error.detail,
    remedies: error.problems.map(problemText),
  };
}

/** One problem as text: detail, then remedy. */
export const problemText = ({ detail, remedy }: Problem): string =>
  [detail, remedy].filter(Boolean).join(' ');
