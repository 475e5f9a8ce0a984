//! Webhooks: messages about trends and schedules, in the format of [Standard
//! Webhooks](https://www.standardwebhooks.com).

use crate::{
    limits::Title, named_enum::named_enum, schedule::StartResult, study::summary::StudyStatus,
    trend::TrendState,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

named_enum! {
    names: "snake_case";
    pub enum WebhookEvent {
        /// The state of a series relative to its baseline has changed.
        TrendStateChanged,
        /// A scheduled run or study failed, was interrupted, or was rejected.
        ScheduleRunFailed,
        /// Due times of a schedule were missed or skipped.
        ScheduleStartMissed,
        /// A user requested a test message.
        Test,
    }
}

/// Body of `POST /webhooks` and `PUT /webhooks/{n}`.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookRequest {
    #[schema(value_type = Title)]
    pub name: String,
    /// Starts with `http://`. Required for a new webhook; if omitted, the URL does not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub url: Option<String>,
    /// Signing key: `whsec_` and 24 to 64 random bytes in Base64. Required for a new
    /// webhook; if omitted, the key does not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub secret: Option<String>,
    /// One or more types, except `test`. Default: all types except `test`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_items = 1)]
    pub events: Option<Vec<WebhookEvent>>,
    /// Default: true.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub enabled: Option<bool>,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct WebhookList {
    /// Oldest first.
    pub webhooks: Vec<Webhook>,
    /// Numbers of the webhooks whose stored data cannot be read. They receive nothing, and can only
    /// be deleted.
    pub damaged: Vec<u64>,
}

/// A receiver. Its secret and the path of its URL are never returned.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Webhook {
    pub number: u64,
    pub name: String,
    /// Scheme, host and port of the URL.
    pub origin: String,
    pub events: Vec<WebhookEvent>,
    pub enabled: bool,
    pub created_at_ms: u64,
    /// The latest messages, newest first.
    pub deliveries: Vec<Delivery>,
}

named_enum! {
    names: "snake_case";
    pub enum DeliveryStatus {
        /// Not sent yet, or to be retried.
        Pending,
        /// The receiver responded with a 2xx status.
        Delivered,
        /// All attempts failed, the receiver responded with status 410, the webhook was disabled,
        /// or too many messages were pending.
        Failed,
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Delivery {
    /// Value of the `webhook-id` header, the same in all attempts.
    pub id: String,
    pub event: WebhookEvent,
    pub created_at_ms: u64,
    pub status: DeliveryStatus,
    pub attempts: u32,
    /// Null unless pending.
    pub next_attempt_ms: Option<u64>,
    /// HTTP status or error of the last attempt.
    pub last_result: Option<String>,
}

/// Body of a message.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct WebhookMessage {
    #[serde(rename = "type")]
    pub event: WebhookEvent,
    /// Time of the event, in milliseconds since the Unix epoch.
    pub at_ms: u64,
    /// What happened, in one or more sentences.
    pub text: String,
    pub data: WebhookData,
}

/// Details of a message. Paths refer to the web UI, without the server's address.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
#[serde(untagged)]
pub enum WebhookData {
    Trend(TrendStateChange),
    Run(ScheduledRunFailure),
    Missed(MissedStart),
    Test {},
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct TrendStateChange {
    pub job_fingerprint: String,
    pub machine_fingerprint: String,
    pub hostname: Option<String>,
    /// Name of the newest run.
    pub name: String,
    pub newest_run: u64,
    pub before: TrendState,
    pub after: TrendState,
    pub path: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct ScheduledRunFailure {
    pub schedule: u64,
    pub name: String,
    pub due_at_ms: u64,
    pub run: Option<u64>,
    pub study: Option<u64>,
    /// Null if the document was rejected.
    pub status: Option<StudyStatus>,
    pub path: String,
}

#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct MissedStart {
    pub schedule: u64,
    pub name: String,
    /// The last of the due times.
    pub due_at_ms: u64,
    /// Number of due times.
    pub count: u64,
    /// `missed` or `skipped`.
    pub result: StartResult,
    pub path: String,
}
