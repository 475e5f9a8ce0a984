//! Inserts and reads studies.

use crate::store::{
    Store,
    confirmations::{self, CreateError},
    keys::{self, IdempotencyKey},
    new_run::{self, NewRun, StudyPosition},
    rows, study_contents,
    study_digest::{self, Damage, DamagedStudy, STUDIES},
};
use anyhow::Result;
use leadline_protocol::{
    run::RunSummary,
    study::{
        definition::SweepValue,
        description::StudyDescription,
        files::LeftoverFile,
        procedure::Procedure,
        scaling::Scaled,
        until_decided::{Look, UntilDecided},
    },
};
use serde::{Deserialize, Serialize};
use sqlx::{FromRow, Row, SqliteConnection, sqlite::SqliteRow, types::Json};
use std::collections::BTreeMap;

/// A study to queue.
#[derive(Clone, Debug)]
pub(crate) struct NewStudy {
    pub description: StudyDescription,
    pub scaled: Scaled,
    pub continue_on_failure: bool,
    /// Whether a failed run is retried once.
    pub retries: bool,
    pub idle_wait_seconds: u32,
    pub file_id: String,
    /// Canonical paths of the files that the study removes when it ends.
    pub owned_files: Vec<String>,
    /// The runs, in order.
    pub steps: Vec<(StepDescription, NewRun)>,
    pub order_seed: u64,
    /// `None` if all repeats run.
    pub until_decided: Option<UntilDecided>,
    /// Procedure that defines the runs; `None` if the steps define them.
    pub procedure: Option<Procedure>,
    /// Confirmations that data may be overwritten by this study.
    pub confirm: Vec<String>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
pub(crate) struct StepDescription {
    pub name: String,
    pub note: Option<String>,
    /// One-based; null in studies from earlier versions, which ran each step once.
    #[serde(default)]
    pub step: Option<u32>,
    /// One-based; null in studies from earlier versions.
    #[serde(default)]
    pub repeat: Option<u32>,
    #[serde(default)]
    pub sweep: Vec<SweepValue>,
}

#[derive(Clone, Debug)]
pub(crate) struct StoredStudy {
    pub number: u64,
    pub created_at_ms: u64,
    pub continue_on_failure: bool,
    /// Random part of the study's file names.
    pub file_id: String,
    pub description: StudyDescription,
    pub scaled: Scaled,
    /// The runs, in order.
    pub steps: Vec<StepDescription>,
    /// `None` in studies from earlier versions.
    pub order_seed: Option<u64>,
    /// `None` if all repeats run.
    pub until_decided: Option<UntilDecided>,
    /// Maximum time to wait before each run, in seconds.
    pub idle_wait_seconds: u32,
    /// Procedure that defines the runs; `None` if the steps define them.
    pub procedure: Option<Procedure>,
    /// Why the remaining runs are not needed.
    pub ended: Option<String>,
    /// The looks so far, in order.
    pub looks: Vec<Look>,
    /// Files that have not been removed yet.
    pub owned_files: Vec<LeftoverFile>,
    /// The study's runs in order, except deleted ones.
    pub runs: Vec<RunSummary>,
    /// Whether its last run failed and has not been retried yet.
    pub awaits_retry: bool,
}

impl FromRow<'_, SqliteRow> for StoredStudy {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self {
            number: row.try_get("number")?,
            created_at_ms: row.try_get("created_at_ms")?,
            continue_on_failure: row.try_get("continue_on_failure")?,
            file_id: row.try_get("file_id")?,
            description: row.try_get::<Json<_>, _>("description")?.0,
            scaled: row.try_get::<Json<_>, _>("scaled")?.0,
            steps: row.try_get::<Json<_>, _>("steps")?.0,
            order_seed: row.try_get("order_seed")?,
            until_decided: row
                .try_get::<Option<Json<_>>, _>("until_decided")?
                .map(|json| json.0),
            idle_wait_seconds: row.try_get("idle_wait_seconds")?,
            procedure: row
                .try_get::<Option<Json<_>>, _>("procedure")?
                .map(|json| json.0),
            ended: row.try_get("ended")?,
            looks: Vec::new(),
            owned_files: row.try_get::<Json<_>, _>("owned_files")?.0,
            runs: Vec::new(),
            awaits_retry: false,
        })
    }
}

impl Store {
    /// Inserts a study with all its runs. Returns the study number, and the runs with their
    /// numbers. Every run gets the study's lock.
    pub(crate) async fn insert_study(
        &self,
        new: &NewStudy,
        key: Option<&IdempotencyKey>,
        now_ms: u64,
        lock: fn(u64) -> String,
    ) -> Result<Result<(u64, Vec<(u64, NewRun)>), CreateError>> {
        let mut transaction = self.begin().await?;
        if let Some(key) = key
            && let Some(earlier) = keys::find(&mut transaction.connection, key).await?
        {
            return Ok(Err(CreateError::KeyUsed(earlier)));
        }
        let used = confirmations::mark_used(&mut transaction.connection, &new.confirm, now_ms);
        if let Some(used) = used.await? {
            return Ok(Err(CreateError::ConfirmationUsed(used)));
        }
        let study = insert(&mut transaction.connection, new, now_ms).await?;
        let mut runs = Vec::new();
        for (position, (step, run)) in (1..).zip(&new.steps) {
            let mut run = run.clone();
            run.locks.insert(lock(study));
            let step = Some(StudyPosition {
                study,
                step: step.step.unwrap_or(position),
                repeat: step.repeat.unwrap_or(1),
            });
            let number = new_run::insert(&mut transaction.connection, &run, step, now_ms).await?;
            runs.push((number, run));
        }
        if let Some(key) = key
            && let Some((first, _)) = runs.first()
        {
            keys::insert(
                &mut transaction.connection,
                key,
                *first,
                Some(study),
                now_ms,
            )
            .await?;
        }
        transaction.commit().await?;
        Ok(Ok((study, runs)))
    }

    /// # Errors
    /// `DamagedStudy` if the study or a look at it is damaged.
    pub(crate) async fn study(&self, number: u64) -> Result<Option<StoredStudy>> {
        let row = self.study_row(number).await?;
        let study = row.map(|row| parse(&row)).transpose()?;
        study_contents::check(&mut *self.readers.acquire().await?, number).await?;
        let Some(mut study) = study else {
            return Ok(None);
        };
        self.read_runs(&mut [&mut study]).await?;
        Ok(Some(self.add_looks(study).await??))
    }

    /// The random part of a study's file names, and its files that have not been removed yet.
    ///
    /// # Errors
    /// `DamagedStudy` if the study is damaged. Its looks are not read.
    pub(crate) async fn leftover_files(
        &self,
        number: u64,
    ) -> Result<Option<(String, Vec<LeftoverFile>)>> {
        let row = self.study_row(number).await?;
        let study = row.map(|row| parse(&row)).transpose()?;
        Ok(study.map(|study| (study.file_id, study.owned_files)))
    }

    async fn study_row(&self, number: u64) -> sqlx::Result<Option<SqliteRow>> {
        sqlx::query(STUDIES.select("WHERE number = ?"))
            .bind(i64::try_from(number).unwrap_or(i64::MAX))
            .fetch_optional(&self.readers)
            .await
    }

    /// Returns up to `limit` studies with numbers below `below`, newest first, and the total number
    /// of studies.
    pub(crate) async fn studies(
        &self,
        below: Option<u64>,
        limit: u32,
    ) -> Result<(Vec<Result<StoredStudy, DamagedStudy>>, u64)> {
        let below = below
            .and_then(|number| i64::try_from(number).ok())
            .unwrap_or(i64::MAX);
        let numbers: Vec<u64> = sqlx::query_scalar(
            "SELECT number FROM studies WHERE number < ?1 UNION SELECT study FROM study_contents WHERE study < ?1
             ORDER BY number DESC LIMIT ?2",
        )
        .bind(below)
        .bind(limit)
        .fetch_all(&self.readers)
        .await?;
        let total = sqlx::query_scalar(
            "SELECT count(*) FROM (SELECT number FROM studies UNION SELECT study FROM study_contents)",
        )
        .fetch_one(&self.readers)
        .await?;
        let mut parsed = self.read_study_rows(&numbers).await?;
        let intact = parsed.iter_mut().filter_map(|study| study.as_mut().ok());
        self.read_runs(&mut Vec::from_iter(intact)).await?;
        let mut studies = Vec::new();
        for study in parsed {
            studies.push(match study {
                Ok(study) => self.add_looks(study).await?,
                Err(damaged) => Err(damaged),
            });
        }
        Ok((studies, total))
    }

    /// Returns the rows of studies, newest first, without their runs and looks. Omits studies that
    /// have since been deleted.
    async fn read_study_rows(
        &self,
        numbers: &[u64],
    ) -> sqlx::Result<Vec<Result<StoredStudy, DamagedStudy>>> {
        let sql = "WHERE number IN (SELECT value FROM json_each(?))";
        let rows = sqlx::query(STUDIES.select(sql))
            .bind(Json(numbers))
            .fetch_all(&self.readers)
            .await?;
        let mut connection = self.readers.acquire().await?;
        let missing = study_contents::find_damaged(&mut connection, numbers).await?;
        let mut studies: BTreeMap<u64, _> = missing
            .into_iter()
            .map(|(study, cause)| (study, Err(DamagedStudy { study, cause })))
            .collect();
        for row in &rows {
            match parse(row) {
                Ok(study) => {
                    studies.entry(study.number).or_insert(Ok(study));
                }
                Err(damaged) => {
                    studies.insert(damaged.study, Err(damaged));
                }
            }
        }
        Ok(studies.into_values().rev().collect())
    }

    /// Call this after reading the runs, because each look is stored before later runs start.
    async fn add_looks(
        &self,
        mut study: StoredStudy,
    ) -> sqlx::Result<Result<StoredStudy, DamagedStudy>> {
        if study.until_decided.is_some() {
            match self.looks(study.number).await? {
                Ok(looks) => study.looks = looks,
                Err(damaged) => return Ok(Err(damaged)),
            }
        }
        Ok(study.check_looks().map(|()| study))
    }

    async fn read_runs(&self, studies: &mut [&mut StoredStudy]) -> sqlx::Result<()> {
        let numbers: Vec<u64> = studies.iter().map(|study| study.number).collect();
        let runs = sqlx::query(
            "SELECT * FROM runs WHERE study IN (SELECT value FROM json_each(?)) ORDER BY coalesce(retry_of, number), number",
        )
        .bind(Json(numbers))
        .try_map(|row| rows::summary(&row))
        .fetch_all(&self.readers);
        let failed: Vec<u64> = self.failed_runs().await?;
        for run in runs.await? {
            let study = studies
                .iter_mut()
                .find(|study| Some(study.number) == run.study);
            if let Some(study) = study {
                study.awaits_retry |= failed.contains(&run.number);
                study.runs.push(run);
            }
        }
        Ok(())
    }
}

/// Converts a row of `STUDIES`.
fn parse(row: &SqliteRow) -> Result<StoredStudy, DamagedStudy> {
    let study = row.try_get("number").unwrap_or_default();
    let damaged = |cause| DamagedStudy { study, cause };
    match study_digest::is_intact(row) {
        Ok(true) => StoredStudy::from_row(row).map_err(|_| damaged(Damage::UnreadableRow)),
        Ok(false) => Err(damaged(Damage::Row)),
        Err(_) => Err(damaged(Damage::UnreadableRow)),
    }
}

async fn insert(
    connection: &mut SqliteConnection,
    new: &NewStudy,
    now_ms: u64,
) -> sqlx::Result<u64> {
    let steps: Vec<&StepDescription> = new.steps.iter().map(|(step, _)| step).collect();
    let owned_files = new.owned_files.iter().map(|path| LeftoverFile {
        path: path.clone(),
        reason: None,
    });
    let row = sqlx::query(
        "INSERT INTO studies (name, created_at_ms, continue_on_failure, file_id, description, scaled, steps, owned_files, order_seed,
             until_decided, retries, idle_wait_seconds, procedure)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(&new.description.name)
    .bind(now_ms.cast_signed())
    .bind(new.continue_on_failure)
    .bind(&new.file_id)
    .bind(Json(&new.description))
    .bind(Json(&new.scaled))
    .bind(Json(steps))
    .bind(Json(Vec::from_iter(owned_files)))
    .bind(new.order_seed.cast_signed())
    .bind(new.until_decided.as_ref().map(Json))
    .bind(new.retries)
    .bind(new.idle_wait_seconds)
    .bind(new.procedure.as_ref().map(Json))
    .execute(&mut *connection)
    .await?;
    let study = row.last_insert_rowid().cast_unsigned();
    study_contents::add_study(connection, study).await?;
    STUDIES.store(connection, &[study]).await?;
    Ok(study)
}
