// The cached pages of a file as a strip of cells. The height of a bar is its cell's cached share.
// The caption contains the same information.
import { cachedRanges, cacheMapText } from '../model/run/targets';
import './charts.css';

const WIDTH = 512;
const HEIGHT = 26;

/** `cells`: percentage of each cell that is cached. */
export function ResidencyMap({
  label,
  cells,
  cell_bytes,
}: {
  label: string;
  cells: readonly number[];
  cell_bytes: number;
}) {
  const summary = cacheMapText(cells, { cell_bytes });
  const width = WIDTH / Math.max(1, cells.length);
  const height = (percent: number) => (HEIGHT * percent) / 100;
  return (
    <figure className="residency-map">
      <figcaption>{label}</figcaption>
      <svg
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`${label}: ${summary}`}
      >
        <rect width={WIDTH} height={HEIGHT} fill="var(--raise)" />
        {cachedRanges(cells).map(({ from, to, percent }) => (
          <rect
            key={from}
            x={from * width}
            y={HEIGHT - height(percent)}
            width={(to - from) * width}
            height={height(percent)}
            fill="var(--cache)"
            shapeRendering="crispEdges"
          />
        ))}
      </svg>
      <p className="mute small">{summary}</p>
    </figure>
  );
}
