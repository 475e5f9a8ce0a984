//! Metrics shown in lists for runs that ended without a report.

use crate::store::{Store, compaction::ENDED};
use leadline_protocol::report_summary::ReportSummary;
use sqlx::{query, query_as};

impl Store {
    /// Returns the number and sampling interval (in milliseconds) of the next ended run that has
    /// samples in the measured window, but no metrics yet.
    pub(crate) async fn run_without_metrics(&self) -> sqlx::Result<Option<(u64, u32)>> {
        query_as(
            "SELECT number, sample_ms FROM runs JOIN run_details ON run = number
             WHERE iops IS NULL AND report IS NULL AND result_sha256 IS NULL
                 AND status IN (SELECT value FROM json_each(?))
                 AND (SELECT max(t_ms) FROM events WHERE run = number AND type = 'sample')
                     > (SELECT min(t_ms) FROM events WHERE run = number AND type = 'phase'
                        AND line ->> 'phase' = 'measure' AND line ->> 'state' = 'begin')
             ORDER BY number LIMIT 1",
        )
        .bind(ENDED)
        .fetch_optional(&self.readers)
        .await
    }

    pub(crate) async fn store_partial_metrics(
        &self,
        run: u64,
        metrics: &ReportSummary,
    ) -> anyhow::Result<()> {
        let mut transaction = self.begin_unsynced().await?;
        query(
            "UPDATE runs SET iops = ?, bytes_per_second = ?, lat_p50_ns = ?, lat_p99_ns = ?, lat_max_ns = ?
             WHERE number = ? AND iops IS NULL",
        )
        .bind(metrics.iops)
        .bind(metrics.bytes_per_second)
        .bind(metrics.lat_p50_ns.map(u64::cast_signed))
        .bind(metrics.lat_p99_ns.map(u64::cast_signed))
        .bind(metrics.lat_max_ns.map(u64::cast_signed))
        .bind(run.cast_signed())
        .execute(&mut transaction.connection)
        .await?;
        transaction.commit().await
    }
}
