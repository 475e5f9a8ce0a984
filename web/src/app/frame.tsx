// Header with navigation and status, and the current page below it.
import { Link, Outlet } from '@tanstack/react-router';
import { useState } from 'react';
import { HeaderChips } from './chips';
import './frame.css';
import { Help } from './help';
import { useKeys } from './keys';
import { ReadOnlyChip } from './session';
import { StoreNotice } from './store-notice';
import { ThemeToggle } from './theme-toggle';

const NAV = [
  { to: '/new', label: 'New run' },
  { to: '/runs', label: 'Runs' },
  { to: '/studies', label: 'Studies' },
  { to: '/compare', label: 'Compare' },
  { to: '/trends', label: 'Trends' },
  { to: '/schedules', label: 'Schedules' },
  { to: '/devices', label: 'Devices' },
  { to: '/settings', label: 'Settings' },
] as const;

export function Frame() {
  const [help, setHelp] = useState(false);
  useKeys(() => setHelp(true));
  return (
    <>
      <a href="#content" className="skip">
        Skip to content
      </a>
      <header className="frame no-print">
        <Link to="/runs" className="brand">
          <img src="/lead.svg" alt="" width={22} height={22} />
          Leadline
        </Link>
        <nav aria-label="Main">
          {NAV.map(({ to, label }) => (
            <Link
              key={to}
              to={to}
              activeProps={{ className: 'on' }}
              activeOptions={{ includeSearch: false }}
            >
              {label}
            </Link>
          ))}
        </nav>
        <span className="push" />
        <ReadOnlyChip />
        <HeaderChips />
        <ThemeToggle />
        <button
          type="button"
          className="chip"
          onClick={() => setHelp(true)}
          aria-label="Keyboard shortcuts and help"
        >
          ?
        </button>
      </header>
      <StoreNotice />
      <Outlet />
      <Help opened={help} onClose={() => setHelp(false)} />
    </>
  );
}
