// A flame graph drawn by the server. It is embedded as an image, so the SVG cannot run scripts. In
// its own tab, it shows frame names on hover.
import { useComputedColorScheme } from '@mantine/core';
import './charts.css';

/** `path`: relative to `/api/v1`, without the theme parameter. */
export function FlameGraph({ path, alt }: { path: string; alt: string }) {
  const theme = useComputedColorScheme('light');
  const url = `/api/v1${path}${path.includes('?') ? '&' : '?'}theme=${theme}`;
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      title="Open in a new tab to see frame names on hover"
    >
      <img className="flame" src={url} alt={alt} loading="lazy" />
    </a>
  );
}
