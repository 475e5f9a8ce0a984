//! Runs the same job with fio and with the runner, and compares offsets, sizes, directions, syncs
//! and the file length. fio logs its I/Os (`write_iolog`); strace traces the runner's system calls.
//! docs/fio-differences.md lists the differences.
//!
//! `cargo test -p leadline-runner --test fio_semantics -- --ignored` compares generated jobs.

#[path = "../scratch/mod.rs"]
mod scratch;

mod backlog;
mod cases;
mod devices;
mod engines;
mod files;
mod generated;
mod shapes;
mod steady_state;
mod trace;

use serde_json::{Value, json};
use std::{collections::BTreeMap, fs, iter, path::PathBuf, sync::Mutex, thread};
use trace::{Io, Trace};

/// How closely the programs must agree.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Equal {
    /// Every I/O and sync must match, in order.
    Sequence,
    /// The number of accesses to each 512-byte sector by direction, the syncs and the file length
    /// must match.
    Coverage,
    /// The number of accesses to each 512-byte sector by direction and the file length must match.
    CoverageOnly,
    /// The number of accesses to each 512-byte sector must match, regardless of direction.
    Blocks,
    /// The I/Os and bytes by direction and the syncs must match.
    Counts,
    /// The total I/Os and bytes of both directions must match.
    Totals,
    /// No match is required: this is a documented difference, which the plan reports.
    Reported,
    /// No match is required: the plan rejects the job.
    Rejected,
}

/// A job for both programs.
struct Case {
    equal: Equal,
    options: BTreeMap<String, String>,
    /// Length of the file before the job, in KiB.
    file_kib: u64,
}

impl Case {
    /// `text` contains fio options separated by spaces; `file=N` is the length of an existing file,
    /// in KiB.
    fn new(equal: Equal, text: &str) -> Self {
        let mut options: BTreeMap<String, String> = text
            .split_whitespace()
            .map(|option| option.split_once('=').unwrap())
            .map(|(name, value)| (name.into(), value.into()))
            .collect();
        let file_kib = options.remove("file").map_or(0, |kib| kib.parse().unwrap());
        // As in fio, the layout must not write data.
        options
            .entry("fallocate".into())
            .or_insert_with(|| "native".into());
        Self {
            equal,
            options,
            file_kib,
        }
    }

    fn describe(&self, difference: &str) -> String {
        let options = self.options.iter();
        let options: Vec<String> = options.map(|(k, v)| format!("{k}={v}")).collect();
        format!("{} file={}: {difference}", options.join(" "), self.file_kib)
    }
}

/// Runs both programs on a file and returns the differences.
struct Comparison {
    directory: tempfile::TempDir,
    file: PathBuf,
}

impl Comparison {
    /// Returns `None` if a program is missing.
    fn new() -> Option<Self> {
        for program in ["fio", "strace"] {
            if let Err(error) = scratch::run(program, &["--version"]) {
                scratch::skip(&error);
                return None;
            }
        }
        let directory = scratch::directory();
        let file = directory.path().join("f");
        Some(Self { directory, file })
    }

    fn prepare(&self, case: &Case) {
        let _ = fs::remove_file(&self.file);
        if case.file_kib > 0 {
            scratch::image(&self.file, case.file_kib << 10);
            if case.equal == Equal::Rejected {
                // The file was written by another program.
                fs::write(&self.file, vec![7; (case.file_kib << 10) as usize]).unwrap();
            }
        }
    }

    fn difference(&self, case: &Case) -> Option<String> {
        let job = self.job(case);
        self.prepare(case);
        let plan = trace::plan(&job);
        match case.equal {
            Equal::Rejected if rejected_with_remedy(&plan) => return None,
            Equal::Rejected => return Some("the plan accepts it".into()),
            Equal::Reported => {
                let findings = plan["findings"].as_array().unwrap();
                let is_reported = |finding: &Value| {
                    let code = finding["code"].as_str();
                    matches!(code, Some("fio_difference" | "rates_limited_by_mix"))
                };
                if !findings.iter().any(is_reported) {
                    return Some(format!("no finding: {findings:?}"));
                }
            }
            _ => {}
        }
        let leadline = match trace::runner(&job, &self.file, self.directory.path()) {
            Ok(trace) => trace,
            Err(error) => return Some(format!("the runner fails: {error}")),
        };
        if let Some(difference) = plan_difference(&plan, &leadline) {
            return Some(difference);
        }
        if case.equal == Equal::Reported {
            return None;
        }
        self.prepare(case);
        let fio = trace::fio(&case.options, &self.file, self.directory.path());
        compare(case.equal, &fio, &leadline)
    }

    fn job(&self, case: &Case) -> Value {
        let mut job = json!(case.options);
        job["filename"] = json!(self.file);
        job["ioengine"] = json!("psync");
        job["direct"] = json!(0);
        job["probes"] = json!(0);
        job
    }
}

/// Number of concurrent cases. They use little CPU time: strace and the runner wait for each other,
/// and fio's threads sleep.
const CONCURRENT_CASES: usize = 4;

/// Compares all cases, and panics with the differences if there are any.
fn check(cases: impl Iterator<Item = Case> + Send) {
    let cases = Mutex::new(cases);
    let next = || cases.lock().unwrap().next();
    let differences = |comparison: Comparison| -> Vec<String> {
        iter::from_fn(next)
            .filter_map(|case| Some(case.describe(&comparison.difference(&case)?)))
            .collect()
    };
    let comparisons: Option<Vec<_>> = (0..CONCURRENT_CASES).map(|_| Comparison::new()).collect();
    let Some(comparisons) = comparisons else {
        return;
    };
    let differences: Vec<String> = thread::scope(|scope| {
        let threads = comparisons.into_iter();
        let threads: Vec<_> = threads
            .map(|comparison| scope.spawn(|| differences(comparison)))
            .collect();
        let found = threads.into_iter();
        found.flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(
        differences.is_empty(),
        "{} differences\n{}",
        differences.len(),
        differences.join("\n")
    );
}

fn rejected_with_remedy(plan: &Value) -> bool {
    let problems = plan["problems"].as_array();
    problems.is_some_and(|problems| {
        let is_complete = |problem: &Value| {
            ["field", "detail", "remedy"]
                .iter()
                .all(|part| problem[part].as_str().is_some_and(|text| !text.is_empty()))
        };
        !problems.is_empty() && problems.iter().all(is_complete)
    })
}

/// Checks that the run matches the plan. The planned bytes are an upper bound, which is exact for
/// jobs with one direction.
fn plan_difference(plan: &Value, run: &Trace) -> Option<String> {
    let estimate = &plan["estimate"];
    let layout = estimate["layout_bytes"].as_u64()?;
    let planned = layout + estimate["measure_write_bytes"].as_u64()?;
    let written = bytes(run, "write");
    let job = &plan["jobs"][0];
    let bs = &job["bs"]["write"];
    let is_exact = job["rw"] != "rw" && job["rw"] != "randrw" && bs["min"] == bs["max"];
    let block = bs["max"].as_u64().unwrap();
    let is_expected = written <= planned && (!is_exact || planned - written < block);
    (!is_expected).then(|| format!("planned {planned} bytes, wrote {written}"))
}

fn bytes(trace: &Trace, kind: &str) -> u64 {
    let ios = trace.ios.iter().filter(|io| io.kind == kind);
    ios.map(|io| io.len).sum()
}

/// I/Os and bytes by kind.
fn counts(trace: &Trace) -> BTreeMap<&str, (u64, u64)> {
    let mut counts = BTreeMap::new();
    for io in &trace.ios {
        let count: &mut (u64, u64) = counts.entry(io.kind.as_str()).or_default();
        count.0 += 1;
        count.1 += io.len;
    }
    counts
}

fn totals(trace: &Trace) -> (u64, u64) {
    let counts = counts(trace);
    let transfers = ["read", "write"].map(|kind| counts.get(kind).copied().unwrap_or_default());
    (
        transfers[0].0 + transfers[1].0,
        transfers[0].1 + transfers[1].1,
    )
}

/// Number of accesses to each 512-byte sector; separately for each kind of I/O if `by_kind` is set.
fn coverage(trace: &Trace, by_kind: bool) -> BTreeMap<(&str, u64), u32> {
    let mut coverage = BTreeMap::new();
    for io in trace.ios.iter().filter(|io| io.len > 0) {
        let kind = if by_kind { io.kind.as_str() } else { "" };
        for unit in io.offset / 512..(io.offset + io.len) / 512 {
            *coverage.entry((kind, unit)).or_default() += 1;
        }
    }
    coverage
}

fn compare(equal: Equal, fio: &Trace, leadline: &Trace) -> Option<String> {
    let is_equal = match equal {
        Equal::Sequence => fio.ios == leadline.ios,
        Equal::Coverage => {
            coverage(fio, true) == coverage(leadline, true) && syncs(fio) == syncs(leadline)
        }
        Equal::CoverageOnly => coverage(fio, true) == coverage(leadline, true),
        Equal::Blocks => coverage(fio, false) == coverage(leadline, false),
        Equal::Counts => counts(fio) == counts(leadline),
        Equal::Totals => totals(fio) == totals(leadline),
        Equal::Reported | Equal::Rejected => true,
    };
    let summary = |trace: &Trace| {
        let first: Vec<&Io> = trace.ios.iter().take(3).collect();
        format!(
            "{:?}, length {}, first {first:?}",
            counts(trace),
            trace.length
        )
    };
    (!is_equal || fio.length != leadline.length).then(|| {
        format!(
            "{equal:?}\n  fio  {}\n  leadline {}",
            summary(fio),
            summary(leadline)
        )
    })
}

/// Number of fsync calls, and number of fdatasync calls.
fn syncs(trace: &Trace) -> (usize, usize) {
    let count = |kind| trace.ios.iter().filter(|io| io.kind == kind).count();
    (count("sync"), count("datasync"))
}

#[test]
fn jobs_have_the_same_ios_as_in_fio() {
    check(cases::all());
}

#[test]
#[ignore = "takes minutes: cargo test -p leadline-runner --test fio_semantics -- --ignored"]
fn generated_jobs_have_the_same_ios_as_in_fio() {
    check(generated::all());
}
