// A failure that is told where it happened, in passing: what failed, and what to try.
import { notifications } from '@mantine/notifications';
import type { Told } from './problem';

/** How long it stays, in ms: long enough to read two sentences. */
const STAYS_MS = 12_000;

/** Tells it. */
export function notifyError({ title, detail, remedies = [] }: Told) {
  notifications.show({
    color: 'red',
    title,
    message: [detail, ...remedies].filter(Boolean).join(' '),
    autoClose: STAYS_MS,
  });
}
