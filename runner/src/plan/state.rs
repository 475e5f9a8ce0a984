//! `file_state` and `cache_state`: one word each for what several of fio's options say together. Here they become those
//! options, so that the rooms behind know fio's only; what contradicts a state is refused with both names.
//!
//! A state never destroys what was found: `fresh` replaces and `written` fills only what a run of ours made.

use crate::plan::defaults::said;
use crate::plan::host_view::{PathFacts, PathKind};
use crate::plan::notes::Notes;
use leadline_protocol::job::Job;
use leadline_protocol::job::value::{CacheState, Fallocate, FileState, Flag};
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::problem::Problem;
use std::collections::BTreeMap;

/// A job with its states turned into the options that they stand for.
pub(crate) fn apply(job: &Job, notes: &mut Notes) -> Job {
    let (file, cache) = (said!(job, file_state), said!(job, cache_state));
    check(job, file, cache, notes);
    let mut told = job.clone();
    match file {
        FileState::AsIs => {}
        // Refused with the state's name, and with no other option's that it would stand for.
        _ if reads_what_is_not(job, file) => told.file_state = None,
        FileState::Fresh => told.fallocate = Some(job.fallocate.unwrap_or(Fallocate::None)),
        FileState::Written | FileState::Overwrite => told.overwrite = Some(Flag(true)),
        FileState::Append => told.file_append = Some(Flag(true)),
    }
    match cache {
        CacheState::AsIs => {}
        CacheState::Cold => told.invalidate = Some(Flag(true)),
        CacheState::Warm => told.pre_read = Some(Flag(true)),
    }
    told
}

fn check(job: &Job, file: FileState, cache: CacheState, notes: &mut Notes) {
    for (option, value) in against_file(job, file) {
        contradicts("file_state", file.word(), option, value, notes);
    }
    for (option, value) in against_cache(job, cache) {
        contradicts("cache_state", cache.word(), option, value, notes);
    }
    if reads_what_is_not(job, file) {
        let sentence = format!(
            "file_state={} is about what is written first, and rw={} reads.",
            file.word(),
            word_of(job)
        );
        notes.invalid(
            "state_contradicted",
            "file_state",
            sentence,
            "Use file_state=written for reads, or a job that writes.",
        );
    }
}

/// Whether a state that is about writing is asked of a job that reads.
fn reads_what_is_not(job: &Job, file: FileState) -> bool {
    let rw = said!(job, rw).kind;
    match file {
        FileState::AsIs | FileState::Written => false,
        FileState::Overwrite => !rw.writes(),
        FileState::Fresh | FileState::Append => !rw.writes() || rw.reads(),
    }
}

fn word_of(job: &Job) -> String {
    serde_json::to_value(said!(job, rw).kind)
        .ok()
        .and_then(|word| word.as_str().map(String::from))
        .unwrap_or_default()
}

fn contradicts(state: &str, word: &str, option: &str, value: &str, notes: &mut Notes) {
    let sentence = format!("{state}={word} and {option}={value} contradict each other.");
    notes.invalid(
        "state_contradicted",
        state,
        sentence,
        format!("Leave {option} out, or write {state}=as-is."),
    );
}

/// Options that say something else than the state of the file.
fn against_file(job: &Job, state: FileState) -> Vec<(&'static str, &'static str)> {
    let is = |flag: Option<Flag>, value: bool| flag == Some(Flag(value));
    let written = job.fallocate == Some(Fallocate::Written);
    let otherwise = job.fallocate.is_some() && !written;
    let (fresh, append) = (state == FileState::Fresh, state == FileState::Append);
    let full = matches!(state, FileState::Written | FileState::Overwrite);
    pick(&[
        (fresh || append, is(job.overwrite, true), "overwrite", "1"),
        (full, is(job.overwrite, false), "overwrite", "0"),
        (fresh || full, is(job.file_append, true), "file_append", "1"),
        (append, is(job.file_append, false), "file_append", "0"),
        (full, is(job.create_on_open, true), "create_on_open", "1"),
        (fresh, written, "fallocate", "written"),
        (
            full,
            otherwise,
            "fallocate",
            job.fallocate.map_or("", Fallocate::word),
        ),
    ])
}

/// Options that say something else than the state of the cache.
fn against_cache(job: &Job, state: CacheState) -> Vec<(&'static str, &'static str)> {
    let is = |flag: Option<Flag>, value: bool| flag == Some(Flag(value));
    let (cold, warm) = (state == CacheState::Cold, state == CacheState::Warm);
    pick(&[
        (cold, is(job.invalidate, false), "invalidate", "0"),
        (cold, is(job.pre_read, true), "pre_read", "1"),
        (warm, is(job.invalidate, true), "invalidate", "1"),
        (warm, is(job.pre_read, false), "pre_read", "0"),
    ])
}

fn pick(table: &[(bool, bool, &'static str, &'static str)]) -> Vec<(&'static str, &'static str)> {
    table
        .iter()
        .filter(|(state, said, ..)| *state && *said)
        .map(|(.., option, value)| (*option, *value))
        .collect()
}

/// A file as a job with this state meets it: what `fresh` finds is gone before it begins, if it is ours to remove.
pub(crate) fn meet(job: &Job, facts: PathFacts, notes: &mut Notes) -> PathFacts {
    if said!(job, file_state) != FileState::Fresh || facts.kind != PathKind::File {
        return facts;
    }
    if !facts.is_ours {
        let sentence = format!(
            "{} is there already, and no run of ours made it, or somebody wrote it since.",
            facts.canonical
        );
        let remedy = "Name a file that is not there, remove this one yourself if nobody needs it, or write file_state=overwrite.";
        notes.refuse(
            Problem::guard("file_found", "file_state", sentence, remedy),
            "file_state",
        );
    }
    PathFacts {
        kind: PathKind::Missing,
        length: 0,
        fully_written: None,
        ..facts
    }
}

/// Whether the blocks of a file that hold no data may be written: its other blocks are written anew as well.
pub(crate) fn check_filling(job: &Job, facts: &PathFacts, notes: &mut Notes) {
    if said!(job, file_state) == FileState::Written
        && facts.kind == PathKind::File
        && !facts.is_ours
    {
        let sentence = format!(
            "{} has blocks without data; to fill them it would be written anew, and what it holds be lost.",
            facts.canonical
        );
        let remedy = "Name another file, or write file_state=overwrite or overwrite=1 if what it holds may be lost.";
        notes.refuse(
            Problem::guard("file_found", "file_state", sentence, remedy),
            "file_state",
        );
    }
}

/// Refuses jobs that use a file which another job of the run wants fresh: to them it would be an empty one.
pub(crate) fn check_shared(jobs: &[(usize, ResolvedJob)], notes: &mut Notes) {
    let mut fresh: BTreeMap<&str, bool> = BTreeMap::new();
    for (number, job) in jobs {
        for target in &job.targets {
            let is_fresh = job.target.file_state == FileState::Fresh;
            if *fresh.entry(&target.path).or_insert(is_fresh) != is_fresh {
                notes.begin(*number, &job.name);
                let sentence = format!(
                    "{} is wanted fresh by one job and used by another.",
                    target.path
                );
                notes.invalid(
                    "state_contradicted",
                    "file_state",
                    sentence,
                    "Give the jobs files of their own, or put them into runs of their own.",
                );
            }
        }
    }
}
