// A flame graph drawn by the server. Embedded as an image it runs no scripts; opened on its own, frames show their names
// on hover.
import { useComputedColorScheme } from '@mantine/core';
import './charts.css';

/** `path` is relative to `/api/v1`, without the theme. */
export function FlameGraph({ path, alt }: { path: string; alt: string }) {
  const theme = useComputedColorScheme('light');
  const url = `/api/v1${path}${path.includes('?') ? '&' : '?'}theme=${theme}`;
  return (
    <a
      href={url}
      target="_blank"
      rel="noreferrer"
      title="Open on its own to see frame names on hover"
    >
      <img className="flame" src={url} alt={alt} loading="lazy" />
    </a>
  );
}
