//! Interim looks at studies with `until_decided`.

use crate::store::{
    Store,
    studies::StoredStudy,
    study_contents,
    study_digest::{self, Damage, DamagedStudy, LOOKS},
};
use anyhow::Result;
use leadline_protocol::{
    run::RunSummary,
    status::RunStatus,
    study::until_decided::{Look, LookOutcome, UntilDecided},
};
use sqlx::{Row, sqlite::SqliteRow, types::Json};

/// Prefix of the reason stored for a run that did not start because of the decision.
pub(crate) const DECIDED: &str = "Not started: decided after";

impl Store {
    /// The looks at a study, in order.
    pub(super) async fn looks(&self, study: u64) -> sqlx::Result<Result<Vec<Look>, DamagedStudy>> {
        let rows = sqlx::query(LOOKS.select("WHERE study = ? ORDER BY pairs"))
            .bind(study.cast_signed())
            .fetch_all(&self.readers)
            .await?;
        let looks: Result<_, Damage> = rows.iter().map(parse).collect();
        Ok(looks.map_err(|cause| DamagedStudy { study, cause }))
    }

    /// Stores a look, unless it has already been stored.
    pub(crate) async fn insert_look(&self, study: u64, look: &Look, now_ms: u64) -> Result<()> {
        let mut transaction = self.begin().await?;
        // If the study was deleted with its last run, nothing is inserted.
        let inserted = sqlx::query(
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
        if inserted.rows_affected() > 0 {
            let key = [study, look.planned.pairs.into()];
            LOOKS.store(&mut transaction.connection, &key).await?;
            study_contents::add_look(&mut transaction.connection, study).await?;
        }
        transaction.commit().await
    }

    /// Returns the number of pairs at which a study was decided, if it was. The looks must have
    /// been checked first.
    pub(crate) async fn decided_after(&self, study: u64) -> Result<Option<u32>> {
        Ok(
            sqlx::query_scalar("SELECT pairs FROM study_looks WHERE study = ? AND decided")
                .bind(study.cast_signed())
                .fetch_optional(&self.readers)
                .await?,
        )
    }

    /// Returns up to `limit` undecided studies that still have looks ahead, newest first.
    pub(crate) async fn undecided_studies(&self, limit: u32) -> Result<Vec<u64>> {
        Ok(sqlx::query_scalar(
            "SELECT number FROM studies WHERE until_decided IS NOT NULL
             AND NOT EXISTS (SELECT 1 FROM study_looks WHERE study = number AND decided)
             AND (SELECT count(*) FROM study_looks WHERE study = number)
                 < iif(json_valid(until_decided), json_array_length(until_decided, '$.looks'), 0)
             ORDER BY number DESC LIMIT ?",
        )
        .bind(limit)
        .fetch_all(&self.readers)
        .await?)
    }
}

impl StoredStudy {
    /// Whether all runs up to the look have ended. A cancelled run ends its study, so no look
    /// follows its block.
    pub(crate) fn is_look_due(&self, pairs: u32) -> bool {
        let blocks = || self.runs.iter().filter(|run| run.repeat <= Some(pairs));
        let mut last = blocks().filter(|run| run.repeat == Some(pairs)).peekable();
        !self.awaits_retry
            && last.peek().is_some()
            && last.all(|run| run.status != RunStatus::Cancelled)
            && blocks().all(|run| run.status.is_final())
    }

    /// Checks that no look is missing. Each look is stored before any later run starts or, because
    /// of the decision, is cancelled. A missing look must not be repeated: the data may have
    /// changed since, which could change the decision.
    ///
    /// # Errors
    /// A look is missing.
    pub(super) fn check_looks(&self) -> Result<(), DamagedStudy> {
        let planned = self.until_decided.iter().flat_map(|until| &until.looks);
        let mut ahead = planned.filter(|look| !self.has_look(look.pairs));
        if ahead.any(|look| self.is_look_due(look.pairs) && self.was_look_taken(look.pairs)) {
            return Err(DamagedStudy {
                study: self.number,
                cause: Damage::MissingLook,
            });
        }
        Ok(())
    }

    fn has_look(&self, pairs: u32) -> bool {
        self.looks.iter().any(|look| look.planned.pairs == pairs)
    }

    fn was_look_taken(&self, pairs: u32) -> bool {
        let has_decided = UntilDecided::decision(&self.looks).is_some();
        let follows_look = |run: &RunSummary| {
            let is_decided = |reason: &String| reason.starts_with(DECIDED);
            run.started_at_ms.is_some() || run.reason.as_ref().is_some_and(is_decided)
        };
        let mut later_runs = self.runs.iter().filter(|run| run.repeat > Some(pairs));
        let mut looks = self.looks.iter();
        looks.any(|look| look.planned.pairs > pairs) || !has_decided && later_runs.any(follows_look)
    }
}

/// Converts a row of `LOOKS`.
fn parse(row: &SqliteRow) -> Result<Look, Damage> {
    match study_digest::is_intact(row) {
        Ok(true) => {
            let look: sqlx::Result<Json<Look>> = row.try_get("look");
            look.map(|Json(look)| look)
                .map_err(|_| Damage::UnreadableLook)
        }
        Ok(false) => Err(Damage::Look),
        Err(_) => Err(Damage::UnreadableLook),
    }
}
