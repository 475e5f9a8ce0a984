// Shows a failed request: what failed, why, and how to fix it. Plain text only: `ui` does not
// depend on the API.
import { Button } from '@mantine/core';
import { Notice } from './parts';

interface ErrorText {
  title: string;
  lines: readonly string[];
}

const isErrorText = (error: unknown): error is ErrorText =>
  typeof error === 'object' && error !== null && 'title' in error && 'lines' in error;

export const errorText = (error: unknown): ErrorText =>
  isErrorText(error)
    ? error
    : { title: 'Unexpected error', lines: [String(error), 'Reload the page.'] };

interface ProblemNoticeProps {
  error: unknown;
  retry?: () => unknown;
  /** Label of the button that calls `retry`. */
  label?: string;
}

/** Renders nothing if there is no error. */
export function ProblemNotice({ error, retry, label = 'Retry' }: ProblemNoticeProps) {
  if (!error) return null;
  const { title, lines } = errorText(error);
  return (
    <Notice
      alert
      tone="bad"
      badge="Error"
      title={title}
      detail={lines.map((line) => line && <p key={line}>{line}</p>)}
      actions={retry && <Button onClick={() => void retry()}>{label}</Button>}
    />
  );
}
