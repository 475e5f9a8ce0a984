// Key metrics: for the last second while the run is live, and for the whole run after that.

import { type LiveRun, useTick } from '../../charts/use-live-run';
import { toTiles } from '../../model/run/tiles';

export function Tiles({ live: { fold, chartGroup } }: { live: LiveRun }) {
  useTick(chartGroup);
  return (
    <section className="tiles" aria-label="Key metrics">
      {toTiles(fold).map(({ label, figure, note, isWarning }) => (
        <div key={label} className="card tile">
          <b>
            {figure.value}
            {figure.unit && <small>{figure.unit}</small>}
          </b>
          <span>{label}</span>
          <span className={`clip note ${isWarning ? 'warning' : ''}`} title={note}>
            {note}
          </span>
        </div>
      ))}
    </section>
  );
}
