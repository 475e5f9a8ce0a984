// What stands here when there is no such page, or a page broke.
import { Button } from '@mantine/core';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { copyText } from '../ui/clipboard';
import { Empty, Page } from '../ui/parts';

/** No such address. */
export function NotFound() {
  return (
    <Page title="Not found">
      <h1>There is no such page</h1>
      <Empty title={location.pathname} actions={<Link to="/runs">All runs</Link>}>
        The address may be misspelled, or what stood here was deleted.
      </Empty>
    </Page>
  );
}

/** A page that broke. */
export function Crash({ error: thrown, reset }: ErrorComponentProps) {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const details = `${error.name}: ${error.message}\n${error.stack ?? ''}\n${location.href}`;
  return (
    <Page title="This page broke">
      <h1>This page broke</h1>
      <Empty
        title={error.message}
        actions={
          <>
            <Button onClick={reset}>Try again</Button>
            <Button onClick={() => location.reload()}>Reload</Button>
            <Button onClick={() => void copyText('The details', details)}>Copy details</Button>
          </>
        }
      >
        Runs go on: they do not depend on this page. If trying again does not help, the copied
        details say what happened.
      </Empty>
    </Page>
  );
}
