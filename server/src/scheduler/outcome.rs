//! Determines the final status of a run and the reason. Pure.

mod reasons;

use crate::scheduler::outcome::reasons::{damage_reason, signal_text, stall_reason};
use leadline_protocol::{
    report::{EndedBy, Report},
    result::Failure,
    status::RunStatus,
};

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum StopRequest {
    /// Requested by the user.
    Cancel,
    /// The server is shutting down.
    Shutdown,
}

/// How the runner process exited.
#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) enum RunnerExit {
    Code(i32),
    Signal(i32),
    NotStarted(String),
    /// Still running after SIGKILL, because an I/O is stuck in the kernel.
    Unkillable,
}

/// Inputs that determine a run's final status, collected after its runner has exited.
#[derive(Debug)]
pub(crate) struct RunEnd<'a> {
    pub exit: RunnerExit,
    pub stop: Option<StopRequest>,
    pub report: Option<&'a Report>,
    pub failure: Option<&'a Failure>,
    /// Why a runner event was invalid.
    pub protocol_error: Option<&'a str>,
    /// Last line of stderr.
    pub stderr_tail: Option<&'a str>,
    /// Whether the kernel killed a process during the run because memory was exhausted.
    pub out_of_memory: bool,
}

impl RunEnd<'_> {
    /// Final status and reason.
    pub(crate) fn final_status(&self) -> (RunStatus, Option<String>) {
        use RunStatus::{Cancelled, Done, Failed, Interrupted};
        if let Some(error) = self.protocol_error {
            return (Failed, Some(format!("The runner was stopped: {error}.")));
        }
        let signalled = self
            .report
            .is_some_and(|report| report.ended_by == Some(EndedBy::Signal));
        let stalled = self.report.and_then(Report::stalled_job).is_some();
        let damaged = self.report.and_then(Report::damaged_job).is_some();
        let violated = self.report.and_then(Report::violated_limit).is_some();
        let is_sound = !signalled && !stalled && !damaged && !violated;
        let succeeded = self.exit == RunnerExit::Code(0) && is_sound;
        match (self.report, self.stop) {
            // A stop request that arrived after the run had ended has no effect.
            (Some(_), _) if succeeded => (Done, None),
            (_, Some(StopRequest::Cancel)) => (Cancelled, Some(self.cancel_reason())),
            (_, Some(StopRequest::Shutdown)) => {
                (Interrupted, Some("The server was stopped.".into()))
            }
            (Some(_), None) if signalled => {
                let reason = "The runner was stopped by a signal that the server did not send.";
                (Interrupted, Some(reason.into()))
            }
            (Some(report), None) => (Failed, Some(self.error_reason(report))),
            (None, None) => (Failed, Some(self.failure_reason())),
        }
    }

    fn cancel_reason(&self) -> String {
        let killed = matches!(self.exit, RunnerExit::Signal(9) | RunnerExit::Unkillable);
        let reason = match self.report {
            Some(_) => "Cancelled. The report covers the time up to that point.",
            None if killed => "Cancelled. The runner did not stop in time and was killed.",
            None => "Cancelled.",
        };
        reason.into()
    }

    /// Why a run with a report failed.
    fn error_reason(&self, report: &Report) -> String {
        if let Some(first) = &report.errors.first {
            return format!(
                "Job {}: {} of {} bytes at offset {}: {}.",
                first.job, first.operation, first.bytes, first.offset, first.message
            );
        }
        if let Some((job, verify)) = report.damaged_job() {
            return damage_reason(job, verify);
        }
        if let Some((job, violated)) = report.violated_limit() {
            return format!("Job {}: {}", job.name, violated.summary);
        }
        match report.stalled_job() {
            Some((job, stalls)) => stall_reason(job, stalls),
            None => format!("The runner failed after its report: {}", self.exit_text()),
        }
    }

    /// Why a run without a report failed.
    fn failure_reason(&self) -> String {
        if let Some(problem) = self.failure.and_then(|failure| failure.problems.first()) {
            return problem.detail.clone();
        }
        match &self.exit {
            RunnerExit::NotStarted(error) => format!("The runner could not be started: {error}"),
            _ => {
                let remedy = self.exit_remedy();
                format!("The runner sent no report: {} {remedy}", self.exit_text())
            }
        }
    }

    /// What the user can do about a runner that ended without a report.
    fn exit_remedy(&self) -> &'static str {
        match self.exit {
            RunnerExit::Signal(9) if self.out_of_memory => {
                "Free memory, or reduce iodepth, bs or numjobs, then rerun."
            }
            RunnerExit::Signal(9 | 15) => {
                "The server did not send this signal. Find out who did (see the kernel log and the \
                 service's log), then rerun."
            }
            RunnerExit::Unkillable => "Check the kernel log for a device that does not respond.",
            _ => "This can be an error in Leadline. Please report it, with the server's log.",
        }
    }

    fn exit_text(&self) -> String {
        let exit = match &self.exit {
            RunnerExit::Code(code) => format!("exit code {code}"),
            RunnerExit::Signal(signal) => {
                let killer = match self.out_of_memory && *signal == 9 {
                    true => " while the kernel was killing processes because memory was exhausted",
                    false => "",
                };
                format!("killed by {}{killer}", signal_text(*signal))
            }
            RunnerExit::NotStarted(_) => "not started".into(),
            RunnerExit::Unkillable => "still running after SIGKILL".into(),
        };
        match self.stderr_tail {
            Some(line) => format!("{exit}; last stderr line: {line}."),
            None => format!("{exit}."),
        }
    }
}

#[cfg(test)]
mod tests;
