//! Webhook messages. They are stored together with the change that they report, and sent later.

use crate::store::{Store, rows::variant};
use anyhow::Result;
use leadline_protocol::{
    format::hex,
    webhook::{Delivery, DeliveryStatus, WebhookMessage},
};
use rand::{TryRng, rngs::SysRng};
use sqlx::{FromRow, Row, SqliteConnection, query, query_as, query_scalar, sqlite::SqliteRow};

/// Maximum number of pending messages per receiver. If there are more, the oldest ones fail.
const MAX_PENDING: u32 = 1_000;
/// Number of delivered and failed messages to keep per receiver.
const MAX_ENDED: u32 = 200;
const ID_BYTES: usize = 16;

/// A message to send.
#[derive(Clone, Debug)]
pub(crate) struct PendingDelivery {
    pub sequence: u64,
    pub id: String,
    pub webhook: u64,
    pub body: String,
    /// Number of earlier attempts.
    pub attempts: u32,
}

/// Result of a delivery attempt.
pub(crate) struct Attempt {
    pub status: DeliveryStatus,
    pub result: String,
    /// Time of the next attempt to deliver a pending message.
    pub next_attempt_ms: u64,
}

impl FromRow<'_, SqliteRow> for PendingDelivery {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            sequence: row.try_get("sequence")?,
            id: row.try_get("id")?,
            webhook: row.try_get("webhook")?,
            body: row.try_get("body")?,
            attempts: row.try_get("attempts")?,
        })
    }
}

fn delivery(row: &SqliteRow) -> sqlx::Result<Delivery> {
    let status: DeliveryStatus = variant(row, "status")?;
    let next_attempt_ms = row.try_get("next_attempt_ms")?;
    Ok(Delivery {
        id: row.try_get("id")?,
        event: variant(row, "event")?,
        created_at_ms: row.try_get("created_at_ms")?,
        status,
        attempts: row.try_get("attempts")?,
        next_attempt_ms: (status == DeliveryStatus::Pending).then_some(next_attempt_ms),
        last_result: row.try_get("last_result")?,
    })
}

impl Store {
    /// The latest messages to a receiver, newest first.
    pub(crate) async fn deliveries(&self, webhook: u64, limit: u32) -> Result<Vec<Delivery>> {
        Ok(query(
            "SELECT * FROM webhook_deliveries WHERE webhook = ? ORDER BY sequence DESC LIMIT ?",
        )
        .bind(webhook.cast_signed())
        .bind(limit)
        .try_map(|row: SqliteRow| delivery(&row))
        .fetch_all(&self.readers)
        .await?)
    }

    /// Adds a message for one receiver.
    pub(crate) async fn insert_delivery(
        &self,
        webhook: u64,
        message: &WebhookMessage,
    ) -> Result<()> {
        let mut transaction = self.begin().await?;
        insert(&mut transaction.connection, webhook, message).await?;
        transaction.commit().await
    }

    /// Returns, for each receiver, the oldest pending message whose next attempt is due.
    pub(crate) async fn due_deliveries(&self, now_ms: u64) -> Result<Vec<PendingDelivery>> {
        Ok(query_as(
            "SELECT min(sequence) AS sequence, id, webhook, body, attempts FROM webhook_deliveries
             WHERE status = 'pending' AND next_attempt_ms <= ? GROUP BY webhook",
        )
        .bind(now_ms.cast_signed())
        .fetch_all(&self.readers)
        .await?)
    }

    /// Stores the result of an attempt, unless the message was completed in the meantime.
    pub(crate) async fn store_attempt(
        &self,
        delivery: &PendingDelivery,
        attempt: &Attempt,
    ) -> Result<()> {
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        query("UPDATE webhook_deliveries SET status = ?, attempts = ?, next_attempt_ms = ?, last_result = ? WHERE sequence = ? AND status = 'pending'")
            .bind(attempt.status.as_str())
            .bind(delivery.attempts + 1)
            .bind(attempt.next_attempt_ms.cast_signed())
            .bind(&attempt.result)
            .bind(delivery.sequence.cast_signed())
            .execute(&mut *connection)
            .await?;
        query(
            "DELETE FROM webhook_deliveries WHERE webhook = ?1 AND status <> 'pending' AND sequence <=
             (SELECT sequence FROM webhook_deliveries WHERE webhook = ?1 AND status <> 'pending' ORDER BY sequence DESC LIMIT 1 OFFSET ?2)",
        )
        .bind(delivery.webhook.cast_signed())
        .bind(MAX_ENDED)
        .execute(&mut *connection)
        .await?;
        transaction.commit().await
    }
}

/// Adds a message for all receivers that subscribe to its event.
pub(super) async fn publish(
    connection: &mut SqliteConnection,
    message: &WebhookMessage,
) -> Result<()> {
    let webhooks: Vec<u64> = query_scalar(
        "SELECT number FROM webhooks WHERE enabled AND ? IN (SELECT value FROM json_each(events)) ORDER BY number",
    )
    .bind(message.event.as_str())
    .fetch_all(&mut *connection)
    .await?;
    for webhook in webhooks {
        insert(connection, webhook, message).await?;
    }
    Ok(())
}

async fn insert(
    connection: &mut SqliteConnection,
    webhook: u64,
    message: &WebhookMessage,
) -> Result<()> {
    let mut random = [0; ID_BYTES];
    SysRng.try_fill_bytes(&mut random)?;
    query(
        "UPDATE webhook_deliveries SET status = 'failed', last_result = 'too many messages were pending' WHERE sequence IN
         (SELECT sequence FROM webhook_deliveries WHERE webhook = ? AND status = 'pending' ORDER BY sequence DESC LIMIT -1 OFFSET ?)",
    )
    .bind(webhook.cast_signed())
    .bind(MAX_PENDING - 1)
    .execute(&mut *connection)
    .await?;
    query("INSERT INTO webhook_deliveries (id, webhook, event, body, created_at_ms, next_attempt_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?5)")
        .bind(format!("msg_{}", hex(&random)))
        .bind(webhook.cast_signed())
        .bind(message.event.as_str())
        .bind(serde_json::to_string(message)?)
        .bind(message.at_ms.cast_signed())
        .execute(connection)
        .await?;
    Ok(())
}
