// Time since an event, updated every second: 12 s ago.
import { useInterval } from '@mantine/hooks';
import { useState } from 'react';
import { duration } from '../../model/format/time';

export function Age({ since_ms }: { since_ms: number }) {
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), 1000, { autoInvoke: true });
  // Server and browser clocks may differ.
  const seconds = Math.max(0, Math.floor((now - since_ms) / 1000));
  return `${duration(seconds * 1000)} ago`;
}
