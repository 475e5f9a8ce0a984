// The depth gauge: a cross-section of the host that shows how much I/O crossed each layer boundary.
// The lead marks the layer that served the most I/Os. Live runs, finished runs and comparisons use
// the same drawing.
import { memo, type RefObject, useId, useLayoutEffect, useRef, useState } from 'react';
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
  MIN_WIDTH,
  ropeX,
  TOP,
} from './gauge-shape';
import './charts.css';

/** Background opacity for each layer. */
const OPACITIES = [0.05, 0.08, 0.11, 0.17];
const LABELS = ['Application', 'Page cache', 'Filesystem|and block layer', 'Device'];
/** x of each layer's text. */
const TEXT_X = 12;
/** Width of a character in a note, including a margin. Notes must not reach the rope. */
const NOTE_CHARACTER_WIDTH = 6.7;
/** Distance between two knots in the rope. */
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
  // Drawn for the element's width, so that text has the same size everywhere.
  const element = useRef<HTMLDivElement>(null);
  const width = Math.max(MIN_WIDTH, useWidth(element));
  const depth = leadDepth(gauge);
  return (
    <div ref={element} className="gauge">
      <svg viewBox={`0 0 ${width} ${HEIGHT}`} role="img" aria-label={`Depth gauge. ${description}`}>
        {LAYERS.map((layer, i) => (
          <LayerBand
            key={layer}
            layer={layer}
            index={i}
            width={width}
            note={gauge.notes[layer] ?? ''}
          />
        ))}
        {flowShapes(gauge, width).map((shape) => (
          <Flow key={shape.kind} shape={shape} gauge={gauge} />
        ))}
        {depth !== null && <Lead depth={depth} width={width} />}
      </svg>
    </div>
  );
});

/** The element's width in pixels. Not from a library, whose code would delay the first screen. */
function useWidth(element: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const measured = element.current;
    if (!measured) return;
    const measure = () => setWidth(measured.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(measured);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

interface LayerBandProps {
  layer: Layer;
  index: number;
  width: number;
  note: string;
}

function LayerBand({ layer, index, width, note }: LayerBandProps) {
  const top = DEPTHS[index] ?? 0;
  const bottom = DEPTHS[index + 1] ?? HEIGHT;
  const color = `var(--${LAYER_COLORS[layer]})`;
  const label = (LABELS[index] ?? '').split('|');
  const noteTop = top + 19 + 14 * label.length + 3;
  return (
    <g>
      <rect y={top} width={width} height={bottom - top} fill={color} opacity={OPACITIES[index]} />
      {label.map((line, i) => (
        <text
          key={line}
          x={TEXT_X}
          y={top + 19 + 14 * i}
          className="layer"
          style={{ fill: `var(--${LAYER_COLORS[layer]}-text)` }}
        >
          {line}
        </text>
      ))}
      {wrap(note, (ropeX(width) - TEXT_X) / NOTE_CHARACTER_WIDTH).map((line, i) => (
        <text key={line} x={TEXT_X} y={noteTop + 14.5 * i} className="note">
          {line}
        </text>
      ))}
    </g>
  );
}

/** Breaks a note into lines of at most `most` characters. */
function wrap(note: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of note.split(' ').filter(Boolean)) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < most)
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
function Lead({ depth, width }: { depth: number; width: number }) {
  const clip = useId();
  const knots = Array.from(
    { length: Math.floor(HEIGHT / KNOT_DISTANCE) },
    (_, i) => -(i + 1) * KNOT_DISTANCE,
  );
  return (
    <g aria-hidden clipPath={`url(#${clip})`} stroke="var(--text)">
      <clipPath id={clip}>
        <rect y={TOP - 4} width={width} height={HEIGHT} />
      </clipPath>
      <g className="lead" style={{ transform: `translate(${ropeX(width)}px, ${depth}px)` }}>
        <path d={`M0 0V${-HEIGHT}`} strokeWidth={1.6} />
        {knots.map((y) => (
          <path key={y} d={`M-3 ${y}h6`} strokeWidth={1.2} />
        ))}
        <path d="M0 -4l6 15a2 2 0 0 1-2 2.6h-8a2 2 0 0 1-2-2.6z" fill="var(--text)" stroke="none" />
      </g>
    </g>
  );
}
