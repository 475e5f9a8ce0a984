//! Waits until the host is idle, so that a run does not measure I/O left over from the previous
//! one.

use crate::{
    plan::phases::has_storage,
    run::{context::RunContext, error::RunError},
    system::idle_probe::IdleProbe,
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

/// How long the devices must be idle without interruption.
const IDLE_TIME: Duration = Duration::from_millis(300);
const POLL_INTERVAL: Duration = Duration::from_millis(50);
/// Interval between progress events while the reason does not change.
const NOTE_INTERVAL: Duration = Duration::from_secs(1);

/// Waits up to `idle_wait_ms` until the target devices (kernel names) are idle. A run that begins
/// on a busy host gets a finding.
pub(super) fn wait_for_idle(run: &mut RunContext, devices: &[String]) -> Result<(), RunError> {
    if run.idle_wait_ms == 0 || !has_storage(&run.plan.jobs) {
        return Ok(());
    }
    let limit = Duration::from_millis(run.idle_wait_ms);
    let busy = run.run_in_phase(Phase::IdleWait, |run| wait(run, devices, limit))?;
    run.plan
        .findings
        .extend(busy.map(|reason| finding(&reason, limit)));
    Ok(())
}

/// Returns why the host is still busy; `None` if it is idle.
fn wait(
    run: &mut RunContext,
    devices: &[String],
    limit: Duration,
) -> Result<Option<String>, RunError> {
    let began = Instant::now();
    let mut probe = IdleProbe::new(devices);
    let mut idle_since = began;
    let mut noted: Option<(String, Instant)> = None;
    loop {
        if run.stop.is_requested() {
            return Err(RunError::Stopped);
        }
        sleep(POLL_INTERVAL);
        let now = Instant::now();
        let Some(reason) = probe.busy_reason() else {
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
                .phase_note(Phase::IdleWait, PhaseState::Progress, Some(note));
            noted = Some((reason, now));
        }
    }
}

fn finding(reason: &str, limit: Duration) -> Finding {
    let waited = duration(limit.as_secs_f64() * 1e3);
    Finding {
        code: "busy_at_start".into(),
        severity: Severity::Warning,
        sentence: format!(
            "The host was busy when the run began: after {waited}, {reason}. I/O from outside the run may affect the result."
        ),
        evidence: [("waited_ms".to_owned(), json!(limit.as_millis() as u64))].into(),
        remedy: "Stop other programs that use the device, or increase idle_wait_seconds.".into(),
        patch: None,
        patch_label: None,
        command: None,
    }
}
