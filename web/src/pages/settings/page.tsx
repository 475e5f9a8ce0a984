// Settings of the server: thresholds of metrics, and webhooks.
import { Page } from '../../ui/parts';
import './settings.css';
import { ThresholdsCard } from './thresholds';
import { WebhooksCard } from './webhooks';

export const SettingsPage = () => (
  <Page title="Settings" className="settings">
    <h1>Settings</h1>
    <ThresholdsCard />
    <WebhooksCard />
  </Page>
);
