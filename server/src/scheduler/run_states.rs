//! Status transitions of runs. Pure.
//!
//! `queued → preparing → measuring → finishing → done | failed | cancelled | interrupted`; a run
//! may end from any status.

use leadline_protocol::{
    event::EventBody,
    phase::{Phase, PhaseState},
    status::RunStatus,
};

pub(crate) fn can_follow(from: RunStatus, to: RunStatus) -> bool {
    use RunStatus::{Done, Finishing, Measuring, Preparing, Queued};
    match (from, to) {
        (from, _) if from.is_final() => false,
        (_, Queued) | (Queued, Done) => false,
        (from, Preparing) => from == Queued,
        (from, Measuring) => from == Preparing,
        (from, Finishing) => matches!(from, Preparing | Measuring),
        // `done` is also reachable from `preparing`: a run whose jobs end immediately has a report
        // but no measured phase.
        (_, to) => to.is_final(),
    }
}

/// Returns the status after a runner event, if it changes.
pub(crate) fn status_after(status: RunStatus, body: &EventBody) -> Option<RunStatus> {
    let EventBody::Phase(change) = body else {
        return None;
    };
    let to = match (change.phase, change.state) {
        (Phase::Measure, PhaseState::Begin) => RunStatus::Measuring,
        (Phase::Measure, PhaseState::End) => RunStatus::Finishing,
        _ => return None,
    };
    can_follow(status, to).then_some(to)
}

#[cfg(test)]
mod tests {
    use RunStatus::{
        Cancelled, Done, Failed, Finishing, Interrupted, Measuring, Preparing, Queued,
    };
    use leadline_protocol::phase::PhaseChange;

    use super::*;

    const ALL: [RunStatus; 8] = [
        Queued,
        Preparing,
        Measuring,
        Finishing,
        Done,
        Failed,
        Cancelled,
        Interrupted,
    ];

    #[test]
    fn allowed_transitions() {
        let check = |from, expect: &[RunStatus]| {
            let allowed: Vec<_> = ALL.into_iter().filter(|to| can_follow(from, *to)).collect();
            assert_eq!(allowed, expect, "{from:?}");
        };
        check(Queued, &[Preparing, Failed, Cancelled, Interrupted]);
        check(
            Preparing,
            &[Measuring, Finishing, Done, Failed, Cancelled, Interrupted],
        );
        check(
            Measuring,
            &[Finishing, Done, Failed, Cancelled, Interrupted],
        );
        check(Finishing, &[Done, Failed, Cancelled, Interrupted]);
        for status in [Done, Failed, Cancelled, Interrupted] {
            check(status, &[]);
        }
    }

    #[test]
    fn measured_phase_changes_status() {
        let check = |status, phase, state, expect| {
            let event = EventBody::Phase(PhaseChange {
                phase,
                state,
                done_bytes: None,
                total_bytes: None,
                planned_ms: None,
                note: None,
            });
            let after = status_after(status, &event);
            assert_eq!(after, expect, "{status:?} {phase:?} {state:?}");
        };
        check(Preparing, Phase::Layout, PhaseState::Begin, None);
        check(
            Preparing,
            Phase::Measure,
            PhaseState::Begin,
            Some(Measuring),
        );
        check(Measuring, Phase::Measure, PhaseState::Begin, None);
        check(Measuring, Phase::Measure, PhaseState::Progress, None);
        check(Measuring, Phase::Measure, PhaseState::End, Some(Finishing));
        check(Finishing, Phase::Measure, PhaseState::Begin, None);
    }
}
