// Button that requests permission to show a notification when a run in a background tab ends.
import { Button } from '@mantine/core';
import { useState } from 'react';
import { canNotify } from './use-tab-title';

/** Renders nothing once the user has decided. */
export function NotifyButton() {
  const [permission, setPermission] = useState(() =>
    canNotify() ? Notification.permission : 'denied',
  );
  if (permission !== 'default') return null;
  return (
    <Button onClick={() => void Notification.requestPermission().then(setPermission)}>
      Notify when done
    </Button>
  );
}
