// The legend of a chart: which line is which, and its value at the crosshair. The values are written by the chart
// itself, past React, because they change with every frame.
import type { Ref } from 'react';
import './charts.css';

/** One line of a legend. */
export interface LegendEntry {
  label: string;
  color: string;
  dashed?: boolean;
}

/** The entries in a row. */
export function Legend({ entries, ref }: { entries: readonly LegendEntry[]; ref?: Ref<HTMLSpanElement> }) {
  return (
    <span ref={ref} className="legend">
      {entries.map(({ label, color, dashed }) => (
        <span key={label}>
          <i style={{ borderTopColor: `var(--${color})`, borderTopStyle: dashed ? 'dashed' : 'solid' }} />
          {label} {ref && <b />}
        </span>
      ))}
    </span>
  );
}
