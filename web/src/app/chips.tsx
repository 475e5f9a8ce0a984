// Header chips: connection, host status, queue.
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useSyncExternalStore } from 'react';
import { getFeedState, subscribeFeed } from '../api/feed';
import { hostsQuery } from '../api/queries';
import { Dot } from '../ui/parts';

export function HeaderChips() {
  const { status, queue } = useSyncExternalStore(subscribeFeed, getFeedState);
  return (
    <>
      {status === 'lost' && (
        <span className="chip tone-bad" role="status">
          <Dot tone="bad" hollow />
          <span>
            Disconnected<span className="detail">. Reconnecting…</span>
          </span>
        </span>
      )}
      <HostChip isCurrent={status !== 'lost'} />
      {queue && status !== 'lost' && (
        <Link to="/runs" className="chip">
          {queue.running > 0 && <Dot tone="app" active />}
          {queue.running} running · {queue.queued} queued
        </Link>
      )}
    </>
  );
}

function HostChip({ isCurrent }: { isCurrent: boolean }) {
  const { data: hosts } = useQuery(hostsQuery);
  const host = hosts?.[0];
  if (!host) return null;
  if (!isCurrent)
    return (
      <Link to="/devices" className="chip host-unknown">
        <Dot hollow /> {host.id} · status unknown
      </Link>
    );
  const problem = host.online ? host.facts?.io_uring_unavailable : (host.reason ?? 'offline');
  const status = !problem ? 'io_uring ready' : host.online ? 'io_uring unavailable' : problem;
  return (
    <Link
      to="/devices"
      className={`chip ${problem ? '' : 'host-ready'}`}
      title={problem ?? host.facts?.hostname}
    >
      <Dot tone={problem ? 'bad' : 'device'} hollow={Boolean(problem)} />
      <span className="clip" style={{ maxWidth: 300 }}>
        {host.id} · {status}
      </span>
    </Link>
  );
}
