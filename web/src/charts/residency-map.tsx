// Where in a file the cached pages lie, as a strip of cells: amber is in the page cache, the fuller the higher. The words
// beside it say the same.
import { mapInWords } from '../model/targets';
import './charts.css';

const WIDTH = 512;
const HEIGHT = 26;

/** The strip; `cells` in percent. */
export function ResidencyMap({ label, cells, cell_bytes }: { label: string; cells: readonly number[]; cell_bytes: number }) {
  const words = mapInWords(cells, { cell_bytes });
  const width = WIDTH / Math.max(1, cells.length);
  return (
    <figure className="residency-map">
      <figcaption>{label}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={`${label}: ${words}`}>
        <rect width={WIDTH} height={HEIGHT} fill="var(--raise)" />
        {cells.map((percent, at) =>
          percent > 0 ? (
            <rect
              // biome-ignore lint/suspicious/noArrayIndexKey: cells are their places
              key={at}
              x={at * width}
              y={HEIGHT * (1 - percent / 100)}
              width={width}
              height={(HEIGHT * percent) / 100}
              fill="var(--cache)"
            />
          ) : null,
        )}
      </svg>
      <p className="mute small">{words}</p>
    </figure>
  );
}
