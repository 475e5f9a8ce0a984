// Shown instead of a run or study that is loading, could not be loaded, or has an invalid number in
// the URL.
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Empty, Page } from './parts';
import { ProblemNotice } from './problem';

interface NotLoadedProps {
  kind: 'Run' | 'Study';
  n: string;
  error: unknown;
  retry: () => unknown;
  actions?: ReactNode;
}

export const isValidNumber = (n: string) => Number.isInteger(Number(n)) && Number(n) > 0;

export function NotLoaded({ kind, n, error, retry, actions }: NotLoadedProps) {
  const title = `${kind} #${n}`;
  const all =
    kind === 'Run' ? <Link to="/runs">All runs</Link> : <Link to="/studies">All studies</Link>;
  return (
    <Page title={title}>
      <h1>{title}</h1>
      <ProblemNotice error={error} retry={retry} />
      <div className="row">
        {isValidNumber(n) && all}
        {actions}
      </div>
      {!isValidNumber(n) && <Empty title={`Invalid ${kind.toLowerCase()} number`} actions={all} />}
    </Page>
  );
}
