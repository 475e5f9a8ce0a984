//! Settings that users change in the web UI.

use crate::store::Store;
use anyhow::Result;
use leadline_protocol::{limits::THRESHOLDS, settings::Settings};
use sqlx::{query, query_as};

impl Store {
    pub(crate) async fn settings(&self) -> Result<Settings> {
        let sql = "SELECT metric, percent FROM metric_thresholds";
        let thresholds: Vec<(String, f64)> = query_as(sql).fetch_all(&self.readers).await?;
        let (valid, damaged): (Vec<_>, Vec<_>) = thresholds
            .into_iter()
            .partition(|(_, percent)| THRESHOLDS.contains(percent));
        for (metric, percent) in damaged {
            tracing::error!("ignored a damaged threshold: {metric} {percent} %");
        }
        Ok(Settings {
            thresholds: valid.into_iter().collect(),
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
