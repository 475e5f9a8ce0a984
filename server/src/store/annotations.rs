//! Timestamped notes on runs.

use crate::store::Store;
use anyhow::Result;
use leadline_protocol::annotation::{Annotation, AnnotationRequest};
use sqlx::{FromRow, Row, query, query_as, query_scalar, sqlite::SqliteRow};

/// Result of an insertion.
#[derive(Debug)]
pub(crate) enum InsertOutcome {
    Done(Annotation),
    /// The run does not exist.
    Missing,
    /// The run already has the maximum number of annotations.
    Full,
}

struct StoredAnnotation(Annotation);

impl FromRow<'_, SqliteRow> for StoredAnnotation {
    fn from_row(row: &SqliteRow) -> sqlx::Result<Self> {
        Ok(Self(Annotation {
            number: row.try_get("number")?,
            t_ms: row.try_get("t_ms")?,
            text: row.try_get("text")?,
            created_at_ms: row.try_get("created_at_ms")?,
        }))
    }
}

impl Store {
    /// A run's annotations in chronological order, and the numbers of those that cannot be read.
    pub(crate) async fn annotations(&self, run: u64) -> Result<(Vec<Annotation>, Vec<u64>)> {
        let rows = query("SELECT * FROM annotations WHERE run = ? ORDER BY t_ms, number")
            .bind(run.cast_signed())
            .fetch_all(&self.readers)
            .await?;
        let (mut annotations, mut damaged) = (Vec::new(), Vec::new());
        for row in &rows {
            match StoredAnnotation::from_row(row) {
                Ok(StoredAnnotation(annotation)) => annotations.push(annotation),
                Err(_) => damaged.push(row.try_get::<i64, _>("number")?.cast_unsigned()),
            }
        }
        Ok((annotations, damaged))
    }

    pub(crate) async fn insert_annotation(
        &self,
        run: u64,
        request: AnnotationRequest,
        limit: u32,
        now_ms: u64,
    ) -> Result<InsertOutcome> {
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        let run = run.cast_signed();
        let (exists, count): (bool, u32) = query_as(
            "SELECT EXISTS (SELECT 1 FROM runs WHERE number = ?1), (SELECT count(*) FROM annotations WHERE run = ?1)",
        )
        .bind(run)
        .fetch_one(&mut *connection)
        .await?;
        if !exists {
            return Ok(InsertOutcome::Missing);
        }
        if count >= limit {
            return Ok(InsertOutcome::Full);
        }
        let AnnotationRequest { t_ms, text } = request;
        let number = query_scalar(
            "INSERT INTO annotations (run, t_ms, text, created_at_ms) VALUES (?, ?, ?, ?) RETURNING number",
        )
        .bind(run)
        .bind(t_ms)
        .bind(&text)
        .bind(now_ms.cast_signed())
        .fetch_one(&mut *connection)
        .await?;
        transaction.commit().await?;
        Ok(InsertOutcome::Done(Annotation {
            number,
            t_ms,
            text,
            created_at_ms: now_ms,
        }))
    }

    /// Returns false if the run has no such annotation.
    pub(crate) async fn delete_annotation(&self, run: u64, number: u64) -> Result<bool> {
        let mut transaction = self.begin().await?;
        let deleted = query("DELETE FROM annotations WHERE run = ? AND number = ?")
            .bind(run.cast_signed())
            .bind(number.cast_signed())
            .execute(&mut transaction.connection)
            .await?;
        transaction.commit().await?;
        Ok(deleted.rows_affected() > 0)
    }
}
