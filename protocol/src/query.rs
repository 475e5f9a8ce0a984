//! Query parameters of the HTTP API.

use crate::{
    job::range::MAX_JSON_INTEGER,
    limits::{PageLimit, SeriesPoints, SeriesTime, Statuses},
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Largest number of a run, study or series.
pub const MAX_NUMBER: u64 = MAX_JSON_INTEGER;

#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunSort {
    #[default]
    Number,
    Iops,
    BytesPerSecond,
    LatP99Ns,
    Name,
    CreatedAtMs,
}

/// Sort order; runs without a value come last.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SortOrder {
    Asc,
    #[default]
    Desc,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct RunQuery {
    /// Text in the name, target, tags or notes, and `key:value` terms. Keys: rw, bs, iodepth,
    /// numjobs, status, verdict, mode, target, device, host, source, tag, name, study, step, job
    /// (job fingerprint). `#12` is a run number, `-term` excludes matching runs, and a quoted term
    /// is text.
    pub q: Option<String>,
    /// Statuses, separated by commas.
    #[param(value_type = Option<Statuses>)]
    pub status: Option<String>,
    pub tag: Option<String>,
    pub host: Option<String>,
    /// Page size, 1 to 200. Default: 50.
    #[param(value_type = Option<PageLimit>)]
    pub limit: Option<u32>,
    /// `next_cursor` from the previous page.
    #[param(
        pattern = r"^[0-9]{1,15}(:(t[^\x00]*|n-?[0-9]+(\.[0-9]+)?))?$",
        max_length = 1000
    )]
    pub cursor: Option<String>,
    /// Default: `number`.
    pub sort: Option<RunSort>,
    /// Default: `desc`.
    pub order: Option<SortOrder>,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ImportResultQuery {
    /// Default: the name of the first job.
    pub name: Option<String>,
    /// Separated by commas.
    pub tags: Option<String>,
    /// One-based group of jobs, for a result whose jobs ran one after another.
    #[param(minimum = 1)]
    pub group: Option<u64>,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HostQuery {
    /// Query the host instead of using a recent result. Default: false.
    pub refresh: Option<bool>,
}

/// Times are in milliseconds since the start of the measured window.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SeriesQuery {
    /// Start time; negative during the ramp. Default: 0.
    #[param(value_type = Option<SeriesTime>)]
    pub from_ms: Option<f64>,
    /// End time. Default: the last sample.
    #[param(value_type = Option<SeriesTime>)]
    pub to_ms: Option<f64>,
    /// Maximum number of buckets, 1 to 5,000. Default: 600.
    #[param(value_type = Option<SeriesPoints>)]
    pub points: Option<u32>,
    /// Whether to include `latency_rows`. Default: false.
    pub latency_rows: Option<bool>,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ExportFormat {
    /// One line per sample.
    Csv,
    /// One event per line.
    Ndjson,
    /// A web page with its data in one file, which opens without a server.
    Html,
    /// A job file for fio.
    FioJob,
    /// fio's `--output-format=json`.
    FioJson,
    /// fio's `--output-format=json+`, with latency histograms. In a URL, `+` may also be sent
    /// unencoded.
    #[serde(rename = "fio-json+", alias = "fio-json ")]
    FioJsonPlus,
    /// fio's `--output-format=terse`, version 3.
    FioTerse,
    /// fio's bandwidth log, one line per direction and sample.
    FioBwLog,
    /// fio's IOPS log.
    FioIopsLog,
    /// fio's latency log.
    FioLatLog,
    /// fio's latency histogram log.
    FioClatHistLog,
}

#[derive(Clone, Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ExportQuery {
    pub format: ExportFormat,
}

#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct StreamQuery {
    /// Sequence number of the first event. Default: 0.
    pub since: Option<u64>,
    /// Epoch of the client's events. If the run's epoch is higher, the response starts no later
    /// than the first event of the new epoch.
    pub epoch: Option<u32>,
}
