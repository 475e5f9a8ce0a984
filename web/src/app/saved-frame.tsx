// Header of a saved page, with the time of saving and the server's version.
import { Outlet } from '@tanstack/react-router';
import type { SavedRun } from '../api';
import { dateTime } from '../model/format/time';
import './frame.css';
import { ThemeToggle } from './theme-toggle';

export function SavedFrame({
  saved: { saved_at_ms, version },
}: {
  saved: Pick<SavedRun, 'saved_at_ms' | 'version'>;
}) {
  return (
    <>
      <header className="frame">
        <b>Leadline</b>
        <span className="mute">
          Saved {dateTime(saved_at_ms)}, version {version}
        </span>
        <span className="push" />
        <ThemeToggle />
      </header>
      <Outlet />
    </>
  );
}
