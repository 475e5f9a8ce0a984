// The depth gauge: a cross-section of the host that shows how much I/O crossed each layer boundary.
// The lead marks the layer that served the most I/Os. Live runs, finished runs and comparisons use
// the same drawing.
import { memo, useId } from 'react';
import type { Gauge, Layer, LayerFlow } from '../api';
import { bytes, count, share, shortCount, text, UNKNOWN } from '../model/format/numbers';
import { LAYERS } from '../model/gauge/layers';
import {
  DEPTHS,
  type FlowShape,
  flowShapes,
  HEIGHT,
  LAYER_COLORS,
  leadDepth,
  ROPE_X,
  TOP,
  WIDTH,
} from './gauge-shape';
import './charts.css';

/** Background opacity for each layer. */
const OPACITIES = [0.05, 0.08, 0.11, 0.17];
const LABELS = ['Application', 'Page cache', 'Filesystem|and block layer', 'Device'];
/**
 * Maximum number of characters per line of a note. Notes must fit between the edge and the rope.
 */
const NOTE_WIDTH = 17;
/** Distance between two knots of the rope. */
const KNOT_DISTANCE = 24;
/** Largest I/O count that is not abbreviated. */
const MAX_FULL_COUNT = 9_999_999;

/** `description`: the gauge as text, for screen readers. */
export const DepthGauge = memo(function DepthGauge({
  gauge,
  description,
}: {
  gauge: Gauge;
  description: string;
}) {
  const depth = leadDepth(gauge);
  return (
    <svg
      className="gauge"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Depth gauge. ${description}`}
    >
      {LAYERS.map((layer, i) => (
        <LayerBand key={layer} layer={layer} index={i} note={gauge.notes[layer] ?? ''} />
      ))}
      {flowShapes(gauge).map((shape) => (
        <Flow key={shape.kind} shape={shape} gauge={gauge} />
      ))}
      {depth !== null && <Lead depth={depth} />}
    </svg>
  );
});

function LayerBand({ layer, index, note }: { layer: Layer; index: number; note: string }) {
  const top = DEPTHS[index] ?? 0;
  const bottom = DEPTHS[index + 1] ?? HEIGHT;
  const color = `var(--${LAYER_COLORS[layer]})`;
  const label = (LABELS[index] ?? '').split('|');
  const noteTop = top + 19 + 14 * label.length + 3;
  return (
    <g>
      <rect y={top} width={WIDTH} height={bottom - top} fill={color} opacity={OPACITIES[index]} />
      {label.map((line, i) => (
        <text
          key={line}
          x={12}
          y={top + 19 + 14 * i}
          className="layer"
          style={{ fill: `var(--${LAYER_COLORS[layer]}-text)` }}
        >
          {line}
        </text>
      ))}
      {wrap(note).map((line, i) => (
        <text key={line} x={12} y={noteTop + 14.5 * i} className="note">
          {line}
        </text>
      ))}
    </g>
  );
}

function wrap(note: string): string[] {
  const lines: string[] = [];
  for (const word of note.split(' ').filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < NOTE_WIDTH)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

function Flow({ shape: { kind, x, paths, foreign }, gauge }: { shape: FlowShape; gauge: Gauge }) {
  const { issued, past_cache, reached } = gauge;
  return (
    <g>
      <text x={x} y={20} textAnchor="middle" className="note" style={{ fontWeight: 600 }}>
        {kind === 'ios' ? 'I/Os' : 'Bytes'}
      </text>
      {paths.map(({ d, color, bypassed, unknown }) => (
        <path
          key={color}
          d={d}
          fill={`var(--${color})`}
          opacity={unknown ? 0.3 : bypassed ? 0.28 : 0.8}
          stroke={bypassed || unknown ? `var(--${color})` : undefined}
          strokeDasharray={bypassed || unknown ? '3 3' : undefined}
        />
      ))}
      {foreign && (
        <path
          className="foreign"
          d={foreign}
          fill="none"
          stroke="var(--mute)"
          strokeDasharray="3 2"
        />
      )}
      {[issued, past_cache, reached].map((flow, i) => (
        <Boundary key={DEPTHS[i]} index={i} {...{ x, kind, flow, gauge }} />
      ))}
    </g>
  );
}

interface BoundaryProps {
  /** Index of the layer boundary; 0 is the one below the application. */
  index: number;
  x: number;
  kind: keyof LayerFlow;
  flow: LayerFlow | null | undefined;
  gauge: Gauge;
}

function Boundary({ index, x, kind, flow, gauge: { issued, uncertainty } }: BoundaryProps) {
  const y = DEPTHS[index + 1] ?? HEIGHT;
  const label = flow ? amount(kind, flow[kind]) : issued.ios > 0 ? 'Unknown' : UNKNOWN;
  const ratio = flow && issued[kind] > 0 ? flow[kind] / issued[kind] : 0;
  const isAll = ratio > 0.995 && ratio < 1.005;
  const width = label.length * 6.1 + 14;
  return (
    <g>
      <rect
        x={x - width / 2}
        y={y - 9}
        width={width}
        height={18}
        rx={9}
        fill="var(--surface)"
        stroke="var(--line)"
      />
      <text x={x} y={y + 4} textAnchor="middle" className="boundary">
        {label}
      </text>
      {index > 0 && ratio > 0 && !isAll && (
        <text
          x={x}
          y={y + 22}
          textAnchor="middle"
          className="share"
          stroke="var(--surface)"
          strokeWidth={4}
          strokeLinejoin="round"
          paintOrder="stroke"
        >
          {shareText(ratio, uncertainty)}
        </text>
      )}
    </g>
  );
}

/** Smallest uncertainty that is shown. */
const MIN_UNCERTAINTY = 0.005;

const shareText = (ratio: number, uncertainty: number) =>
  uncertainty >= MIN_UNCERTAINTY
    ? `${share(ratio)} ± ${Math.round(uncertainty * 100)}`
    : share(ratio);

function amount(kind: keyof LayerFlow, n: number): string {
  if (kind === 'bytes') return text(bytes(n));
  return n > MAX_FULL_COUNT ? text(shortCount(n)) : count(n);
}

/** The rope is as long as the drawing and slides in from above. */
function Lead({ depth }: { depth: number }) {
  const clip = useId();
  const knots = Array.from(
    { length: Math.floor(HEIGHT / KNOT_DISTANCE) },
    (_, i) => -(i + 1) * KNOT_DISTANCE,
  );
  return (
    <g aria-hidden clipPath={`url(#${clip})`} stroke="var(--text)">
      <clipPath id={clip}>
        <rect y={TOP - 4} width={WIDTH} height={HEIGHT} />
      </clipPath>
      <g className="lead" style={{ transform: `translate(${ROPE_X}px, ${depth}px)` }}>
        <path d={`M0 0V${-HEIGHT}`} strokeWidth={1.6} />
        {knots.map((y) => (
          <path key={y} d={`M-3 ${y}h6`} strokeWidth={1.2} />
        ))}
        <path d="M0 -4l6 15a2 2 0 0 1-2 2.6h-8a2 2 0 0 1-2-2.6z" fill="var(--text)" stroke="none" />
      </g>
    </g>
  );
}
