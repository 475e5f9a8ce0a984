//! The last known states of series with a baseline.

use crate::store::{Store, baselines::SeriesKey, deliveries};
use anyhow::Result;
use leadline_protocol::{trend::TrendState, webhook::WebhookMessage};
use sqlx::{query, query_scalar};

impl Store {
    /// Stores a state. If the series had a different state with the same baseline, also stores a
    /// message about the change, which contains the previous state.
    pub(crate) async fn set_trend_state(
        &self,
        series: &SeriesKey,
        pinned_at_ms: u64,
        state: TrendState,
        message: impl FnOnce(TrendState) -> WebhookMessage,
    ) -> Result<()> {
        let previous: Option<String> = query_scalar(
            "SELECT state FROM trend_states WHERE job_fingerprint = ? AND machine_fingerprint = ? AND pinned_at_ms = ?",
        )
        .bind(&series.job_fingerprint)
        .bind(&series.machine_fingerprint)
        .bind(pinned_at_ms.cast_signed())
        .fetch_optional(&self.readers)
        .await?;
        if previous.as_deref() == Some(state.as_str()) {
            return Ok(());
        }
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        query("INSERT OR REPLACE INTO trend_states (job_fingerprint, machine_fingerprint, pinned_at_ms, state) VALUES (?, ?, ?, ?)")
            .bind(&series.job_fingerprint)
            .bind(&series.machine_fingerprint)
            .bind(pinned_at_ms.cast_signed())
            .bind(state.as_str())
            .execute(&mut *connection)
            .await?;
        if let Some(previous) = previous {
            deliveries::publish(connection, &message(previous.parse()?)).await?;
        }
        transaction.commit().await
    }
}
