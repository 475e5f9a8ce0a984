//! Renames and deletes studies.

use crate::store::{
    Store, baselines,
    compaction::ENDED,
    new_run::search_text,
    rows, study_contents,
    study_digest::{DamagedStudy, STUDIES},
    study_steps,
};
use anyhow::Result;
use sqlx::{SqliteConnection, query, query_scalar, types::Json};

/// Result of a deletion.
#[derive(Debug)]
pub(crate) enum StudyDeletion {
    /// Contains the numbers of its runs.
    Done(Vec<u64>),
    Missing,
    /// A run has not ended yet.
    Active,
}

impl Store {
    /// Renames a study and the runs whose names start with its name. Returns the numbers of these
    /// runs; `None` if the study does not exist.
    pub(crate) async fn rename_study(&self, study: u64, name: &str) -> Result<Option<Vec<u64>>> {
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        study_contents::check_study(connection, study).await?;
        study_contents::check(connection, study).await?;
        let former: Option<String> = query_scalar("SELECT name FROM studies WHERE number = ?")
            .bind(study.cast_signed())
            .fetch_optional(&mut *connection)
            .await?;
        let Some(former) = former else {
            return Ok(None);
        };
        query("UPDATE studies SET name = ?1, description = json_set(description, '$.name', ?1) WHERE number = ?2")
            .bind(name)
            .bind(study.cast_signed())
            .execute(&mut *connection)
            .await?;
        STUDIES.update(connection, &[study]).await?;
        let renamed = rename_runs(connection, study, &former, name).await?;
        transaction.commit().await?;
        Ok(Some(renamed))
    }

    /// Deletes a study and its runs, if all of them have ended. If its files still have to be
    /// removed, the study is kept until then. A damaged study is not kept, because its files are
    /// unknown.
    pub(crate) async fn delete_study(&self, study: u64) -> Result<StudyDeletion> {
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        let (exists, is_active): (bool, bool) = sqlx::query_as(
            "SELECT EXISTS (SELECT 1 FROM studies WHERE number = ?1
                     UNION SELECT 1 FROM study_contents WHERE study = ?1 UNION SELECT 1 FROM runs WHERE study = ?1),
                 EXISTS (SELECT 1 FROM runs WHERE study = ?1 AND status NOT IN (SELECT value FROM json_each(?2)))",
        )
        .bind(study.cast_signed())
        .bind(ENDED)
        .fetch_one(&mut *connection)
        .await?;
        if !exists {
            return Ok(StudyDeletion::Missing);
        }
        if is_active {
            return Ok(StudyDeletion::Active);
        }
        let runs: Vec<u64> = query_scalar("SELECT number FROM runs WHERE study = ?")
            .bind(study.cast_signed())
            .fetch_all(&mut *connection)
            .await?;
        query("INSERT INTO deleted_runs (run) SELECT value FROM json_each(?)")
            .bind(Json(&runs))
            .execute(&mut *connection)
            .await?;
        query("DELETE FROM runs WHERE study = ?")
            .bind(study.cast_signed())
            .execute(&mut *connection)
            .await?;
        study_contents::remove_runs(connection, study).await?;
        match study_contents::check_study(connection, study).await {
            Err(error) if error.is::<DamagedStudy>() => {
                study_contents::delete_study(connection, study).await?;
            }
            checked => checked?,
        }
        study_steps::delete_empty_studies(connection).await?;
        baselines::delete_orphans(connection).await?;
        transaction.commit().await?;
        Ok(StudyDeletion::Done(runs))
    }
}

/// Run names have the form `STUDY: STEP`.
async fn rename_runs(
    connection: &mut SqliteConnection,
    study: u64,
    former: &str,
    name: &str,
) -> sqlx::Result<Vec<u64>> {
    let runs = query("SELECT * FROM runs WHERE study = ?")
        .bind(study.cast_signed())
        .try_map(|row| rows::summary(&row))
        .fetch_all(&mut *connection)
        .await?;
    let mut renamed = Vec::new();
    for run in runs {
        let step = run.name.strip_prefix(former);
        let Some(step) = step.filter(|step| step.starts_with(": ")) else {
            continue;
        };
        let name = format!("{name}{step}");
        query("UPDATE runs SET name = ?, search = ? WHERE number = ?")
            .bind(&name)
            .bind(search_text(
                &name,
                &run.workload.target,
                &run.tags,
                &run.notes,
            ))
            .bind(run.number.cast_signed())
            .execute(&mut *connection)
            .await?;
        renamed.push(run.number);
    }
    Ok(renamed)
}
