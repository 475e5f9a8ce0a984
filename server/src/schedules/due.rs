//! Decides what happens at the due times of a schedule. Pure: the clock is an argument.

mod passed;
mod state;

pub(crate) use state::{State, quiet_reason};

use crate::store::schedule_starts::{Decision, Start};
use leadline_protocol::schedule::StartResult;
use state::NOT_RUNNING;

/// A start delayed by more than this is a catch-up.
const LATE_MS: u64 = 60_000;
/// If the clock is set back by more than this, the time before the change is assumed to be wrong.
const MAX_SET_BACK_MS: u64 = 24 * 60 * 60 * 1000;

/// `None` if nothing is due.
pub(crate) fn decide(state: &State, now_ms: u64) -> Option<Decision> {
    if state.handled_until_ms > now_ms.saturating_add(MAX_SET_BACK_MS) {
        return Some(Decision {
            handled_until_ms: now_ms,
            starts: Vec::new(),
        });
    }
    let first = state.cron.next_after(state.handled_until_ms)?;
    if first > now_ms {
        return None;
    }
    let last = state.cron.last_until(now_ms)?;
    let mut starts = passed::results(state, first, last);
    starts.push(decide_latest(state, last, now_ms));
    Some(Decision {
        handled_until_ms: last,
        starts,
    })
}

fn decide_latest(state: &State, due_at_ms: u64, now_ms: u64) -> Start {
    // A catch-up runs now, which may be an hour or a month after its due time. Check both times.
    let quiet = quiet_reason(state, due_at_ms).or_else(|| quiet_reason(state, now_ms));
    if let Some(reason) = quiet {
        return Start::new(due_at_ms, StartResult::Skipped, Some(reason));
    }
    if let Some(active) = state.active {
        let reason = format!("The previous run is still active ({active}).");
        return Start::new(due_at_ms, StartResult::Missed, Some(reason));
    }
    let is_catch_up = now_ms.saturating_sub(due_at_ms) > LATE_MS;
    let reason = is_catch_up.then(|| NOT_RUNNING.into());
    Start {
        is_catch_up,
        ..Start::new(due_at_ms, StartResult::Pending, reason)
    }
}

#[cfg(test)]
mod tests;
