//! Studies: taken in with all their runs at once, listed, read. Where one stands is told from its runs.

use crate::store::events::Entry;
use crate::store::keys::{Claim, IdempotencyKey, claim, remember};
use crate::store::rows::{RunRow, SUMMARY};
use crate::store::runs::{NewRun, insert};
use crate::store::{Durability, Store, from_word, json};
use leadline_protocol::run::RunSummary;
use leadline_protocol::status::RunStatus;
use leadline_protocol::study::StudyDescription;
use leadline_protocol::study::own::LeftoverFile;
use leadline_protocol::study::scaling::Scaled;
use leadline_protocol::verdict::Verdicts;
use serde::{Deserialize, Serialize};
use sqlx::{AssertSqlSafe, FromRow, QueryBuilder, Sqlite, Transaction};
use std::collections::BTreeMap;

/// The columns of `StudyRow`.
const STUDY: &str =
    "number, created_at_ms, continue_on_failure, mark, words, scaled, steps, own_files";

/// A study that is to be queued.
#[derive(Clone, Debug)]
pub struct NewStudy {
    /// What it says about itself.
    pub words: StudyDescription,
    /// How its sizes were fitted to the host.
    pub scaled: Scaled,
    /// Whether a step that fails leaves the others be.
    pub continue_on_failure: bool,
    /// In the names of its files.
    pub mark: String,
    /// Canonical paths of the files that it is not to leave behind.
    pub own_files: Vec<String>,
    /// Its steps in order, with their runs.
    pub steps: Vec<(StepWords, NewRun)>,
}

/// What a step says about itself.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct StepWords {
    /// Its name.
    pub name: String,
    /// What it is there for.
    pub note: Option<String>,
}

/// A study as kept.
#[derive(Clone, Debug)]
pub struct StoredStudy {
    /// Its number.
    pub number: u64,
    /// When it was asked for, in milliseconds since 1970 UTC.
    pub created_at_ms: u64,
    /// Whether a step that fails leaves the others be.
    pub continue_on_failure: bool,
    /// In the names of its files.
    pub mark: String,
    /// What it says about itself.
    pub words: StudyDescription,
    /// How its sizes were fitted to the host.
    pub scaled: Scaled,
    /// Its steps in order.
    pub steps: Vec<StepWords>,
    /// The files of its own that are not known to be gone.
    pub own_files: Vec<LeftoverFile>,
    /// The runs that its steps became, in order; those deleted are missing.
    pub runs: Vec<RunSummary>,
}

/// The step that ended a study.
#[derive(Clone, Debug)]
pub struct EndedAt {
    /// Its place, from 1.
    pub step: u32,
    /// How it ended.
    pub status: RunStatus,
    /// Why.
    pub reason: Option<String>,
}

#[derive(FromRow)]
struct StudyRow {
    number: i64,
    created_at_ms: i64,
    continue_on_failure: bool,
    mark: String,
    words: String,
    scaled: String,
    steps: String,
    own_files: String,
}

impl StudyRow {
    fn study(self) -> anyhow::Result<StoredStudy> {
        Ok(StoredStudy {
            number: self.number.cast_unsigned(),
            created_at_ms: self.created_at_ms.cast_unsigned(),
            continue_on_failure: self.continue_on_failure,
            mark: self.mark,
            words: serde_json::from_str(&self.words)?,
            scaled: serde_json::from_str(&self.scaled)?,
            steps: serde_json::from_str(&self.steps)?,
            own_files: serde_json::from_str(&self.own_files)?,
            runs: Vec::new(),
        })
    }
}

impl Store {
    /// Takes a study in with all its runs as queued, or nothing of it: `Claim::New`, its number and those of its runs.
    /// Or, when the key came before, what is known about it. `finish` adds to a run what follows from the study's number.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn insert_study(
        &self,
        new: &NewStudy,
        key: Option<&IdempotencyKey>,
        now_ms: u64,
        first_event: &Entry,
        finish: impl Fn(u64, &mut NewRun) + Send,
    ) -> anyhow::Result<(Claim, u64, Vec<(u64, NewRun)>)> {
        let mut writer = self.writer().await;
        let mut transaction = writer.begin(Durability::Full).await?;
        if let Some(key) = key {
            match claim(&mut transaction, key).await? {
                Claim::New => {}
                known => return Ok((known, 0, Vec::new())),
            }
        }
        let study = insert_row(&mut transaction, new, now_ms).await?;
        let mut runs = Vec::new();
        for (step, (_, run)) in (1..).zip(&new.steps) {
            let mut run = run.clone();
            finish(study, &mut run);
            let number = insert(
                &mut transaction,
                &run,
                Some((study, step)),
                now_ms,
                first_event,
            )
            .await?;
            runs.push((number, run));
        }
        if let Some((key, (first, _))) = key.zip(runs.first()) {
            remember(&mut transaction, key, *first, Some(study), now_ms).await?;
        }
        transaction.commit().await?;
        writer.done();
        Ok((Claim::New, study, runs))
    }

    /// One study with its runs.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn study(&self, number: u64) -> anyhow::Result<Option<StoredStudy>> {
        let row: Option<StudyRow> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {STUDY} FROM studies WHERE number = ?"
        )))
        .bind(i64::try_from(number).unwrap_or(i64::MAX))
        .fetch_optional(&self.readers)
        .await?;
        let mut studies: Vec<StoredStudy> = row
            .into_iter()
            .map(StudyRow::study)
            .collect::<anyhow::Result<_>>()?;
        self.add_runs(&mut studies).await?;
        Ok(studies.pop())
    }

    /// At most `limit` studies below a number, newest first, and how many there are in all.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn studies(
        &self,
        below: Option<u64>,
        limit: u32,
    ) -> anyhow::Result<(Vec<StoredStudy>, u64)> {
        let below = below
            .and_then(|number| i64::try_from(number).ok())
            .unwrap_or(i64::MAX);
        let sql =
            format!("SELECT {STUDY} FROM studies WHERE number < ? ORDER BY number DESC LIMIT ?");
        let rows: Vec<StudyRow> = sqlx::query_as(AssertSqlSafe(sql))
            .bind(below)
            .bind(limit)
            .fetch_all(&self.readers)
            .await?;
        let total: i64 = sqlx::query_scalar("SELECT count(*) FROM studies")
            .fetch_one(&self.readers)
            .await?;
        let mut studies = rows
            .into_iter()
            .map(StudyRow::study)
            .collect::<anyhow::Result<Vec<_>>>()?;
        self.add_runs(&mut studies).await?;
        Ok((studies, total.cast_unsigned()))
    }

    pub(crate) async fn add_runs(&self, studies: &mut [StoredStudy]) -> anyhow::Result<()> {
        let mut query = QueryBuilder::<Sqlite>::new("");
        query.push(format_args!("SELECT {SUMMARY} FROM runs WHERE study IN ("));
        let mut list = query.separated(", ");
        for study in studies.iter() {
            list.push_bind(study.number.cast_signed());
        }
        query.push(") ORDER BY step");
        for row in query
            .build_query_as::<RunRow>()
            .fetch_all(&self.readers)
            .await?
        {
            let run = row.summary()?;
            if let Some(study) = studies
                .iter_mut()
                .find(|study| Some(study.number) == run.study)
            {
                study.runs.push(run);
            }
        }
        Ok(())
    }

    /// The verdicts of a study's runs that have one, by run.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn verdicts_of_study(&self, study: u64) -> anyhow::Result<BTreeMap<u64, Verdicts>> {
        let rows: Vec<(i64, String)> = sqlx::query_as(
            "SELECT run, run_details.verdict FROM run_details JOIN runs ON number = run WHERE study = ? AND run_details.verdict IS NOT NULL",
        )
        .bind(study.cast_signed())
        .fetch_all(&self.readers)
        .await?;
        rows.into_iter()
            .map(|(run, verdict)| Ok((run.cast_unsigned(), serde_json::from_str(&verdict)?)))
            .collect()
    }

    /// The first step that ended its study; `None` when the study goes on.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn step_that_ended(&self, study: u64) -> anyhow::Result<Option<EndedAt>> {
        let row: Option<(i64, String, Option<String>)> = sqlx::query_as(
            "SELECT step, status, reason FROM runs JOIN studies ON studies.number = study
             WHERE study = ? AND NOT continue_on_failure AND status IN ('failed', 'cancelled') ORDER BY step LIMIT 1",
        )
        .bind(study.cast_signed())
        .fetch_optional(&self.readers)
        .await?;
        row.map(|(step, status, reason)| {
            Ok(EndedAt {
                step: u32::try_from(step)?,
                status: from_word(&status)?,
                reason,
            })
        })
        .transpose()
    }

    /// The runs of a study that wait behind a step.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn queued_behind(&self, study: u64, step: u32) -> anyhow::Result<Vec<u64>> {
        let rows: Vec<i64> =
            sqlx::query_scalar("SELECT number FROM runs WHERE study = ? AND step > ? AND status = 'queued' ORDER BY step")
                .bind(study.cast_signed())
                .bind(step)
                .fetch_all(&self.readers)
                .await?;
        Ok(rows.into_iter().map(i64::cast_unsigned).collect())
    }

    /// The studies of which a step waits.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn waiting_studies(&self) -> anyhow::Result<Vec<u64>> {
        let rows: Vec<i64> =
            sqlx::query_scalar("SELECT DISTINCT study FROM runs WHERE status = 'queued' AND study IS NOT NULL ORDER BY study")
                .fetch_all(&self.readers)
                .await?;
        Ok(rows.into_iter().map(i64::cast_unsigned).collect())
    }

    /// At most `limit` studies that are over and have files of their own that are not known to be gone, newest first.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn untidy_studies(&self, limit: u32) -> anyhow::Result<Vec<u64>> {
        let rows: Vec<i64> = sqlx::query_scalar(
            "SELECT number FROM studies WHERE own_files <> '[]' AND NOT EXISTS (SELECT 1 FROM runs WHERE study = studies.number
             AND status IN ('queued', 'preparing', 'measuring', 'finishing')) ORDER BY number DESC LIMIT ?",
        )
        .bind(limit)
        .fetch_all(&self.readers)
        .await?;
        Ok(rows.into_iter().map(i64::cast_unsigned).collect())
    }

    /// Keeps which files of its own a study left behind. One that has neither such files nor runs is forgotten.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn keep_left_behind(&self, study: u64, left: &[LeftoverFile]) -> anyhow::Result<()> {
        let mut writer = self.writer().await;
        let mut transaction = writer.begin(Durability::Full).await?;
        sqlx::query("UPDATE studies SET own_files = ? WHERE number = ?")
            .bind(json(left)?)
            .bind(study.cast_signed())
            .execute(&mut *transaction)
            .await?;
        delete_empty(&mut transaction).await?;
        transaction.commit().await?;
        writer.done();
        Ok(())
    }
}

async fn insert_row(
    transaction: &mut Transaction<'_, Sqlite>,
    new: &NewStudy,
    now_ms: u64,
) -> anyhow::Result<u64> {
    let steps: Vec<&StepWords> = new.steps.iter().map(|(words, _)| words).collect();
    let own_files: Vec<LeftoverFile> = new
        .own_files
        .iter()
        .map(|path| LeftoverFile {
            path: path.clone(),
            reason: None,
        })
        .collect();
    let row = sqlx::query(
        "INSERT INTO studies (name, created_at_ms, continue_on_failure, mark, words, scaled, steps, own_files)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&new.words.name)
    .bind(now_ms.cast_signed())
    .bind(new.continue_on_failure)
    .bind(&new.mark)
    .bind(json(&new.words)?)
    .bind(json(&new.scaled)?)
    .bind(json(&steps)?)
    .bind(json(&own_files)?)
    .execute(&mut **transaction)
    .await?;
    Ok(row.last_insert_rowid().cast_unsigned())
}

/// A study goes with the last of its runs, but not before its files.
pub(crate) async fn delete_empty(transaction: &mut Transaction<'_, Sqlite>) -> sqlx::Result<()> {
    sqlx::query("DELETE FROM studies WHERE own_files = '[]' AND NOT EXISTS (SELECT 1 FROM runs WHERE study = studies.number)")
        .execute(&mut **transaction)
        .await?;
    Ok(())
}
