//! Imports results that were measured by other programs.

use crate::{
    clock::now_ms,
    error::Error,
    runs::{Runs, run_detached, submit::Submitted},
    store::foreign_results::{ForeignRun, ImportOutcome, StoredDocument},
};
use leadline_export::fio::result::{
    FioResult, FoundResult, MAX_JOBS, ResultError, check_fields, find_result, fio_result, groups,
};
use leadline_protocol::{
    report::{Report, foreign::Source},
    result::RunResult,
    run::Run,
    status::RunStatus,
    text::printable_document,
    verdict::Verdicts,
};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::iter;

const FORMAT_REMEDY: &str = "Run fio with --output-format=json or json+, and import its output.";

/// Maximum length of a run name, in bytes. In requests, names may have this many characters.
const MAX_NAME: usize = 200;

/// How to store an imported result.
#[derive(Debug, Default)]
pub(crate) struct ImportOptions {
    /// Default: the name of the first job.
    pub name: Option<String>,
    pub tags: Vec<String>,
    /// One-based index of the group to import, if jobs ran one after another.
    pub group: Option<u64>,
}

impl Runs {
    /// Stores a fio result as a finished run. `replayed`: the result was already stored.
    pub(crate) async fn import_result(
        &self,
        text: Vec<u8>,
        options: ImportOptions,
    ) -> Result<Submitted<Run>, Error> {
        self.check_accepting()?;
        let read = tokio::task::spawn_blocking(move || foreign_run(&text, options));
        let run = read
            .await
            .map_err(|error| Error::Internal(error.into()))??;
        let runs = self.clone();
        // Runs in its own task: dropping a transaction midway would hold its lock until its
        // statement ends.
        let imported = run_detached(async move {
            let imported = runs.store.insert_foreign_run(&run, now_ms()).await?;
            match imported {
                ImportOutcome::Created(number) => runs.publish_run(number).await,
                ImportOutcome::Existing(number) => {
                    runs.repair_document(number, &run.document).await?
                }
            }
            Ok(imported)
        });
        Ok(match imported.await? {
            ImportOutcome::Created(number) => Submitted::new(self.get(number).await?),
            ImportOutcome::Existing(number) => Submitted {
                created: self.get(number).await?,
                replayed: true,
            },
        })
    }
}

impl Runs {
    /// If the stored document is damaged, replaces it with `text`, the document that was imported.
    async fn repair_document(&self, run: u64, text: &str) -> Result<(), Error> {
        let stored = self.store.foreign_document(run).await?;
        if stored.and_then(verified_text).is_none() {
            self.store.replace_foreign_document(run, text).await?;
        }
        Ok(())
    }

    /// The document that a run was imported from; `None` for Leadline's own runs.
    ///
    /// # Errors
    /// The stored document is not the imported one.
    pub(crate) async fn foreign_document(&self, run: u64) -> Result<Option<String>, Error> {
        let stored = self.store.foreign_document(run).await?;
        let text = stored.map(|stored| verified_text(stored).ok_or(Error::damaged(run)));
        text.transpose()
    }
}

/// # Errors
/// The text is not a fio result, or contradicts itself.
pub(crate) fn foreign_run(text: &[u8], options: ImportOptions) -> Result<ForeignRun, Error> {
    let text = std::str::from_utf8(text).map_err(|error| {
        let detail = format!("The body is not UTF-8 text: {error}.");
        Error::invalid("bad_result", "body", detail, FORMAT_REMEDY)
    })?;
    // A byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let FoundResult {
        document,
        text,
        signal,
    } = find_document(text)?;
    check_fields(text).map_err(|error| to_problem(&error))?;
    let document = printable_document(document);
    let result = fio_result(&document, options.group).map_err(|error| to_problem(&error))?;
    let result = result.ok_or_else(|| not_fio_error(&document))?;
    let result = match signal {
        Some(signal) => result.interrupted_by(signal),
        None => result,
    };
    let FioResult {
        report,
        finding,
        jobs,
        workload,
        failure,
    } = result;
    let status = match failure {
        Some(_) => RunStatus::Failed,
        None => RunStatus::Done,
    };
    let name = options.name.unwrap_or_else(|| first_job_name(&jobs));
    Ok(ForeignRun {
        source: report
            .foreign
            .as_ref()
            .map_or(Source::Fio, |foreign| foreign.source),
        name,
        tags: options.tags,
        host: only_host(&report),
        workload,
        options: jobs,
        status,
        reason: failure,
        document: text.to_owned(),
        // The only group is the whole result.
        sha256: fingerprint(&document, options.group.filter(|_| groups(&document) > 1)),
        result: RunResult {
            report,
            verdict: Verdicts::default(),
            findings: vec![finding],
        },
    })
}

/// Finds the result in the text, which may contain other fio output.
fn find_document(text: &str) -> Result<FoundResult<'_>, Error> {
    let trimmed = text.trim();
    let parsed = serde_json::from_str::<Value>(trimmed);
    if let Ok(document) = parsed {
        return Ok(FoundResult {
            document,
            text: trimmed,
            signal: None,
        });
    }
    let found = find_result(text).map_err(|error| to_problem(&error))?;
    found.ok_or_else(|| unreadable_result(trimmed))
}

fn unreadable_result(text: &str) -> Error {
    let bad_result = |detail: String| Error::invalid("bad_result", "body", detail, FORMAT_REMEDY);
    if text.is_empty() {
        return bad_result("The body is empty.".into());
    }
    let start = text.split(';').nth(1);
    if start.is_some_and(|version| version.starts_with("fio-")) {
        return bad_result("This is fio's terse output, which has no field names.".into());
    }
    let is_start = |at: &usize| *at == 0 || text[..*at].ends_with('\n');
    let mut starts = text.match_indices('{').map(|(at, _)| at);
    let Some(start) = starts.find(is_start) else {
        return bad_result("The body contains no JSON document.".into());
    };
    match serde_json::from_str::<Value>(&text[start..]) {
        Ok(_) => bad_result("The body contains no fio result.".into()),
        Err(error) => bad_result(format!("The body is not valid JSON: {error}.")),
    }
}

fn not_fio_error(document: &Value) -> Error {
    let detail = "This JSON document is not a fio result: `fio version` is missing.";
    let remedy = match document["report"] {
        Value::Null => FORMAT_REMEDY,
        _ => "This is a Leadline result. Compare it with `leadline-runner compare`.",
    };
    Error::invalid("bad_result", "fio version", detail, remedy)
}

fn to_problem(error: &ResultError) -> Error {
    match error {
        ResultError::Invalid { field, .. } if !field.is_empty() => {
            let remedy = "Import fio's output without changes.";
            Error::invalid("bad_result", field, format!("{error}."), remedy)
        }
        ResultError::Invalid { detail, .. } => {
            Error::invalid("bad_result", "body", to_sentence(detail), FORMAT_REMEDY)
        }
        ResultError::NoSuchGroup(groups) => {
            let remedy = format!("Select a group from 1 to {groups}.");
            Error::invalid(
                "no_such_group",
                "group",
                to_sentence(&error.to_string()),
                remedy,
            )
        }
        ResultError::MultipleGroups(_) => {
            let remedy =
                "Import each group as a separate run. To start with the first, set group=1.";
            Error::invalid(
                "several_groups",
                "group",
                to_sentence(&error.to_string()),
                remedy,
            )
        }
    }
}

fn to_sentence(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    let text: String = first.into_iter().chain(characters).collect();
    format!("{text}.")
}

/// The name of the first job, truncated to the maximum length of a run name.
fn first_job_name(jobs: &[Value]) -> String {
    let first = jobs.first().and_then(|job| job["name"].as_str());
    let mut name = first.unwrap_or("fio").to_owned();
    while name.len() > MAX_NAME {
        name.pop();
    }
    name
}

/// `None` if the host is unknown, or if multiple hosts ran the jobs.
fn only_host(report: &Report) -> Option<String> {
    match &report.foreign.as_ref()?.hostnames[..] {
        [host] => Some(host.clone()),
        _ => None,
    }
}

fn fingerprint(document: &Value, group: Option<u64>) -> [u8; 32] {
    group_digest(Sha256::new_with_prefix(document.to_string()), group)
}

fn group_digest(mut digest: Sha256, group: Option<u64>) -> [u8; 32] {
    digest.update(format!("\0{group:?}"));
    digest.finalize().into()
}

/// Returns the text if its checksums match. The selected group is not stored, so all groups are
/// tried.
fn verified_text(stored: StoredDocument) -> Option<String> {
    let text = stored.text.filter(|_| stored.is_of_run)?;
    let document = find_document(&text).ok()?.document;
    let digest = Sha256::new_with_prefix(printable_document(document).to_string());
    let groups = (1..=MAX_JOBS as u64).map(Some);
    let mut groups = iter::once(None).chain(groups);
    let is_intact = groups.any(|group| stored.sha256 == group_digest(digest.clone(), group));
    is_intact.then_some(text)
}
