// Notice, shown below the header, that the database does not accept writes.
import { useSyncExternalStore } from 'react';
import { getFeedState, subscribeFeed } from '../api/feed';
import { Notice } from '../ui/parts';

export function StoreNotice() {
  const { storeProblem } = useSyncExternalStore(subscribeFeed, getFeedState);
  if (!storeProblem) return null;
  return (
    <div className="store-notice">
      <Notice alert tone="bad" title="Results cannot be stored" detail={storeProblem} />
    </div>
  );
}
