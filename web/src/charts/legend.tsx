// The legend of a chart, with values at the crosshair. The chart writes the values directly into
// the DOM because they change with every frame.
import type { Ref } from 'react';
import { dashPattern, type LineStyle } from '../model/series/line-style';
import './charts.css';

export interface LegendEntry extends LineStyle {
  label: string;
}

export function Legend({
  entries,
  ref,
}: {
  entries: readonly LegendEntry[];
  ref?: Ref<HTMLSpanElement>;
}) {
  return (
    <span ref={ref} className="legend">
      {entries.map(({ label, color, dash }) => (
        <span key={label}>
          <svg aria-hidden viewBox="0 0 24 4">
            <path
              d="M0 2H24"
              stroke={`var(--${color})`}
              strokeDasharray={dashPattern(dash).join(' ') || undefined}
            />
          </svg>
          {label} {ref && <b />}
        </span>
      ))}
    </span>
  );
}
