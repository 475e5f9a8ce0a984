//! The few things of a job that the rest of its resolution hangs on: what it does, through which engine, past the
//! page cache or not, and how many clones do it.

use crate::plan::defaults::said;
use crate::plan::host_view::HostView;
use crate::plan::notes::Notes;
use leadline_protocol::finding::Severity;
use leadline_protocol::job::Job;
use leadline_protocol::job::value::{EngineName, Fallback, Rw};

/// The most clones of one run: each is a thread with a ring and a histogram of its own.
pub(crate) const MAX_CLONES: u32 = 1024;

/// Since when an empty entry completes with the result that it asks for (IORING_NOP_INJECT_RESULT, linux/io_uring.h). Before, each
/// one completes with 0: an I/O that moved nothing, and failed.
const NOP_WITH_RESULT: (u32, u32) = (6, 10);

/// A job, and what it comes down to first.
#[derive(Debug)]
pub(crate) struct Asked<'a> {
    /// As asked.
    pub job: &'a Job,
    /// Its own name in the run.
    pub name: String,
    /// Its pattern.
    pub rw: Rw,
    /// Past the page cache.
    pub direct: bool,
    /// The engine that will do it.
    pub engine: EngineName,
    /// Clones.
    pub numjobs: u32,
}

impl<'a> Asked<'a> {
    /// Settles these first.
    pub fn settle(job: &'a Job, name: String, host: &dyn HostView, notes: &mut Notes) -> Self {
        let engine = engine(job, host, notes);
        let direct = direct(job, engine, notes);
        Self {
            job,
            name,
            rw: said!(job, rw),
            direct,
            engine,
            numjobs: numjobs(job, notes),
        }
    }

    /// The length that each file is to have, where that is said.
    pub fn filesize(&self) -> Option<u64> {
        self.job
            .filesize
            .map(|bytes| bytes.0)
            .filter(|bytes| *bytes > 0)
    }

    /// Whether nothing is touched at all.
    pub fn is_null(&self) -> bool {
        self.engine.is_null()
    }
}

fn engine(job: &Job, host: &dyn HostView, notes: &mut Notes) -> EngineName {
    let asked = said!(job, ioengine);
    check_kernel(asked, host, notes);
    let Some((reason, remedy)) = host.io_uring_unavailable().filter(|_| asked.has_ring()) else {
        return asked;
    };
    if said!(job, ioengine_fallback) == Fallback::Psync {
        let sentence =
            format!("psync does the I/O, one at a time, because io_uring is refused: {reason}");
        notes.mind(Severity::Serious, "engine_fallback", sentence, &[], &remedy);
        return EngineName::Psync;
    }
    let remedy = format!(
        "{remedy} Or write ioengine=psync, or ioengine_fallback=psync to have it chosen where needed."
    );
    notes.environment("io_uring_unavailable", "ioengine", reason, remedy);
    asked
}

fn check_kernel(asked: EngineName, host: &dyn HostView, notes: &mut Notes) {
    let older = host
        .kernel_version()
        .filter(|version| asked == EngineName::IoUringNop && *version < NOP_WITH_RESULT);
    if let Some((major, minor)) = older {
        let (needed_major, needed_minor) = NOP_WITH_RESULT;
        let sentence = format!(
            "ioengine=io_uring_nop needs Linux {needed_major}.{needed_minor}, this is {major}.{minor}."
        );
        let remedy = "Use a newer kernel, or ioengine=null for what the runner itself takes.";
        notes.environment("kernel_too_old", "ioengine", sentence, remedy);
    }
}

fn direct(job: &Job, engine: EngineName, notes: &mut Notes) -> bool {
    if job.direct.is_none() && !engine.is_null() {
        let remedy =
            "Write direct=1 to go past the page cache (O_DIRECT), or direct=0 to go through it.";
        notes.invalid(
            "direct_not_said",
            "direct",
            "Whether the page cache takes part must be said: there is no default.",
            remedy,
        );
    }
    job.direct.is_some_and(|direct| direct.0)
}

fn numjobs(job: &Job, notes: &mut Notes) -> u32 {
    let numjobs = said!(job, numjobs);
    if !(1..=MAX_CLONES).contains(&numjobs) {
        let remedy = format!("Use 1 to {MAX_CLONES}: each clone is a thread.");
        notes.invalid(
            "out_of_range",
            "numjobs",
            format!("numjobs={numjobs} cannot be run."),
            remedy,
        );
    }
    numjobs.clamp(1, MAX_CLONES)
}
