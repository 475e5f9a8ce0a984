// Header with navigation and status, above the current page.
import { useHotkeys } from '@mantine/hooks';
import { Link, Outlet, useLocation } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { HeaderChips } from './chips';
import './frame.css';
import { MenuButton } from '../ui/menu-button';
import { onFirstInteraction } from '../ui/on-demand';
import { Help } from './help';
import { useKeys } from './keys';
import { PAGES } from './pages';
import { ReadOnlyChip } from './session';
import { StoreNotice } from './store-notice';
import { ThemeToggle } from './theme-toggle';

const Palette = lazy(() => import('./palette'));

/**
 * Mounts the palette on the first Ctrl-K. From then on, the palette handles the shortcut itself.
 */
function usePalette() {
  const [isMounted, setIsMounted] = useState(false);
  useHotkeys(isMounted ? [] : [['mod+K', () => setIsMounted(true)]], []);
  return isMounted;
}

/** Shows titles on keyboard focus and touch. */
function useHints() {
  useEffect(() => {
    let stop: (() => void) | undefined;
    let isActive = true;
    const start = async () => {
      const { startHints } = await import('../ui/hints');
      if (isActive) stop = startHints();
    };
    const cancel = onFirstInteraction(() => void start().catch(() => undefined));
    return () => {
      isActive = false;
      cancel();
      stop?.();
    };
  }, []);
}

/** Replaces the navigation on narrow screens, where its links would take several rows. */
function PageMenu() {
  const pathname = useLocation({ select: (location) => location.pathname });
  const current = PAGES.find(({ to }) => pathname.startsWith(to));
  return (
    <MenuButton
      target={
        <button type="button" className="chip page-menu" aria-label="Pages">
          ☰ {current?.label}
        </button>
      }
      entries={PAGES.map(({ to, label }) => ({ type: 'page', label, link: { to } }))}
    />
  );
}

export function Frame() {
  const [help, setHelp] = useState(false);
  useKeys(() => setHelp(true));
  const hasPalette = usePalette();
  useHints();
  return (
    <>
      <a href="#content" className="skip">
        Skip to content
      </a>
      <header className="frame no-print">
        <Link to="/runs" className="brand">
          <img src="/lead.svg" width={22} height={22} alt="" />
          <span className="name">Leadline</span>
        </Link>
        <PageMenu />
        <nav aria-label="Main">
          {PAGES.map(({ to, label }) => (
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
      <Suspense>{hasPalette && <Palette />}</Suspense>
      <Help opened={help} onClose={() => setHelp(false)} />
    </>
  );
}
