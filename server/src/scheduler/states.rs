//! A run's states: which may follow which, what the runner's events move, and how a run ends. Pure.
//!
//! `queued → preparing → measuring → finishing → done | failed | cancelled | interrupted`; any state may end early.

use leadline_protocol::event::EventBody;
use leadline_protocol::phase::{Phase, PhaseState};
use leadline_protocol::report::{EndedBy, Report};
use leadline_protocol::result::Failure;
use leadline_protocol::status::RunStatus;

/// Every state there is.
pub const ALL: [RunStatus; 8] = [
    RunStatus::Queued,
    RunStatus::Preparing,
    RunStatus::Measuring,
    RunStatus::Finishing,
    RunStatus::Done,
    RunStatus::Failed,
    RunStatus::Cancelled,
    RunStatus::Interrupted,
];

/// Whether `to` may follow `from`.
pub fn may_follow(from: RunStatus, to: RunStatus) -> bool {
    use RunStatus::{Cancelled, Done, Finishing, Interrupted, Measuring, Preparing, Queued};
    match (from, to) {
        (from, _) if from.is_final() => false,
        (Queued, to) => matches!(to, Preparing | Cancelled | Interrupted | RunStatus::Failed),
        (_, Queued | Preparing) => false,
        (Preparing, Measuring) | (Preparing | Measuring, Finishing) => true,
        (_, Measuring | Finishing) => false,
        // A run without a measured phase (every job ended at once) has its report all the same.
        (_, Done) => true,
        (_, to) => to.is_final(),
    }
}

/// The state that an event of the runner moves a run to, if any.
pub fn moved_by(status: RunStatus, body: &EventBody) -> Option<RunStatus> {
    let to = match body {
        EventBody::Phase(change) if change.phase == Phase::Measure => match change.state {
            PhaseState::Begin => RunStatus::Measuring,
            PhaseState::End => RunStatus::Finishing,
            PhaseState::Progress => return None,
        },
        _ => return None,
    };
    may_follow(status, to).then_some(to)
}

/// Who asked a run to stop.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Stop {
    /// Its owner.
    Cancel,
    /// The server, which stops itself.
    Server,
}

/// How the runner's process ended.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum Exit {
    /// With an exit code.
    Code(i32),
    /// By a signal.
    Signal(i32),
    /// It never began.
    NotStarted(String),
    /// It was killed and is still there: the kernel waits for an I/O of it.
    Unkillable,
}

/// All that is known when a run has ended.
#[derive(Debug)]
pub struct Ending<'a> {
    /// How the process ended.
    pub exit: Exit,
    /// Who asked it to stop.
    pub stop: Option<Stop>,
    /// Its report, if it came to one.
    pub report: Option<&'a Report>,
    /// Its failure, if it told one.
    pub failure: Option<&'a Failure>,
    /// What was wrong with the words it spoke.
    pub bad_line: Option<&'a str>,
    /// The last line it wrote to standard error.
    pub last_words: Option<&'a str>,
}

impl Ending<'_> {
    /// The final state, and why, where there is something to say.
    pub fn verdict(&self) -> (RunStatus, Option<String>) {
        if let Some(why) = self.bad_line {
            return (
                RunStatus::Failed,
                Some(format!("The runner was stopped: {why}")),
            );
        }
        match (self.report, self.stop) {
            // It was through before the stop reached it.
            (Some(report), _)
                if self.exit == Exit::Code(0) && report.ended_by != EndedBy::Signal =>
            {
                (RunStatus::Done, None)
            }
            (_, Some(Stop::Cancel)) => (RunStatus::Cancelled, Some(self.cancelled())),
            (_, Some(Stop::Server)) => (
                RunStatus::Interrupted,
                Some("The server was stopped.".into()),
            ),
            (Some(report), None) if report.ended_by == EndedBy::Signal => (
                RunStatus::Interrupted,
                Some("The runner was told to stop by somebody else than the server.".into()),
            ),
            (Some(report), None) => self.reported(report),
            (None, None) => (RunStatus::Failed, Some(self.failed())),
        }
    }

    fn cancelled(&self) -> String {
        match (self.exit.clone(), self.report) {
            (_, Some(_)) => "Cancelled; the report covers what was measured until then.".into(),
            (Exit::Signal(9) | Exit::Unkillable, None) => {
                "Cancelled; the runner did not stop by itself and was killed.".into()
            }
            _ => "Cancelled.".into(),
        }
    }

    fn reported(&self, report: &Report) -> (RunStatus, Option<String>) {
        match (&report.errors.first, &self.exit) {
            (_, Exit::Code(0)) => (RunStatus::Done, None),
            (Some(first), _) => {
                let sentence = format!(
                    "{} of {} bytes at {}: {}.",
                    first.operation, first.bytes, first.offset, first.message
                );
                (
                    RunStatus::Failed,
                    Some(format!("Job {}: {sentence}", first.job)),
                )
            }
            (None, exit) => (
                RunStatus::Failed,
                Some(format!(
                    "The runner {}, after its report{}",
                    exit_text(exit),
                    self.words()
                )),
            ),
        }
    }

    fn failed(&self) -> String {
        match (
            self.failure.and_then(|failure| failure.problems.first()),
            &self.exit,
        ) {
            (Some(first), _) => first.detail.clone(),
            (None, Exit::NotStarted(why)) => format!("The runner could not be started: {why}"),
            (None, exit) => format!(
                "The runner {} before its report{}",
                exit_text(exit),
                self.words()
            ),
        }
    }

    fn words(&self) -> String {
        self.last_words
            .map_or_else(|| ".".into(), |words| format!("; its last words: {words}"))
    }
}

fn exit_text(exit: &Exit) -> String {
    match exit {
        Exit::Code(code) => format!("ended with exit code {code}"),
        Exit::Signal(9) => "was killed (signal 9)".into(),
        Exit::Signal(signal) => format!("died of signal {signal}"),
        Exit::NotStarted(_) => "was not started".into(),
        Exit::Unkillable => "does not end although it was killed".into(),
    }
}

#[cfg(test)]
mod tests {
    use RunStatus::{
        Cancelled, Done, Failed, Finishing, Interrupted, Measuring, Preparing, Queued,
    };
    use leadline_protocol::phase::PhaseChange;
    use leadline_protocol::problem::Problem;

    use super::*;

    #[test]
    fn only_the_ways_of_the_contract_are_open() {
        let open = |from: RunStatus| {
            ALL.into_iter()
                .filter(|to| may_follow(from, *to))
                .collect::<Vec<_>>()
        };
        assert_eq!(open(Queued), [Preparing, Failed, Cancelled, Interrupted]);
        assert_eq!(
            open(Preparing),
            [Measuring, Finishing, Done, Failed, Cancelled, Interrupted]
        );
        assert_eq!(
            open(Measuring),
            [Finishing, Done, Failed, Cancelled, Interrupted]
        );
        assert_eq!(open(Finishing), [Done, Failed, Cancelled, Interrupted]);
        ALL.into_iter()
            .filter(|status| status.is_final())
            .for_each(|status| assert!(open(status).is_empty()));
    }

    #[test]
    fn the_measured_phase_moves_a_run() {
        let event = |phase, state| {
            EventBody::Phase(PhaseChange {
                phase,
                state,
                done_bytes: None,
                total_bytes: None,
                planned_ms: None,
                note: None,
            })
        };
        for (status, phase, state, expect) in [
            (Preparing, Phase::Layout, PhaseState::Begin, None),
            (
                Preparing,
                Phase::Measure,
                PhaseState::Begin,
                Some(Measuring),
            ),
            (Measuring, Phase::Measure, PhaseState::Begin, None),
            (Measuring, Phase::Measure, PhaseState::Progress, None),
            (Measuring, Phase::Measure, PhaseState::End, Some(Finishing)),
            (Finishing, Phase::Measure, PhaseState::Begin, None),
        ] {
            assert_eq!(
                moved_by(status, &event(phase, state)),
                expect,
                "{status:?} {phase:?} {state:?}"
            );
        }
    }

    fn check(
        exit: Exit,
        stop: Option<Stop>,
        failure: Option<&Failure>,
        bad_line: Option<&str>,
        expect: RunStatus,
        part: &str,
    ) {
        let last_words = Some("panicked");
        let (status, reason) = Ending {
            exit,
            stop,
            report: None,
            failure,
            bad_line,
            last_words,
        }
        .verdict();
        assert_eq!(status, expect);
        assert!(
            reason.as_deref().unwrap_or_default().contains(part),
            "{reason:?} has no {part}"
        );
    }

    #[test]
    fn endings_without_a_report() {
        let problems = vec![Problem::guard(
            "mounted",
            "jobs[0].filename",
            "/dev/vda is mounted.",
            "Use another.",
        )];
        let failure = Failure {
            exit_code: 3,
            problems,
        };
        check(
            Exit::Code(3),
            None,
            Some(&failure),
            None,
            Failed,
            "/dev/vda is mounted.",
        );
        check(
            Exit::Code(101),
            None,
            None,
            None,
            Failed,
            "exit code 101 before its report; its last words: panicked",
        );
        check(
            Exit::Code(0),
            None,
            None,
            None,
            Failed,
            "exit code 0 before its report",
        );
        check(
            Exit::Signal(9),
            None,
            None,
            None,
            Failed,
            "was killed (signal 9)",
        );
        check(
            Exit::NotStarted("no such file".into()),
            None,
            None,
            None,
            Failed,
            "no such file",
        );
        check(
            Exit::Code(143),
            Some(Stop::Cancel),
            None,
            None,
            Cancelled,
            "Cancelled.",
        );
        check(
            Exit::Signal(9),
            Some(Stop::Cancel),
            None,
            None,
            Cancelled,
            "was killed",
        );
        check(
            Exit::Unkillable,
            Some(Stop::Cancel),
            None,
            None,
            Cancelled,
            "was killed",
        );
        check(
            Exit::Code(143),
            Some(Stop::Server),
            None,
            None,
            Interrupted,
            "server was stopped",
        );
        check(
            Exit::Signal(9),
            Some(Stop::Server),
            None,
            Some("it spoke nonsense"),
            Failed,
            "nonsense",
        );
    }
}
