// How something stands, as a label in a badge: trouble, under way, waiting or well.
import { Badge, Dot } from './parts';

/** A label, and what kind of standing it is. */
export interface StatusView {
  label: string;
  kind: 'pending' | 'running' | 'success' | 'failure';
}

/** The badge. */
export function StatusBadge({ standing: { label, kind } }: { standing: StatusView }) {
  return (
    <Badge tone={kind === 'failure' ? 'bad' : kind === 'running' ? 'app' : null}>
      {kind === 'running' && <Dot tone="app" pulse />} {label}
    </Badge>
  );
}

/** The same in a table: a dot and the label. */
export function StatusDot({ standing: { label, kind } }: { standing: StatusView }) {
  const tone =
    kind === 'failure' ? 'bad' : kind === 'running' ? 'app' : kind === 'success' ? 'device' : null;
  return (
    <span className="row tight" style={{ flexWrap: 'nowrap' }}>
      <Dot
        tone={tone}
        hollow={kind === 'failure' || kind === 'pending'}
        pulse={kind === 'running'}
      />{' '}
      {label}
    </span>
  );
}
