//! Pinned baselines of series.

use crate::store::Store;
use anyhow::Result;
use sqlx::{
    FromRow, Row, SqliteConnection, query, query_as, query_scalar, sqlite::SqliteRow, types::Json,
};

/// Identifies a series.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct SeriesKey {
    pub job_fingerprint: String,
    pub machine_fingerprint: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredBaseline {
    /// Including deleted runs.
    pub runs: Vec<u64>,
    /// `None` for the thresholds of the metrics.
    pub threshold_percent: Option<f64>,
    pub pinned_at_ms: u64,
}

impl FromRow<'_, SqliteRow> for SeriesKey {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            job_fingerprint: row.try_get("job_fingerprint")?,
            machine_fingerprint: row.try_get("machine_fingerprint")?,
        })
    }
}

impl FromRow<'_, SqliteRow> for StoredBaseline {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            // A baseline that cannot be read has no runs; its trend reports that they are missing.
            runs: row
                .try_get::<Json<_>, _>("runs")
                .map_or_else(|_| Vec::new(), |runs| runs.0),
            threshold_percent: row.try_get("threshold_percent")?,
            pinned_at_ms: row.try_get("pinned_at_ms")?,
        })
    }
}

impl Store {
    pub(crate) async fn baseline(&self, series: &SeriesKey) -> Result<Option<StoredBaseline>> {
        let sql = "SELECT * FROM baselines WHERE job_fingerprint = ? AND machine_fingerprint = ?";
        Ok(query_as(sql)
            .bind(&series.job_fingerprint)
            .bind(&series.machine_fingerprint)
            .fetch_optional(&self.readers)
            .await?)
    }

    /// The given runs that exist, in order.
    pub(crate) async fn existing_runs(&self, runs: &[u64]) -> Result<Vec<u64>> {
        let sql = "SELECT number FROM runs WHERE number IN (SELECT value FROM json_each(?)) ORDER BY number";
        Ok(query_scalar(sql)
            .bind(Json(runs))
            .fetch_all(&self.readers)
            .await?)
    }

    /// Replaces the baseline of a series. Returns false if there would be more than `limit`
    /// baselines.
    pub(crate) async fn set_baseline(
        &self,
        series: &SeriesKey,
        baseline: &StoredBaseline,
        limit: u32,
    ) -> Result<bool> {
        let mut transaction = self.begin().await?;
        let others: u32 = query_scalar(
            "SELECT count(*) FROM baselines WHERE NOT (job_fingerprint = ? AND machine_fingerprint = ?)",
        )
        .bind(&series.job_fingerprint)
        .bind(&series.machine_fingerprint)
        .fetch_one(&mut transaction.connection)
        .await?;
        if others >= limit {
            return Ok(false);
        }
        query("INSERT OR REPLACE INTO baselines (job_fingerprint, machine_fingerprint, runs, threshold_percent, pinned_at_ms) VALUES (?, ?, ?, ?, ?)")
            .bind(&series.job_fingerprint)
            .bind(&series.machine_fingerprint)
            .bind(Json(&baseline.runs))
            .bind(baseline.threshold_percent)
            .bind(baseline.pinned_at_ms.cast_signed())
            .execute(&mut transaction.connection)
            .await?;
        transaction.commit().await?;
        Ok(true)
    }

    /// Returns false if the series has no baseline.
    pub(crate) async fn delete_baseline(&self, series: &SeriesKey) -> Result<bool> {
        let mut transaction = self.begin().await?;
        let sql = "DELETE FROM baselines WHERE job_fingerprint = ? AND machine_fingerprint = ?";
        let deleted = query(sql)
            .bind(&series.job_fingerprint)
            .bind(&series.machine_fingerprint)
            .execute(&mut transaction.connection)
            .await?;
        transaction.commit().await?;
        Ok(deleted.rows_affected() > 0)
    }

    /// The series with a baseline, in the order in which they were pinned.
    pub(crate) async fn pinned_series(&self) -> Result<Vec<SeriesKey>> {
        let sql = "SELECT job_fingerprint, machine_fingerprint FROM baselines ORDER BY pinned_at_ms, 1, 2";
        Ok(query_as(sql).fetch_all(&self.readers).await?)
    }
}

/// Moves a baseline to the new fingerprints of one of its runs.
pub(super) async fn follow(
    connection: &mut SqliteConnection,
    run: u64,
    job: &str,
    machine: &str,
) -> sqlx::Result<()> {
    query(
        "UPDATE OR REPLACE baselines SET job_fingerprint = ?1, machine_fingerprint = ?2
         WHERE (job_fingerprint <> ?1 OR machine_fingerprint <> ?2) AND ?3 IN (SELECT value FROM json_each(iif(json_valid(runs), runs, '[]')))",
    )
    .bind(job)
    .bind(machine)
    .bind(run.cast_signed())
    .execute(connection)
    .await?;
    Ok(())
}

/// Deletes the baselines of series without runs.
pub(super) async fn delete_orphans(connection: &mut SqliteConnection) -> sqlx::Result<()> {
    query(
        "DELETE FROM baselines WHERE NOT EXISTS (SELECT 1 FROM runs WHERE runs.job_fingerprint = baselines.job_fingerprint
         AND runs.machine_fingerprint = baselines.machine_fingerprint)",
    )
    .execute(connection)
    .await?;
    Ok(())
}
