//! Request and response bodies for runs in the HTTP API.

use crate::{
    annotation::Annotation,
    finding::Finding,
    host::HostFacts,
    job::Job,
    limits::{HostId, Jobs, Name, Notes, SampleMs, Tags},
    plan::job::ResolvedJob,
    report::{Report, foreign::Source},
    result::Failure,
    series::Series,
    status::RunStatus,
    verdict::{VerdictClass, Verdicts},
    workload_summary::WorkloadSummary,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Body of `POST /plan` and `POST /runs`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    /// 1 to 64 jobs that start together. Required unless `job_text` is set.
    #[schema(value_type = Option<Jobs>)]
    pub jobs: Vec<Value>,
    /// Instead of `jobs`: a fio job file, or a fio or diskspd command.
    pub job_text: Option<String>,
    /// Values of the variables in `job_text`, such as `${DEVICE}`.
    pub variables: Option<BTreeMap<String, String>>,
    /// Sampling interval in ms, 10 to 10,000. Default: 100.
    #[schema(value_type = Option<SampleMs>)]
    pub sample_ms: Option<u32>,
    /// Default: `local`.
    #[schema(value_type = Option<HostId>)]
    pub host: Option<String>,
    /// Default: the name of the first job.
    #[schema(value_type = Option<Name>)]
    pub name: Option<String>,
    #[schema(value_type = Option<Tags>)]
    pub tags: Option<Vec<String>>,
    #[schema(value_type = Option<Notes>)]
    pub notes: Option<String>,
    /// `TEXT@CODE` for each target with data to be overwritten, from the plan's `confirmations`.
    pub confirm: Option<Vec<String>>,
}

/// Body of `POST /runs/{n}/rerun`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RerunRequest {
    /// Default: the name of the original run. If the patch sets `direct`, the name ends with the
    /// I/O mode.
    #[schema(value_type = Option<Name>)]
    pub name: Option<String>,
    /// Default: the tags of the original run.
    #[schema(value_type = Option<Tags>)]
    pub tags: Option<Vec<String>>,
    /// Options to change in every job, such as `{"direct": 1}`; null removes an option.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    pub patch: Option<Map<String, Value>>,
    /// `TEXT@CODE` for each target with data to be overwritten, from the plan's `confirmations`.
    pub confirm: Option<Vec<String>>,
}

/// Body of `PATCH /runs/{n}`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RunPatch {
    #[schema(value_type = Option<Name>)]
    pub name: Option<String>,
    /// Replaces all tags.
    #[schema(value_type = Option<Tags>)]
    pub tags: Option<Vec<String>>,
    #[schema(value_type = Option<Notes>)]
    pub notes: Option<String>,
}

/// Position of a run in the queue.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct QueuePosition {
    /// One-based.
    pub position: u64,
    /// Why the run is waiting, such as `waiting for #142 on vda`.
    pub reason: String,
    /// The run that must end before this one starts. Null if it waits for another reason, or if the
    /// end of that run cannot be predicted because its I/O hangs.
    #[serde(default)]
    pub behind: Option<u64>,
}

/// A run in a list.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct RunSummary {
    /// Unique; never reused.
    pub number: u64,
    pub status: RunStatus,
    pub name: String,
    /// Null for a result of another program that does not contain the host.
    pub host: Option<String>,
    /// The program that measured the run.
    #[serde(default)]
    #[schema(required)]
    pub source: Source,
    pub tags: Vec<String>,
    pub notes: String,
    /// Changes whenever the name, tags or notes change. Send it in `If-Match` to avoid overwriting
    /// concurrent changes by someone else.
    #[serde(default)]
    pub etag: String,
    /// Unix time in milliseconds.
    pub created_at_ms: u64,
    /// When the run left the queue, as a Unix time in milliseconds.
    pub started_at_ms: Option<u64>,
    /// Unix time in milliseconds.
    pub finished_at_ms: Option<u64>,
    #[serde(flatten)]
    pub workload: WorkloadSummary,
    /// All directions.
    pub iops: Option<f64>,
    /// All directions.
    pub bytes_per_second: Option<f64>,
    /// All directions.
    pub lat_p50_ns: Option<u64>,
    /// All directions.
    pub lat_p99_ns: Option<u64>,
    /// All directions.
    pub lat_max_ns: Option<u64>,
    /// Verdict of the direction with the most bytes.
    pub verdict_class: Option<VerdictClass>,
    /// Whether the stored run or its result does not match its checksum. If so, the result is not
    /// shown, and comparisons and trends exclude it.
    #[serde(default)]
    #[schema(required)]
    pub damaged: bool,
    /// Why the run failed or was cancelled or interrupted.
    pub reason: Option<String>,
    /// Number of the study; null if the run is not part of a study.
    pub study: Option<u64>,
    /// One-based step of the study; null if the run is not part of a study.
    pub step: Option<u32>,
    /// One-based repeat of the step; null if the run is not part of a study.
    #[serde(default)]
    pub repeat: Option<u32>,
    /// Number of the failed run that this run retries; null for other runs.
    #[serde(default)]
    pub retry_of: Option<u64>,
    /// Runs with the same value performed the same test, on any target and host; null if there is
    /// no result.
    #[serde(default)]
    pub job_fingerprint: Option<String>,
    /// Fingerprint of the hardware, kernel, filesystem and device; null if there is no result.
    #[serde(default)]
    pub host_fingerprint: Option<String>,
    /// Fingerprint of the host name and the devices below the targets, equal for all runs of a
    /// trend; null if there is no result.
    #[serde(default)]
    pub machine_fingerprint: Option<String>,
    /// Null if the run is not queued.
    pub queue: Option<QueuePosition>,
}

/// A page of runs.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct RunList {
    pub runs: Vec<RunSummary>,
    /// Null on the last page.
    pub next_cursor: Option<String>,
    /// Number of matching runs across all pages.
    pub total: u64,
}

/// A run, as requested.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct RequestedRun {
    #[schema(value_type = Vec<Job>)]
    pub jobs: Vec<Value>,
    /// Sampling interval, in ms.
    pub sample_ms: u32,
}

/// A run with all details except its events.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct Run {
    #[serde(flatten)]
    pub summary: RunSummary,
    pub requested: RequestedRun,
    /// Jobs as planned when the run was queued, or as resolved by the runner when it started.
    pub resolved: Option<Vec<ResolvedJob>>,
    /// The host when the run started.
    pub host_facts: Option<HostFacts>,
    /// Sampling interval, in ms; 0 for results of other programs, which have no samples.
    pub sample_ms: u32,
    /// Planned length of the measured window; null if it is limited by size.
    pub measure_ms: Option<u64>,
    pub report: Option<Report>,
    pub verdict: Option<Verdicts>,
    pub findings: Vec<Finding>,
    /// Whether checksums cover all data that was stored when the run ended. False before the end,
    /// and for runs from earlier versions, which lack some checksums.
    #[serde(default)]
    #[schema(required)]
    pub has_checksum: bool,
    /// Timestamped notes, in chronological order.
    #[serde(default)]
    #[schema(required)]
    pub annotations: Vec<Annotation>,
    /// Numbers of annotations that cannot be read. They can be deleted.
    #[serde(default)]
    #[schema(required)]
    pub damaged_annotations: Vec<u64>,
    /// Why there is no result.
    pub failure: Option<Failure>,
    /// Sequence number of the last stored event.
    pub last_seq: u64,
    /// Number of stored samples.
    pub samples: u64,
}

/// Data of a saved page: a run that opens without a server.
#[derive(Clone, Debug, Deserialize, Serialize, ToSchema)]
pub struct SavedRun {
    pub run: Run,
    pub series: Series,
    /// Unix time in milliseconds.
    pub saved_at_ms: u64,
    /// Version of the server.
    pub version: String,
}

impl RunSummary {
    /// Position of the run in the queue and in its study.
    pub fn queue_order(&self) -> u64 {
        self.retry_of.unwrap_or(self.number)
    }
}
