//! The files of a run after its measurement: marked as owned, detached from loop devices, removed
//! with `unlink=1`.

use crate::{run::event_sink::EventSink, system::target::Targets};
use leadline_protocol::{
    phase::{Phase, PhaseState},
    plan::Plan,
    problem::Problem,
};
use std::{
    sync::mpsc::{RecvTimeoutError, channel},
    thread::Builder,
    time::Duration,
};

/// Time for storage that did not respond at the end of the measurement.
const HUNG_TIMEOUT: Duration = Duration::from_millis(200);

/// `is_hung`: the storage does not respond; the run does not wait for it.
///
/// # Errors
/// `clean_up_failed` if a file of the run remains.
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
        within_timeout(work)
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

fn within_timeout(
    work: impl FnOnce() -> Result<usize, Problem> + Send + 'static,
) -> Result<usize, Problem> {
    let (sender, receiver) = channel();
    let thread = Builder::new().name("clean-up".into());
    let problem = |detail: &str| {
        Problem::environment(
            "clean_up_failed",
            "unlink",
            detail,
            "Remove the files of the run when the storage responds again.",
        )
    };
    thread
        .spawn(move || drop(sender.send(work())))
        .map_err(|error| problem(&format!("A thread could not be started: {error}.")))?;
    receiver.recv_timeout(HUNG_TIMEOUT).unwrap_or_else(|error| {
        Err(problem(match error {
            RecvTimeoutError::Timeout => {
                "The files of the run were not removed, because the storage does not respond."
            }
            RecvTimeoutError::Disconnected => "Removing the files of the run failed.",
        }))
    })
}
