//! Runs that were measured by other programs, together with the imported documents.

use crate::store::{
    Store, digest,
    events::EventRow,
    fingerprints,
    new_run::search_text,
    run_digest::{FINAL, REQUEST},
    update::update_result,
};
use anyhow::Result;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use leadline_protocol::{
    event::EventBody,
    report::foreign::Source,
    result::RunResult,
    status::{RunStatus, StatusChange},
    workload_summary::WorkloadSummary,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use sqlx::{Row, SqliteConnection, query, query_scalar, sqlite::SqliteRow, types::Json};
use std::io::{Read, Write};

/// A finished run that was measured by another program.
pub(crate) struct ForeignRun {
    pub source: Source,
    pub name: String,
    pub tags: Vec<String>,
    pub host: Option<String>,
    pub workload: WorkloadSummary,
    /// Job options, as printed by the program.
    pub options: Vec<Value>,
    pub result: RunResult,
    /// `Done` or `Failed`.
    pub status: RunStatus,
    pub reason: Option<String>,
    pub document: String,
    /// Identifies the result.
    pub sha256: [u8; 32],
}

pub(crate) struct StoredDocument {
    /// `None` if it cannot be decompressed.
    pub text: Option<String>,
    /// `ForeignRun::sha256`.
    pub sha256: Vec<u8>,
    /// False if the document was imported as another run.
    pub is_of_run: bool,
}

pub(crate) enum ImportOutcome {
    Created(u64),
    /// Number of the run that already contains this result.
    Existing(u64),
}

impl Store {
    /// Stores a result with its document, unless it is already stored.
    pub(crate) async fn insert_foreign_run(
        &self,
        run: &ForeignRun,
        now_ms: u64,
    ) -> Result<ImportOutcome> {
        let mut transaction = self.begin().await?;
        let connection = &mut transaction.connection;
        let existing: Option<i64> =
            query_scalar("SELECT run FROM foreign_results WHERE sha256 = ?")
                .bind(&run.sha256[..])
                .fetch_optional(&mut *connection)
                .await?;
        if let Some(existing) = existing {
            return Ok(ImportOutcome::Existing(existing.cast_unsigned()));
        }
        let number = insert_summary(connection, run, now_ms).await?;
        query("INSERT INTO run_details (run, requested, sample_ms, locks) VALUES (?, ?, 0, '[]')")
            .bind(number.cast_signed())
            .bind(Json(&run.options))
            .execute(&mut *connection)
            .await?;
        query(
            "INSERT INTO foreign_results (run, sha256, document, run_sha256) VALUES (?, ?, ?, ?)",
        )
        .bind(number.cast_signed())
        .bind(&run.sha256[..])
        .bind(compress(&run.document)?)
        .bind(&run_sha256(number, &run.sha256)[..])
        .execute(&mut *connection)
        .await?;
        insert_events(connection, number, run, now_ms).await?;
        update_result(connection, number, &run.result).await?;
        fingerprints::update(connection, number).await?;
        digest::store(connection, number).await?;
        REQUEST.store(connection, number).await?;
        FINAL.store(connection, number).await?;
        transaction.commit().await?;
        Ok(ImportOutcome::Created(number))
    }

    pub(crate) async fn replace_foreign_document(&self, run: u64, text: &str) -> Result<()> {
        let mut transaction = self.begin().await?;
        query("UPDATE foreign_results SET document = ? WHERE run = ?")
            .bind(compress(text)?)
            .bind(run.cast_signed())
            .execute(&mut transaction.connection)
            .await?;
        transaction.commit().await
    }

    /// Returns the document that a run was imported from, or `None` for Leadline's own runs.
    pub(crate) async fn foreign_document(&self, run: u64) -> Result<Option<StoredDocument>> {
        let row = query("SELECT document, sha256, run_sha256 FROM foreign_results WHERE run = ?")
            .bind(run.cast_signed())
            .fetch_optional(&self.readers)
            .await?;
        Ok(row.map(|row| stored_document(run, &row)).transpose()?)
    }
}

fn stored_document(run: u64, row: &SqliteRow) -> sqlx::Result<StoredDocument> {
    let document: &[u8] = row.try_get("document")?;
    let sha256: Vec<u8> = row.try_get("sha256")?;
    let bound: Option<&[u8]> = row.try_get("run_sha256")?;
    let mut text = String::new();
    let read = GzDecoder::new(document).read_to_string(&mut text);
    Ok(StoredDocument {
        text: read.ok().map(|_| text),
        is_of_run: bound.is_none_or(|bound| bound == run_sha256(run, &sha256)),
        sha256,
    })
}

async fn insert_summary(
    connection: &mut SqliteConnection,
    run: &ForeignRun,
    now_ms: u64,
) -> sqlx::Result<u64> {
    let (workload, report) = (&run.workload, &run.result.report);
    let row = query(
        "INSERT INTO runs (status, reason, source, created_at_ms, started_at_ms, finished_at_ms, host, jobs, mode, rw, bs, iodepth, numjobs,
             direct, device, name, target, tags, notes, search)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '', ?)",
    )
    .bind(run.status.as_str())
    .bind(&run.reason)
    .bind(run.source.as_str())
    .bind(now_ms.cast_signed())
    .bind(report.started_at_ms.cast_signed())
    .bind(report.end_ms().cast_signed())
    .bind(run.host.as_deref().unwrap_or_default())
    .bind(workload.jobs)
    .bind(workload.mode.map(<&str>::from))
    .bind(&workload.rw)
    .bind(&workload.bs)
    .bind(workload.iodepth)
    .bind(workload.numjobs)
    .bind(workload.direct)
    .bind(&workload.device)
    .bind(&run.name)
    .bind(&workload.target)
    .bind(Json(&run.tags))
    .bind(search_text(&run.name, &workload.target, &run.tags, ""))
    .execute(connection)
    .await?;
    Ok(row.last_insert_rowid().cast_unsigned())
}

/// Stores the result and the final status in the same way as for Leadline's own runs.
async fn insert_events(
    connection: &mut SqliteConnection,
    number: u64,
    run: &ForeignRun,
    now_ms: u64,
) -> sqlx::Result<()> {
    let report = EventBody::Report(Box::new(run.result.clone()));
    let status = EventBody::Status(StatusChange {
        status: run.status,
        at_ms: now_ms,
        reason: run.reason.clone(),
    });
    for (seq, body) in (0..).zip([report, status]) {
        let entry = EventRow::new(seq, 0.0, &body);
        let entry = entry.map_err(|error| sqlx::Error::Encode(error.into()))?;
        entry.insert(connection, number).await?;
    }
    Ok(())
}

/// Binds a document to its run.
fn run_sha256(run: u64, sha256: &[u8]) -> [u8; 32] {
    let digest = Sha256::new_with_prefix(run.to_le_bytes());
    digest.chain_update(sha256).finalize().into()
}

fn compress(document: &str) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(document.as_bytes())?;
    encoder.finish()
}
