// Keeps values stable that are recomputed on each render.
import { useMemo } from 'react';

/** Returns the same object until its JSON changes, so that memoized components do not rerender. */
export function useByValue<Value>(value: Value): Value {
  const json = JSON.stringify(value);
  return useMemo(() => JSON.parse(json) as Value, [json]);
}
