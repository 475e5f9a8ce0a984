//! Waits until the host is settled, so that a run does not measure what the previous one left.

use crate::{
    plan::phases::can_settle,
    run::{context::RunContext, error::RunError},
    system::settle::SettleProbe,
};
use leadline_protocol::{
    finding::{Finding, Severity},
    format::duration,
    phase::{Phase, PhaseState},
};
use serde_json::json;
use std::{
    thread::sleep,
    time::{Duration, Instant},
};

/// The devices must be idle for this time without interruption.
const IDLE_TIME: Duration = Duration::from_millis(300);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Interval between progress events with the same reason.
const NOTE_INTERVAL: Duration = Duration::from_secs(1);

/// Waits at most `settle_ms`. A run that begins unsettled gets a finding.
pub(super) fn settle(run: &mut RunContext) -> Result<(), RunError> {
    if run.settle_ms == 0 || !can_settle(&run.plan.jobs) {
        return Ok(());
    }
    let limit = Duration::from_millis(run.settle_ms);
    let unsettled = run.in_phase(Phase::Settle, |run| wait(run, limit))?;
    run.plan
        .findings
        .extend(unsettled.map(|reason| finding(&reason, limit)));
    Ok(())
}

/// Returns why the host was not settled at the end.
fn wait(run: &mut RunContext, limit: Duration) -> Result<Option<String>, RunError> {
    let began = Instant::now();
    let mut probe = SettleProbe::new(&super::phases::devices(&run.plan.jobs));
    let mut idle_since = began;
    let mut noted: Option<(String, Instant)> = None;
    loop {
        if run.stop.is_requested() {
            return Err(RunError::Stopped);
        }
        sleep(POLL_INTERVAL);
        let now = Instant::now();
        let Some(reason) = probe.unsettled() else {
            if now - idle_since >= IDLE_TIME {
                return Ok(None);
            }
            continue;
        };
        idle_since = now;
        if now - began >= limit {
            return Ok(Some(reason));
        }
        let is_known =
            |(text, at): &(String, Instant)| *text == reason && now - *at < NOTE_INTERVAL;
        if !noted.as_ref().is_some_and(is_known) {
            let left = duration((limit - (now - began)).as_secs_f64() * 1e3);
            let note = format!("{reason}; at most {left} left");
            run.sink
                .phase_note(Phase::Settle, PhaseState::Progress, Some(note));
            noted = Some((reason, now));
        }
    }
}

fn finding(reason: &str, limit: Duration) -> Finding {
    let waited = duration(limit.as_secs_f64() * 1e3);
    Finding {
        code: "unsettled".into(),
        severity: Severity::Warning,
        sentence: format!(
            "The host was not settled when the run began: after {waited}, {reason}. I/O that does not belong to the run may affect the result."
        ),
        evidence: [("waited_ms".to_owned(), json!(limit.as_millis() as u64))].into(),
        remedy: "Stop other programs that use the device, or increase settle_seconds.".into(),
        patch: None,
        patch_label: None,
    }
}
