// Browser APIs that jsdom lacks: media queries, resize observers, fonts, `CSS.escape`.
import '@testing-library/jest-dom/vitest';
import { cleanup, configure } from '@testing-library/react';
import { afterEach, vi } from 'vitest';

// Long enough for a busy machine, as in vite.config.ts.
configure({ asyncUtilTimeout: 10_000 });

const noop = () => undefined;

vi.stubGlobal('matchMedia', (query: string) => ({
  matches: false,
  media: query,
  addEventListener: noop,
  removeEventListener: noop,
  addListener: noop,
  removeListener: noop,
}));
vi.stubGlobal(
  'ResizeObserver',
  class {
    observe = noop;
    unobserve = noop;
    disconnect = noop;
  },
);
vi.stubGlobal('CSS', {
  escape: (text: string) => text.replace(/[^\w-]/g, (char) => `\\${char}`),
  supports: () => false,
});
Object.defineProperty(document, 'fonts', {
  value: { addEventListener: noop, removeEventListener: noop },
});
Element.prototype.scrollIntoView = noop;

afterEach(() => {
  cleanup();
  sessionStorage.clear();
  localStorage.clear();
});
