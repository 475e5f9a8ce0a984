// How something stands, as a word in a badge: trouble, under way, waiting or well.
import { Badge, Dot } from './parts';

/** A word, and what kind of standing it is. */
export interface Standing {
  word: string;
  kind: 'waits' | 'runs' | 'well' | 'trouble';
}

/** The badge. */
export function StandingBadge({ standing: { word, kind } }: { standing: Standing }) {
  return (
    <Badge tone={kind === 'trouble' ? 'bad' : kind === 'runs' ? 'app' : null}>
      {kind === 'runs' && <Dot tone="app" pulse />} {word}
    </Badge>
  );
}

/** The same in a table: a dot and the word. */
export function StandingDot({ standing: { word, kind } }: { standing: Standing }) {
  const tone = kind === 'trouble' ? 'bad' : kind === 'runs' ? 'app' : kind === 'well' ? 'device' : null;
  return (
    <span className="row tight" style={{ flexWrap: 'nowrap' }}>
      <Dot tone={tone} hollow={kind === 'trouble' || kind === 'waits'} pulse={kind === 'runs'} /> {word}
    </span>
  );
}
