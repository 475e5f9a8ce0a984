// A chart's legend, with values at the crosshair. The chart writes the values directly into
// the DOM, because they change with every frame. An entry can be a button that hides its line.
import type { Ref } from 'react';
import { dashPattern, isCross, type LineStyle, POINT_PATHS } from '../model/series/line-style';
import './charts.css';

interface LegendEntry extends LineStyle {
  label: string;
}

interface LegendProps {
  entries: readonly LegendEntry[];
  ref?: Ref<HTMLSpanElement>;
  /** Labels of hidden lines. */
  hidden?: ReadonlySet<string>;
  /** Shows or hides a line. */
  onToggle?: (label: string) => void;
  /** Called with the line that is hovered or focused, or with null. */
  onEmphasize?: (label: string | null) => void;
  /** Lines with constant values. The values are part of their labels. */
  constants?: readonly LegendEntry[];
}

export function Legend({
  entries,
  ref,
  hidden,
  onToggle,
  onEmphasize,
  constants = [],
}: LegendProps) {
  return (
    <span ref={ref} className="legend">
      {entries.map((entry) => {
        const { label } = entry;
        const content = (
          <>
            <LineMark {...entry} />
            {label} {ref && <b />}
          </>
        );
        return onToggle ? (
          <button
            key={label}
            type="button"
            className="plain"
            aria-label={label}
            aria-pressed={!hidden?.has(label)}
            onClick={() => onToggle(label)}
            onPointerEnter={() => onEmphasize?.(label)}
            onPointerLeave={() => onEmphasize?.(null)}
            onFocus={() => onEmphasize?.(label)}
            onBlur={() => onEmphasize?.(null)}
          >
            {content}
          </button>
        ) : (
          <span key={label}>{content}</span>
        );
      })}
      {constants.map((entry) => (
        <span key={entry.label}>
          <LineMark {...entry} />
          {entry.label}
        </span>
      ))}
    </span>
  );
}

function LineMark({ color, dash, point }: LineStyle) {
  if (point)
    return (
      <svg aria-hidden viewBox="0 0 10 10" className="point">
        <path
          d={POINT_PATHS[point]}
          fill={isCross(point) ? 'none' : `var(--${color})`}
          stroke={isCross(point) ? `var(--${color})` : 'none'}
        />
      </svg>
    );
  return (
    <svg aria-hidden viewBox="0 0 24 4">
      <path
        d="M0 2H24"
        stroke={`var(--${color})`}
        strokeDasharray={dashPattern(dash).join(' ') || undefined}
      />
    </svg>
  );
}
