//! Job + host → plan: every default resolved, every problem worded with its remedy. After it no `Option` means
//! "default". Pure: what it must know of the host is handed to it.
//!
//! `resolve` is the table of contents. A job goes through `asked` (direct, engine, clones), `bounds`, `sizes`, `paths`,
//! `regions`, `alignment` and `layout`, and `settle` puts it together; then the run is looked at as a whole.

mod alignment;
mod asked;
mod bounds;
mod defaults;
mod findings;
#[cfg(test)]
pub(crate) mod fixture;
mod layout;
mod ledger;
mod memory;
mod names;
mod notes;
mod paths;
mod phases;
mod regions;
mod resolved;
mod settle;
mod sizes;
mod state;
mod tell;
#[cfg(test)]
pub(crate) mod tests;
mod unused;
mod view;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::event::Phase;
use crate::job::RunSpec;
use crate::problem::Problem;
use crate::report::Finding;

use asked::{Asked, MAX_CLONES};
use ledger::Ledger;
use notes::Notes;

pub(crate) use findings::SHORT_RUN_MS;
pub(crate) use phases::{late_ramps, window_begin_ms, window_ms};
pub use resolved::{BlockSizes, Mode, ResolvedJob, Target, TargetKind};
pub use view::{DirectAlignment, HostView, PathFacts, PathKind};

/// What would happen if this were run on that host. Nothing is touched; what is in the way stands in `problems`, all of
/// it at once.
pub fn resolve(ask: &RunSpec, host: &dyn HostView) -> Plan {
    let mut notes = Notes::default();
    let names = names::distinct(&ask.jobs, &mut notes);
    let mut jobs = resolve_jobs(ask, &names, host, &mut notes);
    memory::register(&mut jobs, &ask.jobs, host);
    memory::check(&jobs, host, &mut notes);
    check_clones(&jobs, &mut notes);
    state::check_shared(&jobs, &mut notes);
    check_devices(&ask.devices, &jobs, &mut notes);
    let is_whole = jobs.len() == ask.jobs.len() && !notes.has_invalid();
    let jobs: Vec<ResolvedJob> = jobs
        .into_iter()
        .map(|(_, job)| job)
        .filter(|_| is_whole)
        .collect();
    findings::mind_ramps(&jobs, &mut notes);
    Plan {
        sample_ms: ask.sample_ms,
        phases: phases::phases(&jobs),
        estimate: phases::estimate(&jobs),
        measures: tell::measures(&jobs),
        findings: notes.findings,
        problems: notes.problems,
        jobs,
    }
}

/// Refuses devices that are not those which were meant when the run was asked for: names move while a run waits.
fn check_devices(meant: &[String], jobs: &[(usize, ResolvedJob)], notes: &mut Notes) {
    for (number, job) in jobs.iter().filter(|_| !meant.is_empty()) {
        for target in &job.targets {
            let Some(now) = target
                .known_as()
                .filter(|now| meant.iter().all(|device| device != now))
            else {
                continue;
            };
            notes.begin(*number, &job.name);
            let sentence = format!(
                "{} is {now} now; this was asked for with {}.",
                target.path,
                meant.join(", ")
            );
            let remedy = "Ask for it again if what is there now is meant.";
            notes.refuse(
                Problem::guard("identity_changed", "filename", sentence, remedy),
                "filename",
            );
        }
    }
}

/// The jobs that come out, with their numbers in the run.
fn resolve_jobs(
    ask: &RunSpec,
    names: &[String],
    host: &dyn HostView,
    notes: &mut Notes,
) -> Vec<(usize, ResolvedJob)> {
    let mut ledger = Ledger::default();
    let mut jobs = Vec::new();
    for (number, (job, name)) in ask.jobs.iter().zip(names).enumerate() {
        notes.begin(number, name);
        let told = state::apply(job, notes);
        let asked = Asked::settle(&told, name.clone(), host, notes);
        if let Some(resolved) = settle::job(&asked, number, host, &mut ledger, notes) {
            unused::check(job, &resolved, notes);
            findings::gather(&resolved, host, notes);
            jobs.push((number, resolved));
        }
    }
    ledger.check_space(names, notes);
    jobs
}

fn check_clones(jobs: &[(usize, ResolvedJob)], notes: &mut Notes) {
    let clones: u64 = jobs.iter().map(|(_, job)| u64::from(job.numjobs)).sum();
    if let Some((number, job)) = jobs.last().filter(|_| clones > u64::from(MAX_CLONES)) {
        notes.begin(*number, &job.name);
        let remedy = format!("Use at most {MAX_CLONES} clones over all jobs.");
        notes.invalid(
            "out_of_range",
            "numjobs",
            format!("The jobs of the run have {clones} clones together."),
            remedy,
        );
    }
}

/// What would happen; the same for the dry run and the run.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Plan {
    /// The jobs as resolved; empty when one of them could not be.
    pub jobs: Vec<ResolvedJob>,
    /// The sampling grid in milliseconds.
    pub sample_ms: u32,
    /// The phases to come, in order.
    pub phases: Vec<PlannedPhase>,
    /// How long it will take and what it will write.
    pub estimate: Estimate,
    /// What the number will tell, in one sentence.
    pub measures: String,
    /// What to mind.
    pub findings: Vec<Finding>,
    /// What is in the way; empty when the run may start.
    pub problems: Vec<Problem>,
}

impl Plan {
    /// The plan of a run that could not even be read.
    pub fn refused(problems: Vec<Problem>) -> Self {
        let estimate = Estimate {
            seconds: None,
            seconds_note: None,
            layout_bytes: 0,
            measure_write_bytes: None,
            buffer_bytes: 0,
        };
        Self {
            jobs: Vec::new(),
            sample_ms: 0,
            phases: Vec::new(),
            estimate,
            measures: String::new(),
            findings: Vec::new(),
            problems,
        }
    }
}

/// A phase to come.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct PlannedPhase {
    /// Which.
    pub phase: Phase,
    /// How long it will take in seconds; null when that is not known before.
    pub seconds: Option<f64>,
    /// Bytes it will write, where it writes.
    pub write_bytes: Option<u64>,
}

/// What a run will cost.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Estimate {
    /// Seconds from start to report; null when size, not time, ends it.
    pub seconds: Option<f64>,
    /// Why `seconds` is null or only a bound.
    pub seconds_note: Option<String>,
    /// Bytes that laying out files writes.
    pub layout_bytes: u64,
    /// The most bytes that the measurement writes; null when only time bounds it.
    pub measure_write_bytes: Option<u64>,
    /// Memory for I/O buffers in bytes.
    pub buffer_bytes: u64,
}
