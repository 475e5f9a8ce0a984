import { renderHook, waitFor } from '@testing-library/react';
import { beforeEach, expect, it, vi } from 'vitest';

// Each test has its own document, without any interaction.
beforeEach(() => vi.resetModules());

const interact = () => window.dispatchEvent(new Event('pointermove'));

it('loads code once, when it is needed', async () => {
  const { onDemand, useOnDemand } = await import('./on-demand');
  const importCode = vi.fn(async () => 'code');
  const code = onDemand(importCode);
  const { result, rerender } = renderHook(({ isNeeded }) => useOnDemand(code, isNeeded), {
    initialProps: { isNeeded: false },
  });
  expect(result.current).toBeNull();
  expect(importCode).not.toHaveBeenCalled();
  rerender({ isNeeded: true });
  await waitFor(() => expect(result.current).toBe('code'));
  rerender({ isNeeded: false });
  expect(result.current).toBe('code');
  await code.load();
  expect(importCode).toHaveBeenCalledTimes(1);
});

it('loads code on the first interaction', async () => {
  const { onDemand } = await import('./on-demand');
  const importCode = vi.fn(async () => 'code');
  onDemand(importCode);
  interact();
  interact();
  expect(importCode).toHaveBeenCalledTimes(1);
  const later = vi.fn(async () => 'later');
  onDemand(later);
  expect(later).toHaveBeenCalledTimes(1);
});

it('loads code again after a failure', async () => {
  const { onDemand } = await import('./on-demand');
  const importCode = vi.fn(async () => 'code').mockRejectedValueOnce(new Error('offline'));
  const code = onDemand(importCode);
  await expect(code.load()).rejects.toThrow('offline');
  await expect(code.load()).resolves.toBe('code');
  expect(code.get()).toBe('code');
});

it('cancels a callback for the first interaction', async () => {
  const { onFirstInteraction } = await import('./on-demand');
  const callback = vi.fn();
  onFirstInteraction(callback)();
  interact();
  expect(callback).not.toHaveBeenCalled();
  onFirstInteraction(callback);
  expect(callback).toHaveBeenCalledTimes(1);
});
