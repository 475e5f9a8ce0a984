// A flame graph as the server draws it. It is shown as an image, which runs nothing; opened alone, its frames tell their
// names under the pointer.
import { useComputedColorScheme } from '@mantine/core';
import './charts.css';

/** The picture; `path` below the interface, without a theme. `words` says what it shows. */
export function FlameGraph({ path, words }: { path: string; words: string }) {
  const theme = useComputedColorScheme('light');
  const address = `/api/v1${path}${path.includes('?') ? '&' : '?'}theme=${theme}`;
  return (
    <a
      href={address}
      target="_blank"
      rel="noreferrer"
      title="Open alone: frames tell their names under the pointer"
    >
      <img className="flame" src={address} alt={words} loading="lazy" />
    </a>
  );
}
