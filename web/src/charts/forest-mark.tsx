// One row of a forest plot: the interval of a change, and the threshold.
import type { Change } from '../api';
import { type ForestScale, forestMark } from '../model/compare/forest';
import { formatChange } from '../model/compare/metrics';
import './charts.css';

const WIDTH = 240;
const HEIGHT = 20;
const MIDDLE = HEIGHT / 2;
/** Length of an arrowhead, and half of its height. */
const HEAD = { length: 9, half: 6 };
/** Width of the number next to an arrow. */
const VALUE_WIDTH = 64;

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
      {interval_percent && mark.beyondLow === null && <End x={x(mark.low)} />}
      {interval_percent && mark.beyondHigh === null && <End x={x(mark.high)} />}
      <OffScaleArrow side={-1} percent={mark.beyondLow} point={x(mark.point)} />
      <OffScaleArrow side={1} percent={mark.beyondHigh} point={x(mark.point)} />
      {![mark.beyondLow, mark.beyondHigh].includes(percent) && (
        <circle cx={x(mark.point)} cy={MIDDLE} r={interval_percent ? 4 : 2.5} />
      )}
    </svg>
  );
}

const End = ({ x }: { x: number }) => <path className="interval" d={`M${x} ${MIDDLE - 4}v8`} />;

interface OffScaleArrowProps {
  side: -1 | 1;
  percent: number | null;
  /** Position of the change's point, which the label must not cover. */
  point: number;
}

/** An arrow at one end of the plot, labeled with the value beyond that end. */
function OffScaleArrow({ side, percent, point }: OffScaleArrowProps) {
  if (percent === null) return null;
  const tip = side < 0 ? 0 : WIDTH;
  const base = tip - side * HEAD.length;
  const distance = Math.abs(tip - point);
  const hasRoom = distance === 0 || distance > HEAD.length + VALUE_WIDTH;
  return (
    <>
      <path
        className="head"
        d={`M${tip} ${MIDDLE}L${base} ${MIDDLE - HEAD.half}V${MIDDLE + HEAD.half}Z`}
      />
      {hasRoom && (
        <text x={base - side * 4} y={MIDDLE + 4} textAnchor={side < 0 ? 'start' : 'end'}>
          {formatChange(percent)}
        </text>
      )}
    </>
  );
}

/** The axis below all rows. */
export function ForestAxis({ scale: { limit } }: { scale: ForestScale }) {
  const label = limit < 10 ? limit.toFixed(1) : limit.toFixed(0);
  return (
    <span className="forest-axis mute" style={{ width: WIDTH }}>
      <span>−{label} %</span>
      <span>0</span>
      <span>+{label} %</span>
    </span>
  );
}
