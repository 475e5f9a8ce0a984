// The depth gauge: a section through the host drawn like a sounding. At every boundary stands what crossed it; the lead
// hangs in the layer where most bytes ended. Live, final and side by side it is the same picture.
import { memo, useId } from 'react';
import { bytes, count, share, shortCount, text, UNKNOWN } from '../model/format/numbers';
import { type Gauge, LAYERS } from '../model/gauge/gauge';
import type { LayerFlow } from '../model/gauge/layer-flow';
import {
  DEPTHS,
  type Flow,
  flowsOf,
  HEIGHT,
  LAYER_COLORS,
  leadDepth,
  ROPE_X,
  TOP,
  WIDTH,
} from './gauge-shape';
import './charts.css';

/** Tints of the layers, darker with depth. */
const TINTS = [0.05, 0.08, 0.11, 0.17];
const LABELS = ['application', 'page cache', 'filesystem|and block layer', 'device'];
/** Characters of a note that fit between the edge and the rope. */
const NOTE_WIDTH = 17;
/** Between two knots of the rope. */
const KNOT = 24;
/** I/Os up to here are written with every digit. */
const WRITTEN_OUT = 9_999_999;

/** The gauge; `words` says the same for those who do not see it. */
export const DepthGauge = memo(function DepthGauge({
  gauge,
  words,
}: {
  gauge: Gauge;
  words: string;
}) {
  const flows = flowsOf(gauge);
  return (
    <svg
      className="gauge"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`Depth gauge. ${words}`}
    >
      {LAYERS.map((layer, i) => (
        <LayerBand key={layer} index={i} note={gauge.notes[i as 0 | 1 | 2 | 3] ?? ''} />
      ))}
      {flows.map((flow) => (
        <FlowColumn key={flow.kind} flow={flow} gauge={gauge} />
      ))}
      <Lead depth={leadDepth(gauge)} />
    </svg>
  );
});

function LayerBand({ index, note }: { index: number; note: string }) {
  const [top = 0, bottom = HEIGHT] = DEPTHS.slice(index, index + 2);
  const color = `var(--${LAYER_COLORS[index]})`;
  const label = (LABELS[index] ?? '').split('|');
  const noteTop = top + 19 + 14 * label.length + 3;
  return (
    <g>
      <rect y={top} width={WIDTH} height={bottom - top} fill={color} opacity={TINTS[index]} />
      {label.map((line, i) => (
        <text
          key={line}
          x={12}
          y={top + 19 + 14 * i}
          className="layer"
          style={{ fill: `var(--${LAYER_COLORS[index]}-text)` }}
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

function FlowColumn({ flow: { kind, x, paths, others }, gauge }: { flow: Flow; gauge: Gauge }) {
  const crossings = [
    { boundary: 'issued', y: DEPTHS[1], crossing: gauge.issued },
    { boundary: 'past the cache', y: DEPTHS[2], crossing: gauge.pastCache },
    { boundary: 'reached the device', y: DEPTHS[3], crossing: gauge.reached },
  ];
  return (
    <g>
      <text x={x} y={20} textAnchor="middle" className="note" style={{ fontWeight: 600 }}>
        {kind === 'ios' ? 'I/Os' : 'bytes'}
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
      {others && (
        <path
          className="others"
          d={others}
          fill="none"
          stroke="var(--mute)"
          strokeDasharray="3 2"
        />
      )}
      {crossings.map(({ boundary, y, crossing }) => (
        <Crossed
          key={boundary}
          {...{ x, y, kind, crossing, gauge }}
          first={boundary === 'issued'}
        />
      ))}
    </g>
  );
}

function Crossed({
  x,
  y,
  kind,
  crossing,
  gauge: { issued, uncertainty },
  first,
}: {
  x: number;
  y: number;
  kind: keyof LayerFlow;
  crossing: LayerFlow | null;
  gauge: Gauge;
  first: boolean;
}) {
  const label = crossing ? written(kind, crossing[kind]) : issued.ios > 0 ? 'not known' : UNKNOWN;
  const ratio = crossing && issued[kind] > 0 ? crossing[kind] / issued[kind] : null;
  const part =
    first || ratio === null || ratio === 0 || (ratio > 0.995 && ratio < 1.005)
      ? null
      : sharesOff(ratio, uncertainty);
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
      <text x={x} y={y + 4} textAnchor="middle" className="crossing">
        {label}
      </text>
      {part && (
        <text
          x={x}
          y={y + 22}
          textAnchor="middle"
          className="share"
          stroke="var(--surface)"
          strokeWidth={3}
          paintOrder="stroke"
        >
          {part}
        </text>
      )}
    </g>
  );
}

/** From this share on, how far it may be off is worth saying. */
const OFF = 0.005;

const sharesOff = (ratio: number, uncertainty: number) =>
  uncertainty >= OFF ? `${share(ratio)} ± ${Math.round(uncertainty * 100)}` : share(ratio);

function written(kind: keyof LayerFlow, n: number): string {
  if (kind === 'bytes') return text(bytes(n));
  return n > WRITTEN_OUT ? text(shortCount(n)) : count(n);
}

/** The lead on its rope: the rope is as long as the section is deep and runs out from above, knots and all. */
function Lead({ depth }: { depth: number }) {
  const knots = Array.from({ length: Math.floor(HEIGHT / KNOT) }, (_, i) => -(i + 1) * KNOT);
  const clip = useId();
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
