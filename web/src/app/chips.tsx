// How the host stands and what runs, in the header of every page.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { getFeedState, subscribeFeed } from '../api/feed';
import { hostsQuery } from '../api/queries';
import { Dot } from '../ui/parts';

/** The chips of the header. */
export function HeaderChips() {
  const { status, queue } = useSyncExternalStore(subscribeFeed, getFeedState);
  return (
    <>
      {status === 'lost' && (
        <span className="chip tone-bad" role="status">
          <Dot tone="bad" hollow /> server lost, trying again
        </span>
      )}
      <HostChip />
      {queue && (
        <Link to="/runs" className="chip">
          {queue.running > 0 && <Dot tone="app" pulse />}
          {queue.running} running · {queue.queued} queued
        </Link>
      )}
    </>
  );
}

function HostChip() {
  const { data: hosts } = useQuery(hostsQuery);
  const host = hosts?.[0];
  if (!host) return null;
  const refused = host.facts?.io_uring_unavailable;
  const well = host.online && !refused;
  const state = !host.online
    ? (host.reason ?? 'offline')
    : refused
      ? 'no io_uring'
      : 'io_uring ready';
  return (
    <Link to="/devices" className="chip" title={refused ?? host.reason ?? host.facts?.hostname}>
      <Dot tone={well ? 'device' : 'bad'} hollow={!well} />
      <span className="clip" style={{ maxWidth: 300 }}>
        {host.id} · {state}
      </span>
    </Link>
  );
}
