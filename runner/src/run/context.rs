//! State shared by all phases of a run.

use crate::{
    run::{error::RunError, event_sink::EventSink, stop_signal::StopSignal},
    system::{
        run_cgroup::RunCgroup,
        target::{Finish, Targets, cancellable::run_unless_stopped},
    },
};
use leadline_protocol::{
    phase::{Phase, PhaseState},
    plan::{Plan, job::ResolvedJob},
};
use std::io;

pub(crate) struct RunContext<'a, 'b> {
    pub plan: &'a mut Plan,
    pub targets: &'a mut Targets,
    pub sink: &'a mut EventSink<'b>,
    pub stop: &'a StopSignal,
    /// The run's control group, or why it has none.
    pub cgroup: Result<RunCgroup, String>,
    /// Maximum time to wait for idle devices; 0 starts the run immediately.
    pub idle_wait_ms: u64,
}

impl RunContext<'_, '_> {
    pub(crate) fn any_job(&self, condition: impl Fn(&ResolvedJob) -> bool) -> bool {
        self.plan.jobs.iter().any(condition)
    }

    pub(crate) fn run_in_phase<T>(
        &mut self,
        phase: Phase,
        work: impl FnOnce(&mut Self) -> Result<T, RunError>,
    ) -> Result<T, RunError> {
        if self.stop.is_requested() {
            return Err(RunError::Stopped);
        }
        self.sink.phase(phase, PhaseState::Begin);
        let result = work(self);
        self.sink.phase(phase, PhaseState::End);
        result
    }

    /// Runs blocking work that a stop does not wait for.
    pub(crate) fn cancellable<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<Option<T>> {
        run_unless_stopped(self.stop.flag(), work)
    }
}

pub(crate) fn unless_stopped(finish: Finish) -> Result<(), RunError> {
    match finish {
        Finish::Done => Ok(()),
        Finish::Stopped => Err(RunError::Stopped),
    }
}
