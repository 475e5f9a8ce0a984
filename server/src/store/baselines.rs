//! Pinned baselines of series.

use crate::store::{Store, baseline_digest, run_digest::Integrity};
use anyhow::Result;
use sqlx::{
    AssertSqlSafe, FromRow, Row, SqliteConnection, query, query_as, query_scalar,
    sqlite::SqliteRow, types::Json,
};

/// Identifies a series.
#[derive(Clone, Debug, Eq, Hash, PartialEq)]
pub(crate) struct SeriesKey {
    pub job_fingerprint: String,
    pub machine_fingerprint: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct StoredBaseline {
    /// Includes deleted runs.
    pub runs: Vec<u64>,
    /// `None` to use each metric's threshold.
    pub threshold_percent: Option<f64>,
    pub pinned_at_ms: u64,
    /// The row does not match its checksum, so its runs and its threshold are not returned.
    pub is_damaged: bool,
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
        let read = || -> sqlx::Result<Self> {
            Ok(Self {
                runs: row.try_get::<Json<_>, _>("runs")?.0,
                threshold_percent: row.try_get("threshold_percent")?,
                pinned_at_ms: row.try_get("pinned_at_ms")?,
                is_damaged: false,
            })
        };
        let is_intact = baseline_digest::integrity(row)? != Integrity::Damaged;
        Ok(read().ok().filter(|_| is_intact).unwrap_or_else(|| Self {
            runs: Vec::new(),
            threshold_percent: None,
            pinned_at_ms: row.try_get("pinned_at_ms").unwrap_or_default(),
            is_damaged: true,
        }))
    }
}

impl Store {
    pub(crate) async fn baseline(&self, series: &SeriesKey) -> Result<Option<StoredBaseline>> {
        let of_series = "WHERE job_fingerprint = ? AND machine_fingerprint = ?";
        let sql = format!("{} {of_series}", baseline_digest::SELECT);
        Ok(query_as(AssertSqlSafe(sql))
            .bind(&series.job_fingerprint)
            .bind(&series.machine_fingerprint)
            .fetch_optional(&self.readers)
            .await?)
    }

    /// Returns those of the runs that still exist, in order.
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
        let (job, machine) = (&series.job_fingerprint, &series.machine_fingerprint);
        baseline_digest::store(&mut transaction.connection, job, machine).await?;
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

    /// Returns all series with a baseline, in the order in which the baselines were pinned.
    pub(crate) async fn pinned_series(&self) -> Result<Vec<SeriesKey>> {
        let sql = "SELECT job_fingerprint, machine_fingerprint FROM baselines ORDER BY pinned_at_ms, 1, 2";
        Ok(query_as(sql).fetch_all(&self.readers).await?)
    }
}

/// Moves a baseline to the new fingerprints of its series, read from one of its runs.
pub(super) async fn move_with_series(
    connection: &mut SqliteConnection,
    run: u64,
    job: &str,
    machine: &str,
) -> sqlx::Result<()> {
    let moved = "WHERE (job_fingerprint <> ? OR machine_fingerprint <> ?)
        AND ? IN (SELECT value FROM json_each(iif(json_valid(runs), runs, '[]')))";
    let select = format!("{} {moved}", baseline_digest::SELECT);
    let rows = query(AssertSqlSafe(select))
        .bind(job)
        .bind(machine)
        .bind(run.cast_signed())
        .try_map(|row: SqliteRow| {
            Ok((
                SeriesKey::from_row(&row)?,
                baseline_digest::integrity(&row)?,
            ))
        })
        .fetch_all(&mut *connection)
        .await?;
    for (old, integrity) in rows {
        query(
            "UPDATE OR REPLACE baselines SET job_fingerprint = ?, machine_fingerprint = ?
             WHERE job_fingerprint = ? AND machine_fingerprint = ?",
        )
        .bind(job)
        .bind(machine)
        .bind(&old.job_fingerprint)
        .bind(&old.machine_fingerprint)
        .execute(&mut *connection)
        .await?;
        baseline_digest::update(connection, job, machine, integrity).await?;
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::migrations;
    use sqlx::{Connection, raw_sql};

    /// A new version changes the fingerprints of a series, so its baseline moves.
    #[tokio::test]
    async fn moving_a_baseline_preserves_it() {
        let changes = [
            ("pinned_at_ms = 1", Integrity::Intact),
            ("threshold_percent = 50", Integrity::Damaged),
            ("sha256 = NULL", Integrity::Damaged),
            ("sha256 = NULL, has_checksum = 0", Integrity::Unknown),
        ];
        for (change, expected) in changes {
            let mut database = SqliteConnection::connect(":memory:").await.unwrap();
            migrations::run(&mut database).await.unwrap();
            let insert = "INSERT INTO baselines (job_fingerprint, machine_fingerprint, runs, threshold_percent, pinned_at_ms)
                VALUES ('a', 'b', '[7, 8]', 2, 1)";
            query(insert).execute(&mut database).await.unwrap();
            baseline_digest::store(&mut database, "a", "b")
                .await
                .unwrap();
            let sql = format!("UPDATE baselines SET {change}");
            let changed = raw_sql(AssertSqlSafe(sql)).execute(&mut database);
            changed.await.unwrap();
            for (run, fingerprint) in [(8, "c"), (9, "d"), (7, "e"), (7, "e")] {
                move_with_series(&mut database, run, fingerprint, "b")
                    .await
                    .unwrap();
            }
            let row = query(baseline_digest::SELECT)
                .fetch_one(&mut database)
                .await
                .unwrap();
            assert_eq!(row.get::<&str, _>("job_fingerprint"), "e");
            assert!(
                baseline_digest::integrity(&row).unwrap() == expected,
                "{change}"
            );
        }
    }
}
