// Code that is not needed for the first paint: menus, dialogs, toasts. It is loaded when it is
// needed, or on the first interaction with the page, so that it is available even if the server
// becomes unreachable later.
import { useEffect, useSyncExternalStore } from 'react';

export interface OnDemand<Code> {
  /** Returns null until the code is loaded. */
  get: () => Code | null;
  load: () => Promise<Code>;
  subscribe: (listener: () => void) => () => void;
}

/** After a failure, `importCode` is called again. */
export function onDemand<Code>(importCode: () => Promise<Code>): OnDemand<Code> {
  const listeners = new Set<() => void>();
  let code: Code | null = null;
  let pending: Promise<Code> | null = null;
  const load = () => {
    pending ??= importCode().then(
      (loaded) => {
        code = loaded;
        for (const listener of listeners) listener();
        return loaded;
      },
      (error: unknown) => {
        pending = null;
        throw error;
      },
    );
    return pending;
  };
  onFirstInteraction(() => void load().catch(() => undefined));
  return {
    get: () => code,
    load,
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The code, or null until it is loaded. Loading starts when `isNeeded` is true. */
export function useOnDemand<Code>(code: OnDemand<Code>, isNeeded: boolean): Code | null {
  useEffect(() => {
    if (isNeeded) void code.load().catch(() => undefined);
  }, [code, isNeeded]);
  return useSyncExternalStore(code.subscribe, code.get);
}

const INTERACTIONS = ['pointermove', 'pointerdown', 'keydown', 'wheel'] as const;
const callbacks = new Set<() => void>();
let hasInteracted = false;

function interact() {
  hasInteracted = true;
  for (const type of INTERACTIONS) window.removeEventListener(type, interact);
  for (const callback of callbacks) callback();
  callbacks.clear();
}

if (typeof window !== 'undefined')
  for (const type of INTERACTIONS) window.addEventListener(type, interact, { passive: true });

/**
 * Calls `callback` on the first interaction with the document, or immediately if there already was
 * one. Returns a cancel function.
 */
export function onFirstInteraction(callback: () => void): () => void {
  if (hasInteracted) callback();
  else callbacks.add(callback);
  return () => {
    callbacks.delete(callback);
  };
}
