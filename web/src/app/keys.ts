// Keyboard shortcuts. A key clicks the element with that `data-key`, or focuses it if it is a
// field. `data-action` is the description in the help. All other shortcuts open a page or the help.
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import type { PAGES } from './pages';

/** Shortcuts that the help lists on every page. Some work only in the run list. */
const KEYS = [
  ['n', 'Create a run'],
  ['Ctrl K', 'Open the command palette'],
  ['/', 'Filter runs'],
  ['↓ ↑', 'Move between runs'],
  ['x', 'Select the focused run'],
  ['c', 'Compare selected runs'],
  ['g h', 'Go to runs'],
  ['g s', 'Go to studies'],
  ['g c', 'Go to comparison'],
  ['g t', 'Go to trends'],
  ['g e', 'Go to schedules'],
  ['g d', 'Go to devices'],
  ['g ,', 'Go to settings'],
  ['?', 'Show this help'],
  ['Esc', 'Close the dialog, or leave the field'],
] as const;

const ROUTES: Record<string, (typeof PAGES)[number]['to']> = {
  n: '/new',
  '/': '/runs',
  c: '/compare',
  'g n': '/new',
  'g h': '/runs',
  'g r': '/runs',
  'g s': '/studies',
  'g c': '/compare',
  'g t': '/trends',
  'g e': '/schedules',
  'g d': '/devices',
  'g ,': '/settings',
};
/** Time limit for the key that follows `g`. */
const SEQUENCE_MS = 1200;

/** Fields in which shortcuts are disabled. Shortcuts still work in checkboxes and radio buttons. */
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
      if (event.key === 'Escape' && typing) {
        // Otherwise, Escape would clear a search field.
        if (event.target instanceof HTMLInputElement) event.preventDefault();
        return (event.target as HTMLElement).blur();
      }
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

/** Clicks or focuses the element with this key. Returns false if there is none. */
function activate(keys: string): boolean {
  const element = document.querySelector<HTMLElement>(`[data-key="${CSS.escape(keys)}"]`);
  if (!element) return false;
  if (element.matches('input, textarea, select')) element.focus();
  else element.click();
  return true;
}

/** All shortcuts. Those of the current page replace shortcuts with the same key. */
export function allKeys(): [keys: string, action: string][] {
  const elements = [...document.querySelectorAll<HTMLElement>('[data-key]')];
  const ofPage = elements.map(({ dataset, textContent }): [string, string] => [
    dataset.key ?? '',
    dataset.action ?? textContent ?? '',
  ]);
  const described = ofPage.filter(([, action]) => action !== '');
  return [...new Map([...KEYS, ...described, ['Ctrl Enter', 'Start the run or study']])];
}
