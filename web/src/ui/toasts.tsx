// Toasts. Their code is loaded on demand; until then, toasts are queued.
import { useNotifications } from '@mantine/notifications';
import { onDemand, useOnDemand } from './on-demand';

const listCode = onDemand(() => import('./toast-list'));

export function Toasts() {
  const { notifications } = useNotifications();
  const code = useOnDemand(listCode, notifications.length > 0);
  return code && <code.Notifications position="bottom-right" />;
}
