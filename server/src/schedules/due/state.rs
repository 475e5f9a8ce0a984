//! Inputs for the decision at a due time, and quiet hours. Pure.

use crate::schedules::{
    cron::ZonedCron,
    quiet::{quiet_at, reason},
};
use leadline_protocol::schedule::QuietHours;

pub(super) const NOT_RUNNING: &str = "The server was not running, or the host was suspended.";

/// Inputs for the decision at a due time.
pub(crate) struct State<'a> {
    pub cron: &'a ZonedCron,
    pub quiet_hours: &'a [QuietHours],
    pub handled_until_ms: u64,
    /// The run or study that was started previously, if it is still active, such as `study #12`.
    pub active: Option<&'a str>,
}

/// Why the schedule starts no run at this time.
pub(crate) fn quiet_reason(state: &State, at_ms: u64) -> Option<String> {
    let local = state.cron.local(at_ms)?;
    quiet_at(state.quiet_hours, &local).map(reason)
}
