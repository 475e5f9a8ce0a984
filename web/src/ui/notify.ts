// Toast for a failed action.
import { notifications } from '@mantine/notifications';
import { errorText } from './problem';

/** Display time: long enough to read two sentences. */
const VISIBLE_MS = 12_000;

export function notifyError(error: unknown) {
  const { title, lines } = errorText(error);
  notifications.show({
    color: 'red',
    title,
    message: lines.filter(Boolean).join(' '),
    autoClose: VISIBLE_MS,
  });
}
