// Time since an event, such as "12 s ago". Updated every second.
import { useInterval } from '@mantine/hooks';
import { useState } from 'react';
import { duration } from '../../model/format/time';

export function Age({ since_ms }: { since_ms: number }) {
  const [now, setNow] = useState(Date.now);
  useInterval(() => setNow(Date.now()), 1000, { autoInvoke: true });
  // Never negative: the server's and the browser's clocks may differ.
  const seconds = Math.max(0, Math.floor((now - since_ms) / 1000));
  return `${duration(seconds * 1000)} ago`;
}
