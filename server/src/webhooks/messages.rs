//! Builds message contents. Pure.

use crate::store::schedule_starts::{ActiveStart, Start};
use leadline_protocol::{
    schedule::StartResult,
    study::summary::StudyStatus,
    trend::{TrendSeries, TrendState},
    webhook::{
        MissedStart, ScheduledRunFailure, TrendStateChange, WebhookData, WebhookEvent,
        WebhookMessage,
    },
};

const SCHEDULES: &str = "/schedules";

pub(crate) fn test_message(at_ms: u64) -> WebhookMessage {
    WebhookMessage {
        event: WebhookEvent::Test,
        at_ms,
        text: "This is a test message from Leadline.".into(),
        data: WebhookData::Test {},
    }
}

/// Returns `None` if the start was neither missed nor skipped.
pub(crate) fn missed_start(
    (schedule, name): (u64, &str),
    start: &Start,
    at_ms: u64,
) -> Option<WebhookMessage> {
    if !matches!(start.result, StartResult::Missed | StartResult::Skipped) {
        return None;
    }
    let result = start.result.as_str();
    let what = match start.count {
        1 => format!("Schedule {name} {result} a start."),
        count => format!("Schedule {name} {result} {count} starts."),
    };
    let reason = start.reason.as_deref().unwrap_or_default();
    Some(WebhookMessage {
        event: WebhookEvent::ScheduleStartMissed,
        at_ms,
        text: format!("{what} {reason}").trim().to_owned(),
        data: WebhookData::Missed(MissedStart {
            schedule,
            name: name.into(),
            due_at_ms: start.due_at_ms,
            count: start.count,
            result: start.result,
            path: SCHEDULES.into(),
        }),
    })
}

/// `status`: `None` if the document was rejected.
pub(crate) fn run_failed(
    name: &str,
    start: &ActiveStart,
    status: Option<StudyStatus>,
    reason: Option<&str>,
    at_ms: u64,
) -> WebhookMessage {
    let (what, path) = match (start.run, start.study) {
        (_, Some(study)) => (format!("study #{study} "), format!("/studies/{study}")),
        (Some(run), None) => (format!("run #{run} "), format!("/runs/{run}")),
        (None, None) => (String::new(), SCHEDULES.into()),
    };
    let status_text = status.map_or("rejected", StudyStatus::as_str);
    let reason = reason.unwrap_or_default();
    let text = format!("Schedule {name}: {what}{status_text}. {reason}");
    WebhookMessage {
        event: WebhookEvent::ScheduleRunFailed,
        at_ms,
        text: text.trim().to_owned(),
        data: WebhookData::Run(ScheduledRunFailure {
            schedule: start.schedule,
            name: name.into(),
            due_at_ms: start.due_at_ms,
            run: start.run,
            study: start.study,
            status,
            path,
        }),
    }
}

pub(crate) fn trend_changed(
    series: &TrendSeries,
    before: TrendState,
    after: TrendState,
    at_ms: u64,
) -> WebhookMessage {
    let name = &series.newest_run.name;
    let host = series.hostname.as_deref();
    let host = host.map_or(String::new(), |host| format!(" on {host}"));
    let (old, new) = (spell_out(before), spell_out(after));
    let reason = series.state.as_ref().map_or("", |state| &state.reason);
    let path = format!(
        "/trends/{}/{}",
        series.job_fingerprint, series.machine_fingerprint
    );
    WebhookMessage {
        event: WebhookEvent::TrendStateChanged,
        at_ms,
        text: format!("{name}{host}: {new} (was {old}). {reason}"),
        data: WebhookData::Trend(TrendStateChange {
            job_fingerprint: series.job_fingerprint.clone(),
            machine_fingerprint: series.machine_fingerprint.clone(),
            hostname: series.hostname.clone(),
            name: name.clone(),
            newest_run: series.newest_run.number,
            before,
            after,
            path,
        }),
    }
}

fn spell_out(state: TrendState) -> String {
    state.as_str().replace('_', " ")
}
