//! Runs: taken in, moved on, changed by their owner, deleted, read.

use crate::store::events::Entry;
use crate::store::keys::{Claim, IdempotencyKey, claim, remember};
use crate::store::rows::{DetailRow, RunRow, SUMMARY};
use crate::store::{Durability, Store, events, json, studies, word};
use leadline_protocol::finding::Finding;
use leadline_protocol::host::HostFacts;
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::report::Report;
use leadline_protocol::result::Failure;
use leadline_protocol::run::{Run, RunPatch, RunSummary};
use leadline_protocol::status::RunStatus;
use leadline_protocol::summary::Figures;
use leadline_protocol::verdict::Verdicts;
use leadline_protocol::workload::Workload;
use serde_json::Value;
use sqlx::{AssertSqlSafe, Sqlite, Transaction};
use std::collections::BTreeSet;

/// A run that is to be queued.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Its name.
    pub name: String,
    /// The host it runs on.
    pub host: String,
    /// Its tags.
    pub tags: Vec<String>,
    /// Free text about it.
    pub notes: String,
    /// The jobs, word for word.
    pub asked: Vec<Value>,
    /// The sampling grid in milliseconds.
    pub sample_ms: u32,
    /// The jobs as the plan resolved them.
    pub resolved: Vec<ResolvedJob>,
    /// The devices and paths that no other run may use meanwhile.
    pub locks: BTreeSet<String>,
}

/// What is to be changed of a run; what is `None` stays.
#[derive(Clone, Debug, Default)]
pub struct Update {
    /// Where it stands now.
    pub status: Option<RunStatus>,
    /// When it left the queue.
    pub started_at_ms: Option<u64>,
    /// When it came to its end.
    pub finished_at_ms: Option<u64>,
    /// Why it ended so.
    pub reason: Option<String>,
    /// The jobs as the runner resolved them.
    pub resolved: Option<Vec<ResolvedJob>>,
    /// The host as found.
    pub host_facts: Option<HostFacts>,
    /// How long the measured window is to last.
    pub measure_ms: Option<u64>,
    /// The one result with its verdict and findings.
    pub result: Option<(Report, Verdicts, Vec<Finding>)>,
    /// Why there is no result.
    pub failure: Option<Failure>,
}

/// A run that had not come to its end when the server was last there.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Unfinished {
    /// Its number.
    pub number: u64,
    /// Where it stood.
    pub status: RunStatus,
    /// What no other run may use meanwhile.
    pub locks: BTreeSet<String>,
}

impl Store {
    /// Takes a run in as queued, with its first event: `Claim::New` and the number that it got. Or, when the key came
    /// before, what is known about it.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn insert_run(
        &self,
        new: &NewRun,
        key: Option<&IdempotencyKey>,
        created_at_ms: u64,
        first_event: &Entry,
    ) -> anyhow::Result<(Claim, u64)> {
        let mut writer = self.writer().await;
        let mut transaction = writer.begin(Durability::Full).await?;
        if let Some(key) = key {
            match claim(&mut transaction, key).await? {
                Claim::New => {}
                known => return Ok((known, 0)),
            }
        }
        let number = insert(&mut transaction, new, None, created_at_ms, first_event).await?;
        if let Some(key) = key {
            remember(&mut transaction, key, number, None, created_at_ms).await?;
        }
        transaction.commit().await?;
        writer.done();
        Ok((Claim::New, number))
    }

    /// Moves a run on: its change and its events are on the disk together, or not at all. `false`: it did not stand at
    /// `from` any more, and nothing was changed.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn settle(
        &self,
        run: u64,
        from: RunStatus,
        update: &Update,
        entries: &[Entry],
    ) -> anyhow::Result<bool> {
        let mut writer = self.writer().await;
        let mut transaction = writer.begin(Durability::Full).await?;
        if !update_summary(&mut transaction, run, from, update).await? {
            return Ok(false);
        }
        update_details(&mut transaction, run, update).await?;
        if let Some(jobs) = &update.resolved {
            update_workload(&mut transaction, run, &Workload::of(jobs)).await?;
        }
        events::insert(&mut transaction, run, entries).await?;
        transaction.commit().await?;
        writer.done();
        Ok(true)
    }

    /// Changes name, tags or notes. `false`: there is no such run.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn patch_run(&self, run: u64, patch: &RunPatch) -> anyhow::Result<bool> {
        // Nobody else changes it between this reading and the writing: there is one writer.
        let mut writer = self.writer().await;
        let Some(now) = self.summary(run).await? else {
            return Ok(false);
        };
        let (name, notes, tags) = (
            patch.name.as_ref().unwrap_or(&now.name),
            patch.notes.as_ref().unwrap_or(&now.notes),
            patch.tags.as_ref().unwrap_or(&now.tags),
        );
        let mut transaction = writer.begin(Durability::Full).await?;
        let changed = sqlx::query(
            "UPDATE runs SET name = ?, notes = ?, tags = ?, search = ? WHERE number = ?",
        )
        .bind(name)
        .bind(notes)
        .bind(json(tags)?)
        .bind(search_text(name, &now.workload.target, tags, notes))
        .bind(run.cast_signed())
        .execute(&mut *transaction)
        .await?;
        transaction.commit().await?;
        writer.done();
        Ok(changed.rows_affected() == 1)
    }

    /// Deletes a run that came to its end, with everything of it. `false`: there is none such.
    ///
    /// # Errors
    /// The database cannot be written.
    pub async fn delete_run(&self, run: u64) -> anyhow::Result<bool> {
        let mut writer = self.writer().await;
        let mut transaction = writer.begin(Durability::Full).await?;
        let deleted = sqlx::query("DELETE FROM runs WHERE number = ? AND status IN ('done', 'failed', 'cancelled', 'interrupted')")
            .bind(run.cast_signed())
            .execute(&mut *transaction)
            .await?;
        studies::delete_empty(&mut transaction).await?;
        transaction.commit().await?;
        writer.done();
        sqlx::query("PRAGMA incremental_vacuum")
            .execute(&mut writer.connection)
            .await?;
        Ok(deleted.rows_affected() == 1)
    }

    /// What lists show of a run.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn summary(&self, run: u64) -> anyhow::Result<Option<RunSummary>> {
        let row: Option<RunRow> = sqlx::query_as(AssertSqlSafe(format!(
            "SELECT {SUMMARY} FROM runs WHERE number = ?"
        )))
        .bind(run.cast_signed())
        .fetch_optional(&self.readers)
        .await?;
        row.map(RunRow::summary).transpose()
    }

    /// Everything of a run, less its events.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn run(&self, run: u64) -> anyhow::Result<Option<Run>> {
        let Some(summary) = self.summary(run).await? else {
            return Ok(None);
        };
        let row: Option<DetailRow> = sqlx::query_as(
            "SELECT asked, sample_ms, resolved, host_facts, measure_ms, report, verdict, findings, failure,
                 (SELECT max(seq) FROM events WHERE run = ?1) AS last_seq,
                 (SELECT count(*) FROM events WHERE run = ?1 AND type = 'sample') AS samples
             FROM run_details WHERE run = ?1",
        )
        .bind(run.cast_signed())
        .fetch_optional(&self.readers)
        .await?;
        row.map(|row| row.run(summary)).transpose()
    }

    /// The runs that have not come to their end, in the order of the queue.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn unfinished(&self) -> anyhow::Result<Vec<Unfinished>> {
        let rows: Vec<(i64, String, String)> = sqlx::query_as(
            "SELECT number, status, locks FROM runs JOIN run_details ON run = number
             WHERE status IN ('queued', 'preparing', 'measuring', 'finishing') ORDER BY number",
        )
        .fetch_all(&self.readers)
        .await?;
        let read = |(number, status, locks): (i64, String, String)| {
            Ok(Unfinished {
                number: number.cast_unsigned(),
                status: crate::store::from_word(&status)?,
                locks: serde_json::from_str(&locks)?,
            })
        };
        rows.into_iter().map(read).collect()
    }

    /// How many runs there are, by status.
    ///
    /// # Errors
    /// The database cannot be read.
    pub async fn count_by_status(&self) -> anyhow::Result<Vec<(RunStatus, u64)>> {
        let rows: Vec<(String, i64)> =
            sqlx::query_as("SELECT status, count(*) FROM runs GROUP BY status")
                .fetch_all(&self.readers)
                .await?;
        rows.into_iter()
            .map(|(status, count)| Ok((crate::store::from_word(&status)?, count.cast_unsigned())))
            .collect()
    }
}

/// What words in the filter are looked for in.
fn search_text(name: &str, target: &str, tags: &[String], notes: &str) -> String {
    format!("{name}\n{target}\n{}\n{notes}", tags.join("\n")).to_lowercase()
}

/// A run with its first event; its number. `place`: its study, and its step in that.
pub(crate) async fn insert(
    transaction: &mut Transaction<'_, Sqlite>,
    new: &NewRun,
    place: Option<(u64, u32)>,
    created_at_ms: u64,
    first_event: &Entry,
) -> anyhow::Result<u64> {
    let number = insert_summary(transaction, new, place, created_at_ms.cast_signed()).await?;
    insert_details(transaction, new, number).await?;
    events::insert(
        transaction,
        number.cast_unsigned(),
        std::slice::from_ref(first_event),
    )
    .await?;
    Ok(number.cast_unsigned())
}

async fn insert_summary(
    transaction: &mut Transaction<'_, Sqlite>,
    new: &NewRun,
    place: Option<(u64, u32)>,
    created_at_ms: i64,
) -> anyhow::Result<i64> {
    let work = Workload::of(&new.resolved);
    let row = sqlx::query(
        "INSERT INTO runs (status, created_at_ms, host, jobs, mode, rw, bs, iodepth, numjobs, direct, device, name, target, tags, notes, search,
             study, step)
         VALUES ('queued', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(created_at_ms)
    .bind(&new.host)
    .bind(work.jobs)
    .bind(work.mode.as_ref().map(word).transpose()?)
    .bind(&work.rw)
    .bind(&work.bs)
    .bind(work.iodepth)
    .bind(work.numjobs)
    .bind(work.direct)
    .bind(&work.device)
    .bind(&new.name)
    .bind(&work.target)
    .bind(json(&new.tags)?)
    .bind(&new.notes)
    .bind(search_text(&new.name, &work.target, &new.tags, &new.notes))
    .bind(place.map(|(study, _)| study.cast_signed()))
    .bind(place.map(|(_, step)| step))
    .execute(&mut **transaction)
    .await?;
    Ok(row.last_insert_rowid())
}

async fn insert_details(
    transaction: &mut Transaction<'_, Sqlite>,
    new: &NewRun,
    number: i64,
) -> anyhow::Result<()> {
    sqlx::query(
        "INSERT INTO run_details (run, asked, sample_ms, locks, resolved) VALUES (?, ?, ?, ?, ?)",
    )
    .bind(number)
    .bind(json(&new.asked)?)
    .bind(new.sample_ms)
    .bind(json(&new.locks)?)
    .bind(json(&new.resolved)?)
    .execute(&mut **transaction)
    .await?;
    Ok(())
}

async fn update_summary(
    transaction: &mut Transaction<'_, Sqlite>,
    run: u64,
    from: RunStatus,
    update: &Update,
) -> anyhow::Result<bool> {
    let figures = update
        .result
        .as_ref()
        .map(|(report, verdict, _)| Figures::of(report, verdict))
        .unwrap_or_default();
    let changed = sqlx::query(
        "UPDATE runs SET status = coalesce(?, status), started_at_ms = coalesce(?, started_at_ms), finished_at_ms = coalesce(?, finished_at_ms),
             reason = coalesce(?, reason), iops = coalesce(?, iops), bytes_per_second = coalesce(?, bytes_per_second),
             lat_p50_ns = coalesce(?, lat_p50_ns), lat_p99_ns = coalesce(?, lat_p99_ns), lat_max_ns = coalesce(?, lat_max_ns),
             verdict = coalesce(?, verdict)
         WHERE number = ? AND status = ?",
    )
    .bind(update.status.map(RunStatus::word))
    .bind(update.started_at_ms.map(u64::cast_signed))
    .bind(update.finished_at_ms.map(u64::cast_signed))
    .bind(&update.reason)
    .bind(figures.iops)
    .bind(figures.bytes_per_second)
    .bind(figures.lat_p50_ns.map(u64::cast_signed))
    .bind(figures.lat_p99_ns.map(u64::cast_signed))
    .bind(figures.lat_max_ns.map(u64::cast_signed))
    .bind(figures.verdict.as_ref().map(word).transpose()?)
    .bind(run.cast_signed())
    .bind(from.word())
    .execute(&mut **transaction)
    .await?;
    Ok(changed.rows_affected() == 1)
}

async fn update_workload(
    transaction: &mut Transaction<'_, Sqlite>,
    run: u64,
    work: &Workload,
) -> anyhow::Result<()> {
    sqlx::query("UPDATE runs SET mode = ?, target = ?, device = ?, iodepth = ?, direct = ? WHERE number = ?")
        .bind(work.mode.as_ref().map(word).transpose()?)
        .bind(&work.target)
        .bind(&work.device)
        .bind(work.iodepth)
        .bind(work.direct)
        .bind(run.cast_signed())
        .execute(&mut **transaction)
        .await?;
    Ok(())
}

async fn update_details(
    transaction: &mut Transaction<'_, Sqlite>,
    run: u64,
    update: &Update,
) -> anyhow::Result<()> {
    let result = update.result.as_ref();
    sqlx::query(
        "UPDATE run_details SET resolved = coalesce(?, resolved), host_facts = coalesce(?, host_facts), measure_ms = coalesce(?, measure_ms),
             report = coalesce(?, report), verdict = coalesce(?, verdict), findings = coalesce(?, findings), failure = coalesce(?, failure)
         WHERE run = ?",
    )
    .bind(update.resolved.as_ref().map(json).transpose()?)
    .bind(update.host_facts.as_ref().map(json).transpose()?)
    .bind(update.measure_ms.map(u64::cast_signed))
    .bind(result.map(|(report, ..)| json(report)).transpose()?)
    .bind(result.map(|(_, verdict, _)| json(verdict)).transpose()?)
    .bind(result.map(|(.., findings)| json(findings)).transpose()?)
    .bind(update.failure.as_ref().map(json).transpose()?)
    .bind(run.cast_signed())
    .execute(&mut **transaction)
    .await?;
    Ok(())
}
