//! Webhook receivers.

use crate::store::{Store, rows};
use anyhow::Result;
use leadline_protocol::webhook::WebhookEvent;
use sqlx::{FromRow, Row, query, query_as, sqlite::SqliteRow, types::Json};

#[derive(Clone, Debug)]
pub(crate) struct StoredWebhook {
    pub number: u64,
    pub name: String,
    pub url: String,
    pub key: Vec<u8>,
    pub events: Vec<WebhookEvent>,
    pub enabled: bool,
    pub created_at_ms: u64,
}

impl FromRow<'_, SqliteRow> for StoredWebhook {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            number: row.try_get("number")?,
            name: row.try_get("name")?,
            url: row.try_get("url")?,
            key: row.try_get("key")?,
            events: row.try_get::<Json<_>, _>("events")?.0,
            enabled: row.try_get("enabled")?,
            created_at_ms: row.try_get("created_at_ms")?,
        })
    }
}

impl Store {
    /// Ordered by number.
    pub(crate) async fn webhooks(&self) -> Result<Vec<StoredWebhook>> {
        let sql = "SELECT * FROM webhooks ORDER BY number";
        let rows = query(sql).fetch_all(&self.readers).await?;
        Ok(rows::readable(&rows, "webhooks", FromRow::from_row))
    }

    pub(crate) async fn webhook(&self, number: u64) -> Result<Option<StoredWebhook>> {
        Ok(query_as("SELECT * FROM webhooks WHERE number = ?")
            .bind(i64::try_from(number).unwrap_or(i64::MAX))
            .fetch_optional(&self.readers)
            .await?)
    }

    /// Inserts a webhook (number 0), or replaces the webhook with the same number. Returns the
    /// number, or `None` if there are already `limit` other webhooks. Pending messages to a
    /// disabled webhook fail.
    pub(crate) async fn set_webhook(
        &self,
        webhook: &StoredWebhook,
        limit: u32,
    ) -> Result<Option<u64>> {
        let mut transaction = self.begin().await?;
        let number = webhook.number.cast_signed();
        let stored = query(
            "INSERT INTO webhooks (number, name, url, key, events, enabled, created_at_ms)
             SELECT nullif(?1, 0), ?2, ?3, ?4, ?5, ?6, ?7 WHERE (SELECT count(*) FROM webhooks WHERE number <> ?1) < ?8
             ON CONFLICT DO UPDATE SET name = ?2, url = ?3, key = ?4, events = ?5, enabled = ?6",
        )
        .bind(number)
        .bind(&webhook.name)
        .bind(&webhook.url)
        .bind(&webhook.key)
        .bind(Json(&webhook.events))
        .bind(webhook.enabled)
        .bind(webhook.created_at_ms.cast_signed())
        .bind(limit)
        .execute(&mut transaction.connection)
        .await?;
        if !webhook.enabled {
            query("UPDATE webhook_deliveries SET status = 'failed', last_result = 'the webhook was disabled' WHERE webhook = ? AND status = 'pending'")
                .bind(number)
                .execute(&mut transaction.connection)
                .await?;
        }
        transaction.commit().await?;
        Ok(match (stored.rows_affected(), number) {
            (0, _) => None,
            (_, 0) => Some(stored.last_insert_rowid().cast_unsigned()),
            _ => Some(webhook.number),
        })
    }

    /// Deletes a webhook and its messages. Returns false if it does not exist.
    pub(crate) async fn delete_webhook(&self, number: u64) -> Result<bool> {
        let mut transaction = self.begin().await?;
        let deleted = query("DELETE FROM webhooks WHERE number = ?")
            .bind(i64::try_from(number).unwrap_or(i64::MAX))
            .execute(&mut transaction.connection)
            .await?;
        transaction.commit().await?;
        Ok(deleted.rows_affected() > 0)
    }
}
