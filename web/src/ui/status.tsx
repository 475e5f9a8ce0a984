// Run or study status, as a badge or a table cell.
import { Badge, Dot, type Tone } from './parts';

export interface Status {
  label: string;
  kind: 'pending' | 'running' | 'success' | 'failure';
}

const TONES: Record<Status['kind'], Tone> = {
  pending: null,
  running: 'app',
  success: 'device',
  failure: 'bad',
};

export function StatusBadge({ status: { label, kind } }: { status: Status }) {
  return (
    <Badge tone={kind === 'success' ? null : TONES[kind]}>
      {kind === 'running' && <Dot tone="app" active />} {label}
    </Badge>
  );
}

export function StatusDot({ status: { label, kind } }: { status: Status }) {
  return (
    <span className="row tight nowrap">
      <Dot
        tone={TONES[kind]}
        hollow={kind === 'failure' || kind === 'pending'}
        active={kind === 'running'}
      />{' '}
      {label}
    </span>
  );
}
