//! The log files that jobs request: `write_bw_log` and related options (init.c, `add_job`). Only
//! `leadline-runner fio` writes them.

use crate::dialect::{fio_jobs::FioJob, option_value::OptionValue, options::Options, value::Value};
use leadline_export::fio::logs::{LogFormat, LogKind};
use std::collections::BTreeSet;

/// The logs of one job.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct JobLogs {
    /// Number of its first worker, counting from 1.
    pub first_number: u32,
    pub workers: u32,
    pub logs: Vec<JobLog>,
}

#[derive(Clone, Debug, Eq, PartialEq)]
pub(crate) struct JobLog {
    pub kind: LogKind,
    /// Prefix of the file names.
    pub prefix: String,
    pub format: LogFormat,
    /// Length of the log's windows; 0 if fio would write a line per I/O.
    pub interval_ms: u32,
    /// Whether all workers with this prefix share a file (`per_job_logs=0`).
    pub is_shared: bool,
    pub has_unix_time: bool,
}

/// The maximum of fio's `log_hist_coarseness` (options.c).
const MAX_COARSENESS: u32 = 6;

/// fio's options that have no effect here, and how the logs differ from fio's as a result.
const DIFFERENCES: [(&str, &str); 4] = [
    ("log_store_compressed", "the logs are not compressed"),
    ("log_compression", "the logs are not compressed"),
    ("log_window_value", "the logs contain mean values"),
    ("log_issue_time", "the logs have no column for it"),
];

/// The logs of all jobs, in the order of fio's numbers, and sentences about differences from fio.
pub(crate) fn job_logs(jobs: &[FioJob]) -> (Vec<JobLogs>, BTreeSet<String>) {
    let mut number = 1;
    let mut differences = BTreeSet::new();
    let logs = jobs.iter().map(|job| {
        let workers = job.options.number("numjobs").unwrap_or(1).max(1) as u32;
        let logs = JobLogs {
            first_number: number,
            workers,
            logs: logs(job),
        };
        number += workers;
        if !logs.logs.is_empty() {
            differences.extend(sentences(&job.options, &logs.logs));
        }
        logs
    });
    (logs.collect(), differences)
}

fn sentences(options: &Options, logs: &[JobLog]) -> Vec<String> {
    let set = DIFFERENCES
        .iter()
        .filter(|(name, _)| options.get(name).is_some_and(has_effect));
    let mut sentences: Vec<String> = set
        .map(|(name, difference)| format!("{name}: {difference}."))
        .collect();
    if logs.iter().any(|log| log.interval_ms == 0) {
        sentences.push(
            "log_avg_msec is not set: the logs contain one line per 100 ms instead of one per I/O."
                .into(),
        );
    }
    sentences
}

fn has_effect(entry: &OptionValue) -> bool {
    match &entry.value {
        Value::Flag(flag) => *flag,
        Value::Text(text) => !["0", "avg"].contains(&text.as_str()),
        _ => true,
    }
}

fn logs(job: &FioJob) -> Vec<JobLog> {
    let options = &job.options;
    let is_on = |name: &str| options.flag(name) == Some(true);
    let is_disabled = |name: &str| is_on(name) || is_on("gtod_reduce");
    let average_ms = milliseconds(options, "log_avg_msec").unwrap_or(0);
    // As in fio, these options can only shorten an interval, not set one.
    let shortened =
        |name: &str| milliseconds(options, name).map_or(average_ms, |ms| ms.min(average_ms));
    let histogram_ms = milliseconds(options, "log_hist_msec").unwrap_or(0);
    let coarseness = options.number("log_hist_coarseness").unwrap_or(0);
    let format = LogFormat {
        has_offset: is_on("log_offset"),
        has_priority: is_on("log_prio"),
        coarseness: (coarseness.max(0) as u32).min(MAX_COARSENESS),
    };
    let log = |kind: LogKind, interval_ms: u32| {
        let entry = options.get(kind.option())?;
        let prefix = match &entry.value {
            Value::Text(text) if !text.is_empty() => text.clone(),
            _ => job.name.clone(),
        };
        Some(JobLog {
            kind,
            prefix,
            format,
            interval_ms,
            is_shared: options.flag("per_job_logs") == Some(false),
            has_unix_time: is_on("log_alternate_epoch"),
        })
    };
    let latency = |kind: LogKind, disabled: &str| match is_disabled(disabled) {
        true => None,
        false => log(kind, average_ms),
    };
    let logs = [
        latency(LogKind::Latency, "disable_lat"),
        latency(LogKind::SubmissionLatency, "disable_slat"),
        latency(LogKind::CompletionLatency, "disable_clat"),
        // If no interval is set, fio's file remains empty.
        log(
            LogKind::LatencyHistogram,
            if histogram_ms > 0 {
                histogram_ms
            } else {
                u32::MAX
            },
        ),
        log(LogKind::Bandwidth, shortened("bwavgtime")),
        log(LogKind::Iops, shortened("iopsavgtime")),
    ];
    logs.into_iter().flatten().collect()
}

fn milliseconds(options: &Options, name: &str) -> Option<u32> {
    u32::try_from(options.number(name)?).ok()
}
