// What jsdom lacks and components ask for: media queries, observers of size, fonts, and escaping in selectors.
import '@testing-library/jest-dom/vitest';
import { cleanup, configure } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

// A loaded machine may take its time, as in vite.config.ts.
configure({ asyncUtilTimeout: 10_000 });

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
vi.stubGlobal('CSS', {
  escape: (text: string) => text.replace(/[^\w-]/g, (sign) => `\\${sign}`),
  supports: () => false,
});
Object.defineProperty(document, 'fonts', {
  value: { addEventListener: nothing, removeEventListener: nothing },
});
Element.prototype.scrollIntoView = nothing;

afterEach(() => {
  cleanup();
  sessionStorage.clear();
  localStorage.clear();
});
