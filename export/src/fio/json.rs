//! `--output-format=json` and `json+`.

use crate::{
    FinishedRun,
    fio::{
        VERSION, asctime,
        disk::{Disk, disks},
        job::Job,
        latency::Detail,
    },
};
use serde::Serialize;
use serde_json::{Map, Value};

/// The document that fio prints.
#[derive(Serialize)]
pub struct FioJson {
    #[serde(rename = "fio version")]
    version: &'static str,
    /// End of the measured window, as a Unix time in seconds.
    timestamp: u64,
    timestamp_ms: u64,
    time: String,
    #[serde(rename = "global options")]
    global_options: Map<String, Value>,
    jobs: Vec<Job>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    disk_util: Vec<Disk>,
}

impl FioJson {
    /// Sequential runs, such as the steps of a study, are separate groups, like fio jobs with
    /// `stonewall`. `bins` adds the histograms of json+.
    pub fn new(runs: &[FinishedRun<'_>], bins: bool) -> Self {
        let detail = if bins {
            Detail::Bins
        } else {
            Detail::Percentiles
        };
        let jobs = (0..)
            .zip(runs)
            .flat_map(|(group, run)| run.jobs().map(move |job| Job::new(run, job, group, detail)));
        let ends = runs.iter().map(|run| run.report.end_ms());
        let end_ms = ends.max().unwrap_or(0);
        Self {
            version: VERSION,
            timestamp: end_ms / 1_000,
            timestamp_ms: end_ms,
            time: asctime(end_ms),
            global_options: Map::new(),
            jobs: jobs.collect(),
            disk_util: disks(runs),
        }
    }
}
