// Form for a webhook. The server never returns the URL's path or the secret, so they can be
// replaced but not edited.
import { Button, Checkbox, TextInput } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import {
  createWebhook,
  replaceWebhook,
  type Webhook,
  type WebhookEvent,
  type WebhookRequest,
} from '../../api';
import { invalidateWebhooks } from '../../api/queries';
import { copyText } from '../../ui/clipboard';
import { notifyError } from '../../ui/notify';

export const EVENTS: { value: WebhookEvent; label: string }[] = [
  { value: 'trend_state_changed', label: 'Trend state changed' },
  { value: 'schedule_run_failed', label: 'Scheduled run failed' },
  { value: 'schedule_start_missed', label: 'Scheduled start missed or skipped' },
];

const KEY_BYTES = 32;

/** Generates a secret in the Standard Webhooks format. */
function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return `whsec_${btoa(String.fromCharCode(...bytes))}`;
}

export function WebhookForm({ webhook, close }: { webhook?: Webhook; close: () => void }) {
  const [name, setName] = useState(webhook?.name ?? '');
  const [url, setUrl] = useState('');
  const [secret, setSecret] = useState(() => (webhook ? '' : newSecret()));
  const [events, setEvents] = useState(() => webhook?.events ?? EVENTS.map(({ value }) => value));
  const [enabled, setEnabled] = useState(webhook?.enabled ?? true);
  const queryClient = useQueryClient();
  const save = useMutation({
    mutationFn: async () => {
      const body: WebhookRequest = { name, events, enabled };
      if (url) body.url = url;
      if (secret) body.secret = secret;
      await (webhook
        ? replaceWebhook({ path: { n: webhook.number }, body })
        : createWebhook({ body }));
    },
    onSuccess: async () => {
      await invalidateWebhooks(queryClient);
      close();
    },
    onError: notifyError,
  });
  const unchanged = webhook && 'Leave empty to keep the current value';
  return (
    <div className="webhook-fields">
      <TextInput
        label="Name"
        value={name}
        onChange={({ currentTarget }) => setName(currentTarget.value)}
      />
      <TextInput
        className="url"
        label="URL"
        placeholder={unchanged ?? 'http://host:port/path'}
        value={url}
        onChange={({ currentTarget }) => setUrl(currentTarget.value)}
      />
      <TextInput
        className="wide"
        classNames={{ input: 'mono' }}
        label="Secret"
        description={secret && 'Copy it to the receiver now. It will not be shown again.'}
        inputWrapperOrder={['label', 'input', 'description']}
        rightSection={
          secret && (
            <Button
              size="compact-sm"
              aria-label="Copy secret"
              onClick={() => void copyText('Secret', secret)}
            >
              Copy
            </Button>
          )
        }
        rightSectionWidth={64}
        placeholder={unchanged}
        value={secret}
        onChange={({ currentTarget }) => setSecret(currentTarget.value)}
      />
      {EVENTS.map(({ value, label }) => (
        <Checkbox
          key={value}
          label={label}
          checked={events.includes(value)}
          onChange={({ currentTarget: { checked } }) =>
            setEvents((old) => (checked ? [...old, value] : old.filter((item) => item !== value)))
          }
        />
      ))}
      <Checkbox
        label="Enabled"
        checked={enabled}
        onChange={({ currentTarget }) => setEnabled(currentTarget.checked)}
      />
      <div className="row wide">
        <Button variant="filled" loading={save.isPending} onClick={() => save.mutate()}>
          {webhook ? 'Save' : 'Add webhook'}
        </Button>
        <Button onClick={close}>Cancel</Button>
      </div>
    </div>
  );
}
