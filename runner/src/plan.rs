//! Job + host → plan: every default resolved, every problem worded with its remedy. After it no `Option` means
//! "default". Pure: what it must know of the host is handed to it.
//!
//! `resolve` is the table of contents. A job goes through `asked` (direct, engine, clones), `bounds`, `sizes`, `paths`,
//! `regions`, `alignment` and `layout`, and `settle` puts it together; then the run is looked at as a whole.

pub(crate) mod alignment;
pub(crate) mod asked;
pub(crate) mod bounds;
pub(crate) mod defaults;
pub(crate) mod findings;
#[cfg(test)]
pub(crate) mod fixture;
pub mod host_view;
pub(crate) mod layout;
pub(crate) mod ledger;
pub(crate) mod memory;
pub(crate) mod names;
pub(crate) mod notes;
pub(crate) mod paths;
pub(crate) mod phases;
pub(crate) mod regions;
pub(crate) mod settle;
pub(crate) mod sizes;
pub(crate) mod state;
pub(crate) mod study;
pub(crate) mod tell;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod unused;

use crate::plan::asked::{Asked, MAX_CLONES};
use crate::plan::host_view::HostView;
use crate::plan::ledger::Ledger;
use crate::plan::notes::Notes;
use leadline_protocol::job::parse::RunSpec;
use leadline_protocol::plan::Plan;
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::problem::Problem;

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
