// Server settings: metric thresholds and webhooks.
import { useState } from 'react';
import type { Webhook } from '../../api';
import { Page } from '../../ui/parts';
import './settings.css';
import { ThresholdsCard } from './thresholds';
import { WebhooksCard } from './webhooks';

export function SettingsPage() {
  const [webhook, setWebhook] = useState<Webhook | 'new' | null>(null);
  return (
    <Page title="Settings" className="settings">
      <h1>Settings</h1>
      {/* An open form has the primary button of the page. */}
      <ThresholdsCard isPrimary={webhook === null} />
      <WebhooksCard edited={webhook} setEdited={setWebhook} />
    </Page>
  );
}
