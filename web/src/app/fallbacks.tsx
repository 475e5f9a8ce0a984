// Pages for unknown addresses and for errors while rendering.
import { Button } from '@mantine/core';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { copyText } from '../ui/clipboard';
import { Empty, Page } from '../ui/parts';

export function NotFound() {
  return (
    <Page title="Not found">
      <h1>Page not found</h1>
      <Empty title={location.pathname} actions={<Link to="/runs">All runs</Link>}>
        Check the address. The item may have been deleted.
      </Empty>
    </Page>
  );
}

export function Crash({ error: thrown, reset }: ErrorComponentProps) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const details = `${error.name}: ${error.message}\n${error.stack ?? ''}\n${location.href}`;
  return (
    <Page title="Error">
      <h1>This page failed to render</h1>
      <Empty
        title={error.message}
        actions={
          <>
            <Button onClick={reset}>Retry</Button>
            <Button onClick={() => location.reload()}>Reload</Button>
            <Button onClick={() => void copyText('Details', details)}>Copy details</Button>
          </>
        }
      >
        Runs are not affected. If retrying does not help, copy the details and report the problem.
      </Empty>
    </Page>
  );
}
