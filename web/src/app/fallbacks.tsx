// Pages for unknown addresses, failed page loads, and rendering errors.
import { Button } from '@mantine/core';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { useEffect } from 'react';
import { onFeedConnected } from '../api/feed';
import { copyText } from '../ui/clipboard';
import { Empty, Notice, Page } from '../ui/parts';
import { PageNotLoaded } from './lazy-page';

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
  if (error instanceof PageNotLoaded) return <NotLoadedPage />;
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

/** Opens the page once the server responds again. */
function NotLoadedPage() {
  useEffect(() => {
    void reloadIfReachable();
    return onFeedConnected(() => void reloadIfReachable());
  }, []);
  return (
    <Page title="Server not responding">
      <Notice
        alert
        tone="bad"
        badge="Error"
        title="The server is not responding"
        detail="This page opens as soon as the server responds."
        actions={<Button onClick={() => void reloadIfReachable(0)}>Retry</Button>}
      />
    </Page>
  );
}

const RELOADED_KEY = 'leadline-reloaded-at';
/** Minimum time between reloads of a page whose code cannot be loaded. */
const RELOAD_INTERVAL_MS = 10_000;

/** If the server is unreachable, a reload would replace the page with the browser's error page. */
async function reloadIfReachable(interval_ms = RELOAD_INTERVAL_MS) {
  const last_ms = Number(sessionStorage.getItem(RELOADED_KEY) ?? 0);
  if (Date.now() - last_ms < interval_ms) return;
  const response = await fetch('/', { method: 'HEAD' }).catch(() => null);
  if (!response?.ok) return;
  sessionStorage.setItem(RELOADED_KEY, String(Date.now()));
  location.reload();
}
