// Error messages for the UI: title, detail and remedies of a failed call.
import type { Problem } from '../../api';
import { ApiProblem } from '../../api/problem';

export interface ErrorText {
  title: string;
  detail: string;
  remedies: string[];
}

export function errorText(error: unknown): ErrorText {
  if (!(error instanceof ApiProblem)) {
    return { title: 'Unexpected error', detail: String(error), remedies: ['Reload the page.'] };
  }
  const { title, detail, problems } = error;
  return { title, detail: problems.length > 0 ? '' : detail, remedies: problems.map(problemText) };
}

export const problemText = ({ detail, remedy }: Problem): string =>
  [detail, remedy].filter(Boolean).join(' ');
