//! Imports of job files and command lines, compared with fio's own interpretation of them.
//!
//! `generated.jsonl` contains 400 random job files with the values that fio 3.33 parsed (`fio
//! --parse-only --debug=parse`). `written.jsonl` and `diskspd.jsonl` contain cases that were
//! derived from the sources of both programs before the importer was written. Each line has a job
//! text, its jobs (numbers are bytes or microseconds; directions are read, write, trim), the jobs
//! that start together, the codes of required notes, and the options that a note must name.

#[path = "../scratch/input.rs"]
mod input;

mod canonical;
mod here_documents;
mod inert;
mod limits;
mod program;
mod showcmd;

use leadline_protocol::import::{Import, ImportRequest, ImportSeverity};
use leadline_runner::dialect::{HostFacts, PathKind, fio_view, import};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// Devices that existed on the host where the cases were recorded.
const DEVICES: [&str; 7] = [
    "/dev/nvme0n1",
    "/dev/nvme1n1",
    "/dev/nvme1n1p2",
    "/dev/sda",
    "/dev/sdb",
    "/dev/null",
    "/dev/zero",
];
const MEMORY_MIB: u64 = 24_105;
/// Codes of notes about workloads. A generated case lists all notes that must appear.
const WORKLOAD_NOTES: [&str; 13] = [
    "seconds_suffix",
    "fraction",
    "kib_decimal",
    "bs_pair",
    "bool_without_value",
    "missing_device",
    "depth_with_psync",
    "not_direct",
    "same_seed",
    "end_fsync_in_runtime",
    "ramp_uses_io_size",
    "time_based_invalidates",
    "ini_comment_cut",
];

#[derive(Deserialize)]
struct Case {
    name: String,
    text: String,
    jobs: Option<Vec<Job>>,
    #[serde(default)]
    order: Value,
    #[serde(default)]
    notes: Vec<String>,
    #[serde(default)]
    no_notes: Vec<String>,
    #[serde(default)]
    diskspd_notes: Vec<String>,
    #[serde(default)]
    rejected: Vec<Rejected>,
    #[serde(default)]
    asks: Vec<String>,
    /// An error is also acceptable.
    #[serde(default)]
    may_reject: bool,
    /// Options that may be imported, but need not be.
    #[serde(default)]
    may_take: Vec<String>,
    #[serde(default)]
    also_named: Vec<String>,
    #[serde(default)]
    program_options: Vec<String>,
}

#[derive(Deserialize)]
struct Job {
    name: String,
    options: Map<String, Value>,
}

#[derive(Deserialize)]
struct Rejected {
    option: Option<String>,
    line: Option<u32>,
}

pub(crate) fn with_host<T>(call: impl FnOnce(&HostFacts<'_>) -> T) -> T {
    call(&HostFacts {
        cpus: 2,
        page_size: 4096,
        memory_mib: MEMORY_MIB,
        path_kind: &|path| {
            if DEVICES.contains(&path) || path.starts_with("/dev/shm/") {
                PathKind::Other
            } else {
                PathKind::Missing
            }
        },
    })
}

pub(crate) fn request(text: &str) -> ImportRequest {
    ImportRequest {
        text: text.into(),
        variables: None,
    }
}

fn cases(file: &str) -> Vec<Case> {
    let path = format!("{}/tests/fio_import/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    let case =
        |line: &str| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"));
    text.lines().map(case).collect()
}

struct Checker<'a> {
    case: &'a Case,
    import: Import,
    differences: Vec<String>,
}

impl Checker<'_> {
    fn expect(&mut self, holds: bool, difference: impl FnOnce(&Import) -> String) {
        if !holds {
            let text = difference(&self.import);
            self.differences.push(text);
        }
    }

    fn has_errors(&self) -> bool {
        let mut notes = self.import.notes.iter();
        notes.any(|note| note.severity == ImportSeverity::Error)
    }

    fn has_note(&self, code: &str) -> bool {
        self.import.notes.iter().any(|note| note.code == code)
    }

    fn names(&self, option: &str, line: Option<u32>) -> bool {
        let mut notes = self.import.notes.iter();
        notes.any(|note| {
            line.is_none_or(|line| note.span.line == line)
                && note
                    .option
                    .as_deref()
                    .is_some_and(|name| name.starts_with(option))
        })
    }

    fn check_notes(&mut self, all: bool) {
        let case = self.case;
        for code in case.notes.iter().chain(&case.diskspd_notes) {
            let is_excused = self.has_errors() && case.diskspd_notes.contains(code);
            let has_note = self.has_note(code) || is_excused;
            self.expect(has_note, |_| format!("no note {code}"));
        }
        for code in &case.no_notes {
            let has_note = self.has_note(code);
            self.expect(!has_note, |_| format!("note {code}"));
        }
        for code in WORKLOAD_NOTES.iter().filter(|_| all) {
            let is_listed = case.notes.iter().any(|listed| listed == code);
            let has_note = self.has_note(code);
            self.expect(is_listed || !has_note, |_| format!("note {code}"));
        }
    }

    fn check_named(&mut self) {
        let case = self.case;
        for rejected in &case.rejected {
            let Some(option) = &rejected.option else {
                let has_errors = self.has_errors();
                self.expect(has_errors, |_| "no error".into());
                continue;
            };
            let is_named = case.may_take.contains(option) || self.names(option, rejected.line);
            self.expect(is_named, |import| {
                format!("{option} is not named: {:?}", import.notes)
            });
        }
        for option in case.also_named.iter().chain(&case.program_options) {
            let is_named = self.names(option, None);
            self.expect(is_named, |_| format!("{option} is not named"));
        }
    }

    fn check_jobs(&mut self, view: &Value, ignored: &[&str]) {
        let case = self.case;
        let Some(want) = &case.jobs else {
            let has_document = self.import.document.is_some();
            return self.expect(!has_document, |_| "has a document".into());
        };
        if case.may_reject && self.has_errors() {
            return;
        }
        let rejected = case
            .rejected
            .iter()
            .filter_map(|rejected| rejected.option.as_deref());
        let skipped: BTreeSet<&str> = rejected
            .chain(
                case.may_take
                    .iter()
                    .chain(&case.also_named)
                    .map(String::as_str),
            )
            .chain(ignored.iter().copied())
            .collect();
        let options = |options: &Map<String, Value>| -> Map<String, Value> {
            let kept = options
                .iter()
                .filter(|(name, _)| !skipped.contains(name.as_str()));
            let mut kept: Vec<_> = kept
                .map(|(name, value)| (name.clone(), last_filename(name, value)))
                .collect();
            kept.sort_by(|a, b| a.0.cmp(&b.0));
            kept.into_iter().collect()
        };
        let want_jobs: Vec<Value> = want
            .iter()
            .map(|job| {
                json!([
                    job.name,
                    options(&canonical::expected(&job.options, MEMORY_MIB))
                ])
            })
            .collect();
        let got_jobs: Vec<Value> = view["jobs"]
            .as_array()
            .unwrap()
            .iter()
            .map(|job| {
                let name = if want.iter().any(|job| job.name == "*") {
                    json!("*")
                } else {
                    job["name"].clone()
                };
                json!([
                    name,
                    options(&canonical::options(job["options"].as_object().unwrap()))
                ])
            })
            .collect();
        self.expect(got_jobs == want_jobs, |_| {
            format!(
                "jobs\n    want {}\n    got  {}",
                json!(want_jobs),
                json!(got_jobs)
            )
        });
        let order = match case.order.as_str() {
            Some("together") => json!([(0..want.len()).collect::<Vec<_>>()]),
            Some(_) => json!((0..want.len()).map(|job| [job]).collect::<Vec<_>>()),
            None => case.order.clone(),
        };
        self.expect(view["order"] == order, |_| {
            format!("order {} instead of {order}", view["order"])
        });
    }

    fn check_questions(&mut self, prefix: bool) {
        let name = |ask: &String| match ask.split_once(' ') {
            Some((_, name)) if prefix => name.to_owned(),
            _ => ask.clone(),
        };
        let want: BTreeSet<String> = self.case.asks.iter().map(name).collect();
        let asked = self
            .import
            .questions
            .iter()
            .map(|question| question.name.clone());
        let asked: BTreeSet<String> = asked.collect();
        let is_excused = prefix && self.has_errors();
        self.expect(is_excused || asked == want, |_| {
            format!("questions {asked:?} instead of {want:?}")
        });
    }
}

/// The cases contain the last value of each option, but in fio, each `filename` adds files.
fn last_filename(name: &str, value: &Value) -> Value {
    match value.as_str() {
        Some(files) if name == "filename" => files.rsplit(':').next().into(),
        _ => value.clone(),
    }
}

/// Panics with all cases that differ. Cases in `differences` are exempt, but must differ.
fn check(file: &str, lists_all_notes: bool, differences: &[(&str, &str)]) {
    let is_diskspd = file.starts_with("diskspd");
    let mut failures = Vec::new();
    for case in cases(file) {
        let request = request(&case.text);
        let (import, view) = with_host(|host| (import(&request, host), fio_view(&request, host)));
        let mut checker = Checker {
            case: &case,
            import,
            differences: Vec::new(),
        };
        let ignored: &[&str] = if is_diskspd {
            &["filename", "ioengine"]
        } else {
            &[]
        };
        checker.check_jobs(&view, ignored);
        checker.check_notes(lists_all_notes);
        checker.check_named();
        checker.check_questions(is_diskspd);
        let is_known = differences
            .iter()
            .any(|(name, _)| case.name.starts_with(name));
        if checker.differences.is_empty() == is_known {
            failures.push(format!(
                "{}\n{}\n    {}",
                case.name,
                case.text,
                checker.differences.join("\n    ")
            ));
        }
    }
    assert!(
        failures.is_empty(),
        "{} cases\n{}",
        failures.len(),
        failures.join("\n\n")
    );
}

#[test]
fn generated_job_files_are_parsed_as_by_fio() {
    check("generated.jsonl", true, &[]);
}

#[test]
fn written_job_files_and_commands_are_parsed_as_by_fio() {
    let differences = [
        (
            "282-env-in-single-quotes",
            "rejected as by fio, without a question about the value",
        ),
        ("286-shell-default", "the default is used"),
    ];
    check("written.jsonl", false, &differences);
}

#[test]
fn diskspd_commands_are_explained_with_fio_options() {
    let differences = [
        (
            "009",
            "a relative path without backslashes is also a Linux path",
        ),
        ("089", "a Linux path needs no question"),
    ];
    check("diskspd.jsonl", false, &differences);
}
