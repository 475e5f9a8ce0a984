// A failed request on screen: what failed, why, and how to fix it. Plain text only: ui does not know the API.
import { Button } from '@mantine/core';
import { Notice } from './parts';

export interface ErrorText {
  title: string;
  detail?: string;
  remedies?: readonly string[];
}

export function ProblemNotice({ problem, onRetry }: { problem: ErrorText; onRetry?: () => void }) {
  const { title, detail, remedies = [] } = problem;
  return (
    <Notice
      alert
      tone="bad"
      badge="error"
      title={title}
      detail={[detail, ...remedies].map((line) => line && <p key={line}>{line}</p>)}
      actions={onRetry && <Button onClick={onRetry}>Retry</Button>}
    />
  );
}
