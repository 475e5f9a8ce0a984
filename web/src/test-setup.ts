// What jsdom lacks and components ask for: media queries, observers of size, and escaping in selectors.
import '@testing-library/jest-dom/vitest';
import { cleanup } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

const nothing = () => undefined;

vi.stubGlobal('matchMedia', (query: string) => ({
  matches: false,
  media: query,
  addEventListener: nothing,
  removeEventListener: nothing,
  addListener: nothing,
  removeListener: nothing,
}));
vi.stubGlobal(
  'ResizeObserver',
  class {
    observe = nothing;
    unobserve = nothing;
    disconnect = nothing;
  },
);
vi.stubGlobal('CSS', { escape: (text: string) => text.replace(/[^\w-]/g, (sign) => `\\${sign}`), supports: () => false });
Element.prototype.scrollIntoView = nothing;

afterEach(() => {
  cleanup();
  sessionStorage.clear();
  localStorage.clear();
});
