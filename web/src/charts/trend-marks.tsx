// Marks in a trend chart: the baseline, host changes, and change points with the levels between
// them.
import type { Trend } from '../api';
import { levels } from '../model/trend/geometry';
import { changeOf, factText } from '../model/trend/text';
import {
  HEIGHT,
  MARGIN_BOTTOM,
  MARGIN_LEFT,
  MARGIN_RIGHT,
  MARGIN_TOP,
  type PlotProps,
  type PointsProps,
} from './trend-plot';

/** Average width of a character in mark labels. */
const LETTER = 6.2;

/** The median of the baseline, and the threshold on both sides. */
export function BaselineBand({ trend, plot }: PlotProps & { trend: Trend }) {
  const median = trend.baseline_statistics?.median;
  if (median == null) return null;
  const ratio = 1 + trend.threshold_percent / 100;
  const [top, bottom] = [plot.y(median * ratio), plot.y(median / ratio)];
  return (
    <>
      <rect
        className="baseline-band"
        x={MARGIN_LEFT}
        y={top}
        width={plot.width - MARGIN_LEFT - MARGIN_RIGHT}
        height={Math.max(1, bottom - top)}
      />
      <path
        className="baseline"
        d={`M${MARGIN_LEFT} ${plot.y(median)}H${plot.width - MARGIN_RIGHT}`}
      />
      <text className="baseline-text" x={MARGIN_LEFT + 6} y={top - 5}>
        baseline ±{trend.threshold_percent} %
      </text>
    </>
  );
}

/** Labels are shown only where there is room. */
export function HostMarks({ points, plot }: PointsProps) {
  let free = MARGIN_LEFT;
  const marks = points.flatMap(({ host_changes, started_at_ms }, index) => {
    const [change] = host_changes;
    if (!change) return [];
    const more = host_changes.length > 1 ? ` +${host_changes.length - 1}` : '';
    const full = factText(change);
    const text = `${full.length > 34 ? `${full.slice(0, 33)}…` : full}${more}`;
    const x = plot.x(index) - plot.step / 2;
    const width = text.length * LETTER + 10;
    const isFlipped = x + width > plot.width - MARGIN_RIGHT;
    const start = isFlipped ? x - width : x;
    const isShown = start >= free;
    if (isShown) free = start + width + (isFlipped ? 6 : 0);
    return [{ key: `${started_at_ms} ${index}`, x, text: isShown ? text : '', isFlipped }];
  });
  return (
    <>
      {marks.map(({ key, x }) => (
        <g key={key} className="host-mark">
          <path d={`M${x} ${MARGIN_TOP - 20}V${HEIGHT - MARGIN_BOTTOM}`} />
        </g>
      ))}
      {marks.map(({ key, x, text, isFlipped }) => (
        <g key={key} className="host-mark">
          <text
            x={isFlipped ? x - 5 : x + 5}
            y={MARGIN_TOP - 22 + 10}
            textAnchor={isFlipped ? 'end' : 'start'}
          >
            {text}
          </text>
        </g>
      ))}
    </>
  );
}

interface ChangesProps extends PlotProps {
  trend: Trend;
  first: number;
}

export function Levels({ trend, first, count, plot }: ChangesProps & { count: number }) {
  return levels(trend.changes, first, count).map(({ from, to, mean }) => (
    <path
      key={from}
      className="level"
      d={`M${plot.x(from) - plot.step / 2} ${plot.y(mean)}H${plot.x(to - 1) + plot.step / 2}`}
    />
  ));
}

const toneOf = (isBetter: boolean | null | undefined) => {
  if (isBetter == null) return '';
  return isBetter ? 'better' : 'worse';
};

export function Changes({ trend, first, plot }: ChangesProps) {
  const shown = trend.changes.filter(({ point }) => point >= first);
  return shown.map(({ point, percent, is_better, mean_before, mean_after }) => {
    const x = plot.x(point - first) - plot.step / 2;
    const text = changeOf(percent);
    const width = text.length * 7 + 12;
    const center = Math.min(
      plot.width - MARGIN_RIGHT - width / 2,
      Math.max(MARGIN_LEFT + width / 2, x),
    );
    const y = (plot.y(mean_before) + plot.y(mean_after)) / 2;
    return (
      <g key={point} className={`change-mark ${toneOf(is_better)}`}>
        <path d={`M${x} ${plot.y(mean_before)}V${plot.y(mean_after)}`} />
        {text && (
          <>
            <rect x={center - width / 2} y={y - 10} width={width} height={20} rx={10} />
            <text x={center} y={y + 4} textAnchor="middle">
              {text}
            </text>
          </>
        )}
      </g>
    );
  });
}
