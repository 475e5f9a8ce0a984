//! The files of a run as they will be: a job later in the list meets what an earlier one has laid out. At the end it is
//! counted whether the disks have room for all of it.

use crate::plan::host_view::PathFacts;
use crate::plan::notes::Notes;
use leadline_protocol::format::bytes;
use std::collections::BTreeMap;

/// Part of the free space that stays free: a full filesystem fails everybody on it, the server's database included.
const RESERVE_PART: u64 = 20;
/// The most that is kept free.
const MAX_RESERVE_BYTES: u64 = 1 << 30;

/// What becomes of the files.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    files: BTreeMap<String, File>,
}

#[derive(Debug)]
struct File {
    /// Length before the run.
    found: u64,
    /// Length when the measurement begins.
    length: u64,
    /// The furthest that a job will write it.
    end: u64,
    /// Bytes rewritten where it may have had holes.
    rewritten: u64,
    is_written: Option<bool>,
    /// The job that asked for it first.
    job: usize,
    filesystem: (Option<String>, Option<String>),
    free: u64,
}

impl Ledger {
    /// Length of a file or device, and whether every block of it holds data, as the jobs before will leave it.
    pub fn state(&self, facts: &PathFacts) -> (u64, Option<bool>) {
        let planned = self
            .files
            .get(&facts.canonical)
            .map(|file| (file.length, file.is_written));
        planned.unwrap_or((
            facts.length,
            facts.fully_written.or((facts.length == 0).then_some(true)),
        ))
    }

    /// A job will lay out this file up to `length`, writing `layout_bytes` of it, and go on to write it up to `end`.
    pub fn plan(
        &mut self,
        facts: &PathFacts,
        job: usize,
        length: u64,
        layout_bytes: u64,
        end: u64,
    ) {
        let (before, was_written) = self.state(facts);
        let grown = length - before;
        let file = self
            .files
            .entry(facts.canonical.clone())
            .or_insert_with(|| File {
                found: facts.length,
                length: before,
                end: 0,
                rewritten: 0,
                is_written: was_written,
                job,
                filesystem: (facts.device.clone(), facts.filesystem.clone()),
                free: facts.free_bytes,
            });
        file.is_written = if layout_bytes >= length {
            Some(true)
        } else if layout_bytes < grown {
            Some(false)
        } else {
            was_written
        };
        file.length = length;
        file.end = file.end.max(end).max(length);
        file.rewritten += layout_bytes.saturating_sub(grown);
    }

    /// Refuses what does not fit on the disks, once for each filesystem.
    pub fn check_space(&self, names: &[String], notes: &mut Notes) {
        let mut needs: BTreeMap<_, (u64, u64, usize)> = BTreeMap::new();
        for file in self.files.values() {
            let need = needs
                .entry(&file.filesystem)
                .or_insert((0, file.free, file.job));
            need.0 = need
                .0
                .saturating_add(file.end.saturating_sub(file.found))
                .saturating_add(file.rewritten);
            need.2 = need.2.min(file.job);
        }
        for ((device, filesystem), (needed, free, job)) in needs {
            let reserve = (free / RESERVE_PART).min(MAX_RESERVE_BYTES);
            if needed > 0 && needed > free.saturating_sub(reserve) {
                let place = device
                    .as_deref()
                    .or(filesystem.as_deref())
                    .unwrap_or("the filesystem");
                let sentence = format!(
                    "The files need {} on {place}, which has {} free.",
                    bytes(needed),
                    bytes(free)
                );
                let remedy = format!(
                    "Use at most {} ({} stay free), or another directory.",
                    bytes(free - reserve),
                    bytes(reserve)
                );
                notes.begin(job, &names[job]);
                notes.environment("disk_too_small", "size", sentence, remedy);
            }
        }
    }
}
