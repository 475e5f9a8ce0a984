//! Cleans up a run's files after the measurement: marks them as owned, detaches them from loop
//! devices, and removes them if `unlink=1` is set.

use crate::{
    run::event_sink::EventSink,
    system::target::{
        Targets,
        cancellable::{HUNG_TIMEOUT, run_with_timeout},
    },
};
use leadline_protocol::{
    phase::{Phase, PhaseState},
    plan::Plan,
    problem::Problem,
};

/// `is_hung`: whether the storage does not respond. If so, the run does not wait for it.
///
/// # Errors
/// `clean_up_failed` if any of the run's files was not removed.
pub(crate) fn clean_up(
    plan: &Plan,
    mut targets: Targets,
    sink: &mut EventSink,
    is_hung: bool,
) -> Result<(), Problem> {
    let removes_files = plan.jobs.iter().any(|job| job.target.unlink);
    let mut work = move || {
        targets.mark_owned();
        targets.detach_loops();
        targets.clean_up()
    };
    if removes_files {
        sink.phase(Phase::CleanUp, PhaseState::Begin);
    }
    let removed = if is_hung {
        run_with_timeout(HUNG_TIMEOUT, "clean-up", work)
            .unwrap_or_else(|| Err(not_removed_problem()))
    } else {
        work()
    };
    if removes_files {
        let files = removed.as_ref().ok();
        let note = files.map(|files| format!("{files} files removed"));
        sink.phase_note(Phase::CleanUp, PhaseState::End, note);
    }
    match removed {
        Err(problem) if removes_files => Err(problem),
        _ => Ok(()),
    }
}

fn not_removed_problem() -> Problem {
    Problem::environment(
        "clean_up_failed",
        "unlink",
        "The run's files were not removed, because the storage does not respond.",
        "Remove the files once the storage responds again.",
    )
}
