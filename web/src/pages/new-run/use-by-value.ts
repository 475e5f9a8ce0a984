// Keeps values that are computed on each render.
import { useMemo } from 'react';

/** The same object until its JSON changes, so that memoized components are not rendered again. */
export function useByValue<Value>(value: Value): Value {
  const json = JSON.stringify(value);
  return useMemo(() => JSON.parse(json) as Value, [json]);
}
