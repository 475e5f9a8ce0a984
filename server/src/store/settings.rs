//! Settings that users change in the web UI.

use crate::store::Store;
use anyhow::Result;
use leadline_protocol::settings::Settings;
use sqlx::{query, query_as};

impl Store {
    pub(crate) async fn settings(&self) -> Result<Settings> {
        let sql = "SELECT metric, percent FROM metric_thresholds";
        let thresholds: Vec<(String, f64)> = query_as(sql).fetch_all(&self.readers).await?;
        Ok(Settings {
            thresholds: thresholds.into_iter().collect(),
        })
    }

    /// Replaces all settings.
    pub(crate) async fn set_settings(&self, settings: &Settings) -> Result<()> {
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        query("DELETE FROM metric_thresholds")
            .execute(&mut *connection)
            .await?;
        for (metric, percent) in &settings.thresholds {
            query("INSERT INTO metric_thresholds (metric, percent) VALUES (?, ?)")
                .bind(metric)
                .bind(percent)
                .execute(&mut *connection)
                .await?;
        }
        transaction.commit().await
    }
}
