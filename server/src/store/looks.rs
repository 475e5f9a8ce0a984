//! Looks at studies that end as soon as they are decided.

use crate::store::Store;
use anyhow::Result;
use leadline_protocol::study::until_decided::{Look, LookOutcome};
use sqlx::types::Json;

impl Store {
    /// The looks at a study, in order.
    pub(super) async fn looks(&self, study: u64) -> sqlx::Result<Vec<Look>> {
        let looks: Vec<Json<Look>> =
            sqlx::query_scalar("SELECT look FROM study_looks WHERE study = ? ORDER BY pairs")
                .bind(study.cast_signed())
                .fetch_all(&self.readers)
                .await?;
        Ok(looks.into_iter().map(|Json(look)| look).collect())
    }

    /// Stores a look, unless it has already been stored.
    pub(crate) async fn insert_look(&self, study: u64, look: &Look, now_ms: u64) -> Result<()> {
        let mut transaction = self.begin().await?;
        // The study may have been deleted with its last run.
        sqlx::query(
            "INSERT INTO study_looks (study, pairs, at_ms, decided, look)
             SELECT number, ?, ?, ?, ? FROM studies WHERE number = ? ON CONFLICT DO NOTHING",
        )
        .bind(look.planned.pairs)
        .bind(now_ms.cast_signed())
        .bind(look.outcome == LookOutcome::Decided)
        .bind(Json(look))
        .bind(study.cast_signed())
        .execute(&mut transaction.connection)
        .await?;
        transaction.commit().await
    }

    /// Number of pairs after which a study was decided.
    pub(crate) async fn decided_after(&self, study: u64) -> Result<Option<u32>> {
        Ok(
            sqlx::query_scalar("SELECT pairs FROM study_looks WHERE study = ? AND decided")
                .bind(study.cast_signed())
                .fetch_optional(&self.readers)
                .await?,
        )
    }

    /// Up to `limit` studies that have looks ahead and are not decided, newest first.
    pub(crate) async fn undecided_studies(&self, limit: u32) -> Result<Vec<u64>> {
        Ok(sqlx::query_scalar(
            "SELECT number FROM studies WHERE until_decided IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM study_looks WHERE study = number AND decided)
             AND (SELECT count(*) FROM study_looks WHERE study = number) < json_array_length(until_decided, '$.looks')
             ORDER BY number DESC LIMIT ?",
        )
        .bind(limit)
        .fetch_all(&self.readers)
        .await?)
    }
}
