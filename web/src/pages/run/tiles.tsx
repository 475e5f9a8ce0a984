// The big figures.

import { type Live, useTick } from '../../charts/use-live';
import { tilesOf } from '../../model/run/tiles';

/** IOPS, bandwidth, latency and processor: of the last second, or of the whole run when it is over. */
export function Tiles({ live: { fold, chartGroup } }: { live: Live }) {
  useTick(chartGroup);
  return (
    <section className="tiles" aria-label="Figures">
      {tilesOf(fold).map(({ label, figure, below, warns }) => (
        <div key={label} className="card tile">
          <b>
            {figure.value}
            {figure.unit && <small>{figure.unit}</small>}
          </b>
          <span>{label}</span>
          <span className={`below clip${warns ? ' warns' : ''}`} title={below}>
            {below}
          </span>
        </div>
      ))}
    </section>
  );
}
