// Toast for a failed action.
import { notifications } from '@mantine/notifications';
import type { ErrorText } from './problem';

/** Long enough to read two sentences. */
const VISIBLE_MS = 12_000;

export function notifyError({ title, detail, remedies = [] }: ErrorText) {
  notifications.show({
    color: 'red',
    title,
    message: [detail, ...remedies].filter(Boolean).join(' '),
    autoClose: VISIBLE_MS,
  });
}
