//! Schedules.

use crate::store::{Store, rows};
use anyhow::Result;
use leadline_protocol::schedule::QuietHours;
use serde_json::Value;
use sqlx::{FromRow, Row, query, query_as, sqlite::SqliteRow, types::Json};

/// A schedule as requested, with defaults filled in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Definition {
    pub name: String,
    pub cron: String,
    pub time_zone: String,
    pub document: Value,
    pub tags: Vec<String>,
    pub quiet_hours: Vec<QuietHours>,
    pub enabled: bool,
}

#[derive(Clone, Debug)]
pub(crate) struct StoredSchedule {
    pub number: u64,
    pub definition: Definition,
    pub created_at_ms: u64,
    /// Due times up to this time have been handled.
    pub handled_until_ms: u64,
}

impl FromRow<'_, SqliteRow> for StoredSchedule {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            number: row.try_get("number")?,
            definition: Definition {
                name: row.try_get("name")?,
                cron: row.try_get("cron")?,
                time_zone: row.try_get("time_zone")?,
                document: row.try_get::<Json<_>, _>("document")?.0,
                tags: row.try_get::<Json<_>, _>("tags")?.0,
                quiet_hours: row.try_get::<Json<_>, _>("quiet_hours")?.0,
                enabled: row.try_get("enabled")?,
            },
            created_at_ms: row.try_get("created_at_ms")?,
            handled_until_ms: row.try_get("handled_until_ms")?,
        })
    }
}

impl Store {
    /// Ordered by number.
    pub(crate) async fn schedules(&self) -> Result<Vec<StoredSchedule>> {
        let sql = "SELECT * FROM schedules ORDER BY number";
        let rows = query(sql).fetch_all(&self.readers).await?;
        Ok(rows::readable(&rows, "schedules", FromRow::from_row))
    }

    pub(crate) async fn schedule(&self, number: u64) -> Result<Option<StoredSchedule>> {
        Ok(query_as("SELECT * FROM schedules WHERE number = ?")
            .bind(i64::try_from(number).unwrap_or(i64::MAX))
            .fetch_optional(&self.readers)
            .await?)
    }

    /// Returns the schedule's number, or `None` if there are already `limit` schedules.
    pub(crate) async fn insert_schedule(
        &self,
        new: &Definition,
        limit: u32,
        now_ms: u64,
    ) -> Result<Option<u64>> {
        let mut transaction = self.begin().await?;
        let inserted = query(
            "INSERT INTO schedules (name, cron, time_zone, document, tags, quiet_hours, enabled, created_at_ms, handled_until_ms)
             SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?8 WHERE (SELECT count(*) FROM schedules) < ?9",
        )
        .bind(&new.name)
        .bind(&new.cron)
        .bind(&new.time_zone)
        .bind(Json(&new.document))
        .bind(Json(&new.tags))
        .bind(Json(&new.quiet_hours))
        .bind(new.enabled)
        .bind(now_ms.cast_signed())
        .bind(limit)
        .execute(&mut transaction.connection)
        .await?;
        transaction.commit().await?;
        let is_inserted = inserted.rows_affected() > 0;
        Ok(is_inserted.then_some(inserted.last_insert_rowid().cast_unsigned()))
    }

    /// Replaces a schedule. Due times in the past do not start anything. Returns false if the
    /// schedule does not exist.
    pub(crate) async fn update_schedule(
        &self,
        number: u64,
        new: &Definition,
        now_ms: u64,
    ) -> Result<bool> {
        let mut transaction = self.begin().await?;
        let updated = query(
            "UPDATE schedules SET name = ?, cron = ?, time_zone = ?, document = ?, tags = ?, quiet_hours = ?, enabled = ?,
             handled_until_ms = ? WHERE number = ?",
        )
        .bind(&new.name)
        .bind(&new.cron)
        .bind(&new.time_zone)
        .bind(Json(&new.document))
        .bind(Json(&new.tags))
        .bind(Json(&new.quiet_hours))
        .bind(new.enabled)
        .bind(now_ms.cast_signed())
        .bind(i64::try_from(number).unwrap_or(i64::MAX))
        .execute(&mut transaction.connection)
        .await?;
        transaction.commit().await?;
        Ok(updated.rows_affected() > 0)
    }

    /// Returns false if the schedule does not exist.
    pub(crate) async fn delete_schedule(&self, number: u64) -> Result<bool> {
        let mut transaction = self.begin().await?;
        let deleted = query("DELETE FROM schedules WHERE number = ?")
            .bind(i64::try_from(number).unwrap_or(i64::MAX))
            .execute(&mut transaction.connection)
            .await?;
        transaction.commit().await?;
        Ok(deleted.rows_affected() > 0)
    }
}
