// Keyboard shortcuts. An element with `data-key="c"` is clicked (a field is focused) when that key is pressed, and
// `data-action` describes it in the help. The other keys navigate.
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Shortcuts of all pages, for the help. */
export const KEYS = [
  ['n', 'New run'],
  ['/', 'Filter runs'],
  ['c', 'Compare selected runs'],
  ['g h', 'Runs (history)'],
  ['g s', 'Studies'],
  ['g c', 'Compare'],
  ['g d', 'Devices'],
  ['?', 'Show this help'],
  ['Esc', 'Close the dialog or leave the field'],
] as const;

const ROUTES: Record<string, '/new' | '/runs' | '/studies' | '/compare' | '/devices'> = {
  n: '/new',
  '/': '/runs',
  c: '/compare',
  'g n': '/new',
  'g h': '/runs',
  'g r': '/runs',
  'g s': '/studies',
  'g c': '/compare',
  'g d': '/devices',
};
/** Time for the second key after `g`. */
const SEQUENCE_MS = 1200;

/** Fields that take letters. Shortcuts still work in a checkbox. */
const TEXT_FIELDS =
  'textarea, select, [contenteditable], input:not([type="checkbox"], [type="radio"], [type="button"])';
const isTyping = (target: EventTarget | null) =>
  target instanceof Element &&
  (target.matches(TEXT_FIELDS) || target.closest('[role="dialog"], [role="menu"]') !== null);

export function useKeys(openHelp: () => void) {
  const navigate = useNavigate();
  useEffect(() => {
    let prefixUntil = 0;
    const onKeyDown = (event: KeyboardEvent) => {
      const typing = isTyping(event.target);
      if (event.key === 'Escape' && typing) return (event.target as HTMLElement).blur();
      if (event.ctrlKey || event.metaKey || event.altKey || typing) return;
      const keys = event.timeStamp < prefixUntil ? `g ${event.key}` : event.key;
      prefixUntil = keys === 'g' ? event.timeStamp + SEQUENCE_MS : 0;
      if (keys === '?') openHelp();
      else if (activate(keys)) event.preventDefault();
      else if (ROUTES[keys]) {
        event.preventDefault();
        void navigate({ to: ROUTES[keys] });
      }
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [navigate, openHelp]);
}

/** Clicks or focuses the element with this key. Returns false if the page has none. */
function activate(keys: string): boolean {
  const element = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(keys)}"]`);
  if (!element) return false;
  if (element.matches('input, textarea, select')) element.focus();
  else element.click();
  return true;
}

/** Shortcuts of the open page. */
export function pageKeys(): [key: string, action: string][] {
  const elements = [...document.querySelectorAll<HTMLElement>('[data-key]')];
  return elements.map(({ dataset, textContent }) => [
    dataset.key ?? '',
    dataset.action ?? textContent ?? '',
  ]);
}
