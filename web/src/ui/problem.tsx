// A failed call on screen: what failed, why, and what to try. It takes plain words, so that it knows no server.
import { Button } from '@mantine/core';
import { Notice } from './parts';

/** What is to be told. */
export interface Told {
  title: string;
  detail?: string;
  /** What to try, one line each. */
  remedies?: readonly string[];
}

/** The notice; `onRetry` offers to try again. */
export function ProblemNotice({ problem, onRetry }: { problem: Told; onRetry?: () => void }) {
  const more = (
    <>
      {problem.detail && <p>{problem.detail}</p>}
      {problem.remedies?.map((remedy) => (
        <p key={remedy}>{remedy}</p>
      ))}
    </>
  );
  return (
    <Notice
      alert
      tone="bad"
      badge="failed"
      say={problem.title}
      more={more}
      actions={onRetry && <Button onClick={onRetry}>Try again</Button>}
    />
  );
}
