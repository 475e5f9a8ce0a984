//! The words of runs on the HTTP interface: what is asked and what is answered. The OpenAPI document and the browser's
//! types follow from them. What the runner says (`Event`, `Report`, ...) is declared in the runner and used as it is.

use crate::finding::Finding;
use crate::host::HostFacts;
use crate::job::Job;
use crate::plan::resolved::ResolvedJob;
use crate::report::Report;
use crate::result::Failure;
use crate::status::RunStatus;
use crate::study::record::StudySummary;
use crate::verdict::{VerdictClass, Verdicts};
use crate::workload::Workload;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What is asked of `POST /plan` and `POST /runs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct RunRequest {
    /// One to 64 jobs that start together, in fio's words.
    #[schema(value_type = Vec<Job>)]
    pub jobs: Vec<Value>,
    /// The sampling grid in milliseconds, from 10 to 10,000; 100 when nothing is said.
    pub sample_ms: Option<u32>,
    /// The host to run on; `local` when nothing is said.
    pub host: Option<String>,
    /// Name of the run; that of its first job when nothing is said.
    pub name: Option<String>,
    /// Words to find it by.
    pub tags: Option<Vec<String>>,
    /// Free text about it.
    pub notes: Option<String>,
    /// The serial number of the device to be overwritten, typed by its owner; its kernel name where it has none. What is
    /// given must be right.
    pub confirm: Option<String>,
}

/// What is asked of `POST /runs/{n}/rerun`: the same jobs again, less what is said here.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct RerunRequest {
    /// Name of the new run; that of the old one when nothing is said.
    pub name: Option<String>,
    /// Tags of the new run; those of the old one when nothing is said.
    pub tags: Option<Vec<String>>,
    /// Options to set in every job, such as `{"direct": 1}`; null removes an option.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    pub patch: Option<Map<String, Value>>,
    /// The serial number of the device to be overwritten, typed by its owner; its kernel name where it has none. What is
    /// given must be right.
    pub confirm: Option<String>,
}

/// What a run's owner may change of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct RunPatch {
    /// Its name.
    pub name: Option<String>,
    /// Its tags, all of them.
    pub tags: Option<Vec<String>>,
    /// Free text about it.
    pub notes: Option<String>,
}

/// Where a queued run stands.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct QueuePosition {
    /// 1 is the first of those that wait.
    pub position: u64,
    /// What it waits for, such as `runs after #142 on vda`.
    pub reason: String,
}

/// One run in a list. The workload is that of its first job.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RunSummary {
    /// Its number; never used twice.
    pub number: u64,
    /// Where it stands.
    pub status: RunStatus,
    /// Its name.
    pub name: String,
    /// The host it runs on.
    pub host: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Free text about it.
    pub notes: String,
    /// When it was asked for, in milliseconds since 1970 UTC.
    pub created_at_ms: u64,
    /// When it left the queue, in milliseconds since 1970 UTC.
    pub started_at_ms: Option<u64>,
    /// When it came to its end, in milliseconds since 1970 UTC.
    pub finished_at_ms: Option<u64>,
    /// What it does.
    #[serde(flatten)]
    pub workload: Workload,
    /// I/Os a second of the measured window, all directions.
    pub iops: Option<f64>,
    /// Bytes a second of the measured window, all directions.
    pub bytes_per_second: Option<f64>,
    /// Median latency in ns, all directions.
    pub lat_p50_ns: Option<u64>,
    /// 99th percentile of latency in ns, all directions.
    pub lat_p99_ns: Option<u64>,
    /// Longest latency in ns, all directions.
    pub lat_max_ns: Option<u64>,
    /// Where the I/O of the direction with the most bytes went.
    pub verdict: Option<VerdictClass>,
    /// Why it failed, was cancelled or interrupted.
    pub reason: Option<String>,
    /// The study that it is a step of; null for a run of its own.
    pub study: Option<u64>,
    /// Its place in the study, from 1; null for a run of its own.
    pub step: Option<u32>,
    /// Where it stands in the queue; null when it does not wait.
    pub queue: Option<QueuePosition>,
}

/// A page of runs.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct RunList {
    /// The runs in the order asked for.
    pub runs: Vec<RunSummary>,
    /// Where the next page begins; null on the last one.
    pub next_cursor: Option<String>,
    /// How many runs match, on all pages.
    pub total: u64,
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct RequestedRun {
    /// The jobs, word for word.
    #[schema(value_type = Vec<Job>)]
    pub jobs: Vec<Value>,
    /// The sampling grid in milliseconds.
    pub sample_ms: u32,
}

/// One run with everything that is known about it, less its events.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Run {
    /// What lists show of it.
    #[serde(flatten)]
    pub summary: RunSummary,
    /// What was asked for.
    pub requested: RequestedRun,
    /// The jobs as resolved: by the plan when it was queued, by the runner when it began.
    pub resolved: Option<Vec<ResolvedJob>>,
    /// The host as found when it began.
    pub host_facts: Option<HostFacts>,
    /// The sampling grid in milliseconds.
    pub sample_ms: u32,
    /// How long the measured window was to last in milliseconds; null when size, not time, ends it.
    pub measure_ms: Option<u64>,
    /// The one result.
    pub report: Option<Report>,
    /// Where the I/O went.
    pub verdict: Option<Verdicts>,
    /// What a reader must know.
    pub findings: Vec<Finding>,
    /// Why there is no result.
    pub failure: Option<Failure>,
    /// Number of its last stored event.
    pub last_seq: u64,
    /// How many samples are stored.
    pub samples: u64,
}

/// What the socket `/events` says.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum RunsEvent {
    /// A run is new, or something that lists show of it changed.
    Run {
        /// As it is now.
        run: Box<RunSummary>,
    },
    /// A study is new, or one of its runs moved.
    Study {
        /// As it is now.
        study: Box<StudySummary>,
    },
    /// A run was deleted.
    Deleted {
        /// Its number.
        number: u64,
    },
    /// How many run and how many wait. The first frame is always this one.
    Queue {
        /// Runs that run.
        running: u64,
        /// Runs that wait.
        queued: u64,
    },
}
