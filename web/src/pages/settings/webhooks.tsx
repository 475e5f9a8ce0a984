// Webhooks, each with its latest messages.
import { Button } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { type Delivery, deleteWebhook, testWebhook, type Webhook } from '../../api';
import { invalidateWebhooks, webhooksQuery } from '../../api/queries';
import { plural } from '../../model/format/numbers';
import { dateTime, shortDateTime } from '../../model/format/time';
import { DamagedRows } from '../../ui/damaged-rows';
import { notifyError } from '../../ui/notify';
import { Badge, Card, type Tone } from '../../ui/parts';
import { ProblemNotice } from '../../ui/problem';
import { EVENTS, WebhookForm } from './webhook-form';

const SHOWN = 5;
const STATUSES: Record<Delivery['status'], { label: string; tone: Tone }> = {
  pending: { label: 'Pending', tone: null },
  delivered: { label: 'Delivered', tone: 'device' },
  failed: { label: 'Failed', tone: 'bad' },
};

interface WebhooksProps {
  /** The webhook that the form shows. */
  edited: Webhook | 'new' | null;
  setEdited: (webhook: Webhook | 'new' | null) => void;
}

export function WebhooksCard({ edited, setEdited }: WebhooksProps) {
  const query = useQuery(webhooksQuery);
  const queryClient = useQueryClient();
  const { webhooks, damaged } = query.data ?? { webhooks: [], damaged: [] };
  return (
    <Card
      title="Webhooks"
      aside={!edited && <Button onClick={() => setEdited('new')}>Add webhook</Button>}
    >
      <ProblemNotice error={query.error} retry={query.refetch} />
      {edited && (
        <WebhookForm
          key={edited === 'new' ? 0 : edited.number}
          webhook={edited === 'new' ? undefined : edited}
          close={() => setEdited(null)}
        />
      )}
      <DamagedRows
        kind="webhook"
        numbers={damaged}
        remove={(number) => deleteWebhook({ path: { n: number } })}
        onRemoved={() => invalidateWebhooks(queryClient)}
      />
      {query.isSuccess && webhooks.length + damaged.length === 0 && !edited && (
        <p className="mute">
          A webhook sends signed messages when a trend changes state, when a scheduled run fails,
          and when a scheduled start is missed or skipped.
        </p>
      )}
      {webhooks.map((webhook) => (
        <WebhookSection key={webhook.number} webhook={webhook} edit={() => setEdited(webhook)} />
      ))}
    </Card>
  );
}

function WebhookSection({ webhook, edit }: { webhook: Webhook; edit: () => void }) {
  const { number, name, origin, enabled, events, deliveries } = webhook;
  const queryClient = useQueryClient();
  const onSuccess = () => invalidateWebhooks(queryClient);
  const path = { n: number };
  const test = useMutation({
    mutationFn: () => testWebhook({ path }),
    onSuccess,
    onError: notifyError,
  });
  const remove = useMutation({
    mutationFn: () => deleteWebhook({ path }),
    onSuccess,
    onError: notifyError,
  });
  const labels = EVENTS.filter(({ value }) => events.includes(value)).map(({ label }) => label);
  return (
    <section className="webhook">
      <div className="row">
        <b>{name}</b>
        <span className="mono mute">{origin}</span>
        {!enabled && <Badge>Disabled</Badge>}
        <span className="row tight push">
          <Button loading={test.isPending} onClick={() => test.mutate()}>
            Send test
          </Button>
          <Button onClick={edit}>Edit</Button>
          <Button
            loading={remove.isPending}
            onClick={() => confirm(`Delete webhook ${name}?`) && remove.mutate()}
          >
            Delete
          </Button>
        </span>
      </div>
      <p className="mute">{labels.join(' · ') || 'No events'}</p>
      {deliveries.length > 0 && (
        <ul className="deliveries">
          {deliveries.slice(0, SHOWN).map((delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} />
          ))}
        </ul>
      )}
    </section>
  );
}

function DeliveryRow({ delivery }: { delivery: Delivery }) {
  const { event, created_at_ms, status, attempts, next_attempt_ms, last_result } = delivery;
  const { label, tone } = STATUSES[status];
  const kind = EVENTS.find(({ value }) => value === event)?.label ?? 'Test';
  const details = [
    last_result,
    attempts > 1 && plural(attempts, 'attempt'),
    attempts > 0 && next_attempt_ms && `next attempt ${shortDateTime(next_attempt_ms)}`,
  ];
  return (
    <li>
      <span className="mono" title={dateTime(created_at_ms)}>
        {shortDateTime(created_at_ms)}
      </span>
      <span>{kind}</span>
      <Badge tone={tone}>{label}</Badge>
      <span className="mute">{details.filter(Boolean).join(', ')}</span>
    </li>
  );
}
