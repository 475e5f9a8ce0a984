// One row of a forest plot: a change's interval and the threshold.
import type { Change } from '../api';
import { type ForestScale, forestMark } from '../model/compare/forest';
import './charts.css';

const WIDTH = 240;
const HEIGHT = 20;
const MIDDLE = HEIGHT / 2;

interface ForestRowProps {
  scale: ForestScale;
  change: Pick<Change, 'percent' | 'interval_percent' | 'verdict'>;
}

export function ForestRow({
  scale,
  change: { percent, interval_percent, verdict },
}: ForestRowProps) {
  const mark = forestMark(scale, percent, interval_percent);
  const x = (position: number) => position * WIDTH;
  const band = (scale.threshold / scale.limit) * WIDTH;
  const isDecided = verdict === 'better' || verdict === 'worse';
  return (
    <svg
      aria-hidden
      className={`forest ${isDecided ? verdict : ''}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      width={WIDTH}
      height={HEIGHT}
    >
      <rect className="band" x={WIDTH / 2 - band / 2} width={band} height={HEIGHT} />
      <path className="zero" d={`M${WIDTH / 2} 0V${HEIGHT}`} />
      {interval_percent && (
        <path className="interval" d={`M${x(mark.low)} ${MIDDLE}H${x(mark.high)}`} />
      )}
      {interval_percent && !mark.isCutLow && <End x={x(mark.low)} />}
      {interval_percent && !mark.isCutHigh && <End x={x(mark.high)} />}
      <circle cx={x(mark.point)} cy={MIDDLE} r={interval_percent ? 4 : 2.5} />
    </svg>
  );
}

const End = ({ x }: { x: number }) => <path className="interval" d={`M${x} ${MIDDLE - 4}v8`} />;

/** The axis below the rows. */
export function ForestAxis({ scale: { limit } }: { scale: ForestScale }) {
  const label = limit < 10 ? limit.toFixed(1) : limit.toFixed(0);
  return (
    <span className="forest-axis mute">
      <span>−{label} %</span>
      <span>0</span>
      <span>+{label} %</span>
    </span>
  );
}
