//! Sends stored messages. Each message is sent at least once, in order per receiver, and with
//! increasing delays after failures.

use crate::{
    clock::now_ms,
    runs::Runs,
    store::deliveries::{Attempt, PendingDelivery},
    webhooks::{
        backoff::delay_ms,
        send::{Message, Outcome, send},
        sign::signature,
        target,
    },
};
use futures_util::future::join_all;
use leadline_protocol::webhook::DeliveryStatus;
use std::time::Duration;
use tokio::time::sleep;

const POLL: Duration = Duration::from_millis(500);
/// Delay between a database error and the next attempt.
const RETRY: Duration = Duration::from_secs(10);

impl Runs {
    /// Sends messages until the server exits.
    pub(crate) async fn deliver_webhooks(self) {
        loop {
            let delay = match self.deliver_due().await {
                Ok(()) => POLL,
                Err(error) => {
                    tracing::warn!("cannot send webhooks: {error:#}");
                    RETRY
                }
            };
            sleep(delay).await;
        }
    }

    /// Sends one pending message to each receiver. The messages are sent concurrently, so a slow
    /// receiver delays other receivers by at most one timeout.
    async fn deliver_due(&self) -> anyhow::Result<()> {
        let due = self.store.due_deliveries(now_ms()).await?;
        let sent = due.iter().map(|delivery| self.deliver(delivery));
        join_all(sent).await.into_iter().collect()
    }

    async fn deliver(&self, delivery: &PendingDelivery) -> anyhow::Result<()> {
        // The webhook may have been deleted.
        let Some(webhook) = self.store.webhook(delivery.webhook).await? else {
            return Ok(());
        };
        let outcome = match target::parse(&webhook.url) {
            Ok(target) => {
                let (id, body) = (delivery.id.clone(), delivery.body.clone());
                let timestamp = now_ms() / 1000;
                let signature = signature(&webhook.key, &id, timestamp, &body);
                let message = Message {
                    id,
                    timestamp,
                    signature,
                    body,
                };
                send(&target, message).await
            }
            Err((detail, _)) => Outcome::failed(detail),
        };
        let attempts = delivery.attempts + 1;
        let is_repeated = !outcome.is_delivered && !outcome.is_final;
        let next = delay_ms(attempts, outcome.retry_after).filter(|_| is_repeated);
        let status = match (outcome.is_delivered, next) {
            (true, _) => DeliveryStatus::Delivered,
            (false, Some(_)) => DeliveryStatus::Pending,
            (false, None) => DeliveryStatus::Failed,
        };
        if !outcome.is_delivered {
            tracing::warn!(
                webhook = webhook.number,
                attempts,
                "not delivered: {}",
                outcome.text
            );
        }
        let attempt = Attempt {
            status,
            result: outcome.text,
            next_attempt_ms: now_ms() + next.unwrap_or_default(),
        };
        self.store.store_attempt(delivery, &attempt).await
    }
}
