use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// How runs are sorted.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunSort {
    /// By number, which is by time.
    #[default]
    Number,
    /// By I/Os a second.
    Iops,
    /// By bytes a second.
    BytesPerSecond,
    /// By the 99th percentile of latency.
    LatP99Ns,
    /// By name.
    Name,
    /// By the time it was asked for.
    CreatedAtMs,
}

/// Which way runs are sorted.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortOrder {
    /// Smallest first; runs without the value come last.
    Asc,
    /// Largest first; runs without the value come last.
    #[default]
    Desc,
}

/// Which runs to list.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RunQuery {
    /// Words that name, target, tags or notes contain, and `key:value` words: rw, status, tag, host, mode, verdict,
    /// name, device, study. `-word` leaves out.
    pub q: Option<String>,
    /// Only this status; several are separated by commas.
    pub status: Option<String>,
    /// Only with this tag.
    pub tag: Option<String>,
    /// Only on this host.
    pub host: Option<String>,
    /// How many, from 1 to 200; 50 when nothing is said.
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    pub cursor: Option<String>,
    /// Sorted by what; `number` when nothing is said.
    pub sort: Option<RunSort>,
    /// Which way; `desc` when nothing is said.
    pub order: Option<SortOrder>,
}

/// What part of a run's series is asked for.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SeriesQuery {
    /// Begin, in milliseconds from the start of the measured window; 0 when nothing is said, negative for the ramp.
    pub from_ms: Option<f64>,
    /// End, likewise; the last sample when nothing is said.
    pub to_ms: Option<f64>,
    /// The most buckets, from 1 to 5,000; 600 when nothing is said.
    pub points: Option<u32>,
}

/// What a run is exported as.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub enum ExportFormat {
    /// One line a sample, one column a count.
    #[serde(rename = "csv")]
    Csv,
    /// Every event, one JSON object a line: what `stream` tells.
    #[serde(rename = "ndjson")]
    Ndjson,
    /// fio's JSON. Not built yet.
    #[serde(rename = "fio-json")]
    FioJson,
    /// fio's JSON with its histogram bins. Not built yet.
    #[serde(rename = "fio-json+")]
    FioJsonPlus,
    /// A fio job file. Not built yet.
    #[serde(rename = "fio-job")]
    FioJob,
}

/// What a run is exported as.
#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    /// The format.
    pub format: ExportFormat,
}

/// From where on events are told.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StreamQuery {
    /// The first event to tell; 0 when nothing is said.
    pub since: Option<u64>,
}
