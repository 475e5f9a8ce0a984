// Keys that work everywhere. What a key does on a page is said by the page: an element with `data-key="c"` is clicked
// (a field is focused) when that key is pressed; the rest leads to other pages.
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';

/** Keys that go somewhere, for the help. `g` waits for the second key. */
export const KEYS = [
  ['n', 'new run'],
  ['/', 'filter runs'],
  ['c', 'compare the selected runs'],
  ['g h', 'runs (history)'],
  ['g s', 'studies'],
  ['g c', 'compare'],
  ['g d', 'devices'],
  ['?', 'this help'],
  ['Esc', 'close, or leave a field'],
] as const;

/** The places that a single key, or `g` and a key, leads to. */
const PLACES: Record<string, '/new' | '/runs' | '/studies' | '/compare' | '/devices'> = {
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
/** How long `g` waits for the second key, in ms. */
const SEQUENCE_MS = 1200;

/** Fields that take letters; in a checkbox letters stay keys. */
const TAKES_TEXT =
  'textarea, select, [contenteditable], input:not([type="checkbox"], [type="radio"], [type="button"])';
const isTyping = (target: EventTarget | null) =>
  target instanceof Element &&
  (target.matches(TAKES_TEXT) || target.closest('[role="dialog"], [role="menu"]') !== null);

/** Listens to keys for as long as the frame is there. */
export function useKeys(openHelp: () => void) {
  const navigate = useNavigate();
  useEffect(() => {
    let prefix = '';
    let timer: ReturnType<typeof setTimeout> | undefined;
    const press = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && isTyping(event.target))
        return (event.target as HTMLElement).blur();
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const keys = prefix + event.key;
      prefix = '';
      clearTimeout(timer);
      if (keys === 'g') {
        prefix = 'g ';
        timer = setTimeout(() => {
          prefix = '';
        }, SEQUENCE_MS);
      } else if (keys === '?') openHelp();
      else if (activate(keys)) event.preventDefault();
      else if (PLACES[keys]) {
        event.preventDefault();
        void navigate({ to: PLACES[keys] });
      }
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  }, [navigate, openHelp]);
}

function activate(keys: string): boolean {
  const element = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(keys)}"]`);
  if (!element) return false;
  if (/^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName)) element.focus();
  else element.click();
  return true;
}

/** The keys of the page that is open, with what they do. */
export function pageKeys(): [key: string, does: string][] {
  const elements = [...document.querySelectorAll<HTMLElement>('[data-key]')];
  return elements.map((element) => [
    element.dataset.key ?? '',
    element.dataset.does ?? element.textContent ?? '',
  ]);
}
