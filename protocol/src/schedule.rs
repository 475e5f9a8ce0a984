//! Schedules: runs and studies that start at due times.

use crate::{
    limits::{CronExpression, LocalTime, Tags, Title},
    named_enum::named_enum,
    study::summary::StudyStatus,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// Body of `POST /schedules`, `PUT /schedules/{n}` and `POST /schedules/plan`.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct ScheduleRequest {
    #[schema(value_type = Title)]
    pub name: String,
    /// Minute, hour, day of the month, month and day of the week, such as `30 2 * * *`. The
    /// syntax follows cron(5), without `@reboot`.
    #[schema(value_type = CronExpression)]
    pub cron: String,
    /// Name in the IANA time zone database. Default: `UTC`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub time_zone: Option<String>,
    /// Body of `POST /runs` or `POST /studies`. It must not require a confirmation.
    #[schema(value_type = Object)]
    pub document: Value,
    /// Tags of all runs, in addition to the tags in the document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Tags)]
    pub tags: Vec<String>,
    /// Local times at which no runs start. They must not cover all due times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(max_items = 10)]
    pub quiet_hours: Vec<QuietHours>,
    /// Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub enabled: Option<bool>,
}

/// A daily period in local time. It ends on the next day if `to` is not after `from`.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct QuietHours {
    /// `HH:MM`, inclusive.
    #[schema(value_type = LocalTime)]
    pub from: String,
    /// `HH:MM`, exclusive.
    #[schema(value_type = LocalTime)]
    pub to: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ScheduleList {
    /// Oldest first.
    pub schedules: Vec<Schedule>,
    /// Numbers of the schedules whose stored data cannot be read. They start nothing, and can only
    /// be deleted.
    pub damaged: Vec<u64>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Schedule {
    pub number: u64,
    pub name: String,
    pub cron: String,
    pub time_zone: String,
    #[schema(value_type = Object)]
    pub document: Value,
    pub tags: Vec<String>,
    pub quiet_hours: Vec<QuietHours>,
    pub enabled: bool,
    pub created_at_ms: u64,
    /// The next due time outside quiet hours; null if the schedule is disabled or has none.
    pub next_start_ms: Option<u64>,
    /// The next three due times. Fewer if there are no more; none if the schedule is disabled.
    pub next: Vec<DueTime>,
    /// Number of missed due times in the last 30 days.
    pub missed: u64,
    /// The latest due times, newest first. Consecutive missed due times are one entry.
    pub starts: Vec<ScheduleStart>,
}

named_enum! {
    names: "snake_case";
    /// Result of a scheduled start.
    pub enum StartResult {
        /// The run is about to be queued.
        Pending,
        /// The run or study was queued.
        Started,
        /// The server was not running, the queue was full, or the previous run was still active.
        Missed,
        /// In quiet hours.
        Skipped,
        /// The document was rejected, for example because a file no longer exists.
        Rejected,
    }
}

/// One or more due times and their result.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ScheduleStart {
    /// The due time, or the last one if there are multiple.
    pub due_at_ms: u64,
    /// Number of due times.
    pub count: u64,
    pub result: StartResult,
    /// Why it did not start, or started late.
    pub reason: Option<String>,
    /// Whether this is a later start for a missed due time.
    pub is_catch_up: bool,
    pub run: Option<u64>,
    pub study: Option<u64>,
    /// Final status of the run or study; null until it has ended.
    pub status: Option<StudyStatus>,
}

/// Preview of a schedule.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct SchedulePlan {
    /// The next five due times. Fewer if there are no more.
    pub next: Vec<DueTime>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct DueTime {
    pub at_ms: u64,
    /// In the time zone of the schedule, such as `Thu 2026-11-26 02:30 +01:00`.
    pub local: String,
    /// Whether it is in quiet hours and will be skipped.
    pub is_quiet: bool,
}
