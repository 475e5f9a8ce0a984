//! `file_state` and `cache_state`, which are shorthand for multiple fio options. They are expanded
//! to these options before everything else is planned, and conflicting options are rejected.
//!
//! To protect user data, `fresh` replaces and `written` fills only files that Leadline created.

use crate::plan::{
    host_view::{PathFacts, PathKind},
    issues::Issues,
};
use leadline_protocol::{
    finding::Severity,
    job::{
        Job,
        keyword::{CacheState, Fallocate, FileState},
    },
    plan::{job::ResolvedJob, target::TargetKind},
    problem::Problem,
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

type OptionValue = (&'static str, &'static str);

/// Returns the job with its states expanded to options.
pub(crate) fn expand(job: &Job, issues: &mut Issues) -> Job {
    let file = job.file_state();
    let cache = job.cache_state();
    check_conflicts(
        "file_state",
        file.as_str(),
        file_conflicts(job, file),
        issues,
    );
    check_conflicts(
        "cache_state",
        cache.as_str(),
        cache_conflicts(job, cache),
        issues,
    );
    let mut expanded = job.clone();
    match file {
        FileState::AsIs => {}
        _ if !is_supported(job, file) => {
            let detail = format!(
                "file_state={} requires a job that {}; rw={} does not.",
                file.as_str(),
                if file == FileState::Overwrite {
                    "writes"
                } else {
                    "only writes"
                },
                job.rw().kind.as_str()
            );
            let remedy = "Use file_state=written for reads, or a pattern that writes.";
            issues.invalid("conflicting_options", "file_state", detail, remedy);
            // Avoids further problems about options that the state implies.
            expanded.file_state = None;
        }
        FileState::Fresh => expanded.fallocate = Some(job.fallocate.unwrap_or(Fallocate::None)),
        FileState::Written | FileState::Overwrite => expanded.overwrite = Some(true),
        FileState::Append => expanded.file_append = Some(true),
    }
    match cache {
        CacheState::AsIs => {}
        CacheState::Cold => expanded.invalidate = Some(true),
        CacheState::Warm => expanded.pre_read = Some(true),
    }
    expanded
}

fn is_supported(job: &Job, state: FileState) -> bool {
    let rw = job.rw().kind;
    match state {
        FileState::AsIs | FileState::Written => true,
        FileState::Overwrite => rw.writes(),
        FileState::Fresh | FileState::Append => rw.writes() && !rw.reads(),
    }
}

fn check_conflicts(state: &str, value: &str, conflicts: Vec<OptionValue>, issues: &mut Issues) {
    for (option, other) in conflicts {
        issues.invalid(
            "conflicting_options",
            state,
            format!("{state}={value} and {option}={other} are mutually exclusive."),
            format!("Remove {option}, or use {state}=as-is."),
        );
    }
}

/// Options that contradict the file state.
fn file_conflicts(job: &Job, state: FileState) -> Vec<OptionValue> {
    let is_fresh = state == FileState::Fresh;
    let is_append = state == FileState::Append;
    let is_full = matches!(state, FileState::Written | FileState::Overwrite);
    let mut conflicts = flag_conflicts(&[
        (is_fresh || is_append, "overwrite", job.overwrite, true),
        (is_full, "overwrite", job.overwrite, false),
        (is_fresh || is_full, "file_append", job.file_append, true),
        (is_append, "file_append", job.file_append, false),
        (is_full, "create_on_open", job.create_on_open, true),
    ]);
    if let Some(fallocate) = job.fallocate {
        let is_written = fallocate == Fallocate::Written;
        if (is_fresh && is_written) || (is_full && !is_written) {
            conflicts.push(("fallocate", fallocate.as_str()));
        }
    }
    conflicts
}

/// Options that contradict the page cache state.
fn cache_conflicts(job: &Job, state: CacheState) -> Vec<OptionValue> {
    let is_cold = state == CacheState::Cold;
    let is_warm = state == CacheState::Warm;
    flag_conflicts(&[
        (is_cold, "invalidate", job.invalidate, false),
        (is_cold, "pre_read", job.pre_read, true),
        (is_warm, "invalidate", job.invalidate, true),
        (is_warm, "pre_read", job.pre_read, false),
    ])
}

/// `rules`: (applies, option, requested value, excluded value).
fn flag_conflicts(rules: &[(bool, &'static str, Option<bool>, bool)]) -> Vec<OptionValue> {
    let mut conflicts = Vec::new();
    for (applies, option, flag, excluded) in rules {
        if *applies && *flag == Some(*excluded) {
            conflicts.push((*option, if *excluded { "1" } else { "0" }));
        }
    }
    conflicts
}

/// Applies `file_state=fresh` to a path: an existing file is replaced, if Leadline created it.
pub(crate) fn apply_state(job: &Job, facts: PathFacts, issues: &mut Issues) -> PathFacts {
    if job.file_state() != FileState::Fresh || facts.kind != PathKind::File {
        return facts;
    }
    if !facts.is_owned {
        let detail = format!(
            "{} exists and was not created by Leadline, or has been modified since.",
            facts.canonical
        );
        let remedy =
            "Use another file name, remove the file yourself, or use file_state=overwrite.";
        reject_file(detail, remedy, issues);
    } else {
        issues.finding(
            Severity::Note,
            "file_overwritten",
            format!(
                "The run removes {}, which an earlier run created, and creates it again.",
                facts.canonical
            ),
            json!({"found_bytes": facts.length}),
            "Use another file to keep the data.",
        );
    }
    PathFacts {
        kind: PathKind::Missing,
        length: 0,
        fully_written: None,
        ..facts
    }
}

/// Checks that `file_state=written` may rewrite a file with unwritten blocks.
pub(crate) fn check_rewrite(job: &Job, facts: &PathFacts, issues: &mut Issues) {
    if job.file_state() == FileState::Written && facts.kind == PathKind::File && !facts.is_owned {
        let detail = format!(
            "{} was not created by Leadline, and filling its unwritten blocks would overwrite its data.",
            facts.canonical
        );
        let remedy = "Use another file, or set overwrite=1 if its data can be discarded.";
        reject_file(detail, remedy, issues);
    }
}

fn reject_file(detail: String, remedy: &str, issues: &mut Issues) {
    let problem = Problem::guard("file_not_owned", "file_state", detail, remedy);
    issues.problem(problem, "file_state");
}

/// Rejects jobs that share a file if only some of them use `file_state=fresh`.
pub(crate) fn check_shared(jobs: &[(usize, ResolvedJob)], issues: &mut Issues) {
    let mut fresh: BTreeMap<&str, bool> = BTreeMap::new();
    for (index, job) in jobs {
        let is_fresh = job.target.file_state == FileState::Fresh;
        for target in &job.targets {
            if *fresh.entry(&target.path).or_insert(is_fresh) != is_fresh {
                issues.begin_job(*index, &job.name);
                let detail = format!(
                    "{} has file_state=fresh in one job and is used by another job.",
                    target.path
                );
                let remedy = "Use different files, or separate runs.";
                issues.invalid("conflicting_options", "file_state", detail, remedy);
            }
        }
    }
}

/// Rejects jobs that share a file with different values of `fallocate` if layout allocates it,
/// because only one of them would apply.
pub(crate) fn check_shared_allocation(jobs: &[(usize, ResolvedJob)], issues: &mut Issues) {
    let shared = || {
        let jobs = jobs.iter();
        jobs.filter(|(_, job)| job.target.file_state != FileState::Fresh)
    };
    let mut allocated: BTreeMap<&str, Fallocate> = BTreeMap::new();
    for (_, job) in shared() {
        for target in job
            .targets
            .iter()
            .filter(|target| target.layout_offset.is_some())
        {
            allocated
                .entry(&target.path)
                .or_insert(job.target.fallocate);
        }
    }
    for (index, job) in shared() {
        let fallocate = job.target.fallocate;
        let differs = |path: &str| allocated.get(path).is_some_and(|other| *other != fallocate);
        let Some(target) = job.targets.iter().find(|target| differs(&target.path)) else {
            continue;
        };
        issues.begin_job(*index, &job.name);
        let detail = format!(
            "Jobs that share {} use different values of fallocate ({} and {}).",
            target.path,
            allocated[target.path.as_str()].as_str(),
            fallocate.as_str()
        );
        let remedy = "Use the same fallocate in all jobs that use the file.";
        issues.invalid("conflicting_options", "fallocate", detail, remedy);
    }
}

/// Rejects jobs that write to a file that another job attaches to a loop device, because the guard
/// does not open a loop device's backing file for writing.
pub(crate) fn check_shared_loops(jobs: &[(usize, ResolvedJob)], issues: &mut Issues) {
    let written: BTreeSet<&str> = jobs
        .iter()
        .filter(|(_, job)| job.pattern.rw.is_destructive())
        .flat_map(|(_, job)| &job.targets)
        .filter(|target| target.kind == TargetKind::File)
        .map(|target| target.path.as_str())
        .collect();
    for (index, job) in jobs {
        let mut attached = job.targets.iter().filter(|target| {
            target.kind == TargetKind::Loop && written.contains(target.path.as_str())
        });
        if let Some(target) = attached.next() {
            issues.begin_job(*index, &job.name);
            let detail = format!(
                "One job sets loop_device=1 for {}, and another job writes to it without loop_device.",
                target.path
            );
            let remedy = "Use loop_device=1 in all jobs that use the file, or different files.";
            issues.invalid("conflicting_options", "loop_device", detail, remedy);
        }
    }
}
