// Failures in words for the screen: a problem of the server, with every refusal and its remedy.
import type { Refusal } from '../api';
import { ApiProblem } from '../api/problem';

/** What failed, why, and what to try. */
export interface Told {
  title: string;
  detail: string;
  remedies: string[];
}

/** Puts whatever was thrown into words. */
export function inWords(error: unknown): Told {
  if (!(error instanceof ApiProblem))
    return { title: 'Something went wrong in this page', detail: String(error), remedies: ['Reload the page.'] };
  return {
    title: error.title,
    detail: error.refusals.length > 0 ? '' : error.detail,
    remedies: error.refusals.map(refusalInWords),
  };
}

/** One refusal as a sentence with its remedy. */
export const refusalInWords = ({ sentence, remedy }: Refusal): string => [sentence, remedy].filter(Boolean).join(' ');
