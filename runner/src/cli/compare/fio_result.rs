//! JSON results of fio (`--output-format=json` or `json+`) as reports. Numbers that fio does not
//! have are missing: there is no verdict, and nothing is known about the host.

use leadline_protocol::{
    finding::{Finding, Severity::Note},
    report::{
        EndedBy, ErrorReport, Report,
        stats::{DirectionStats, LatencyStats, PERCENTILES, SyncStats},
    },
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Options that may differ between repeats, or that do not affect the I/O.
const IGNORED_OPTIONS: &[&str] = &[
    "description",
    "directory",
    "filename",
    "group_reporting",
    "name",
    "percentile_list",
    "randseed",
    "write_bw_log",
    "write_iops_log",
    "write_lat_log",
];

pub(crate) struct FioResult {
    pub report: Report,
    /// Options of the jobs, as fio printed them.
    pub settings: BTreeMap<String, String>,
    pub finding: Finding,
}

/// `None` if the document is not from fio.
pub(crate) fn fio_result(document: &Value) -> Option<FioResult> {
    let version = document["fio version"].as_str()?;
    let jobs = document["jobs"].as_array()?;
    let runtime_ms = jobs.iter().filter_map(|job| job["job_runtime"].as_u64());
    let runtime_ms = runtime_ms.max().unwrap_or(0);
    let ended_ms = document["timestamp_ms"].as_u64().unwrap_or(0);
    let errors = jobs.iter().filter(|job| job["error"].as_i64() != Some(0));
    let errors = errors.count() as u64;
    let report = json!({
        "started_at_ms": ended_ms.saturating_sub(runtime_ms), "duration_ms": runtime_ms as f64,
        "ended_by": if errors > 0 { EndedBy::Error } else { EndedBy::Runtime }, "phases": [],
        "read": direction(jobs, "read"), "write": direction(jobs, "write"), "trim": direction(jobs, "trim"),
        "sync": sync(jobs), "jobs": [], "errors": ErrorReport { total: errors, first: None }, "start_skew_ns": 0,
        "absent": {"device": "Results of fio do not have these numbers."},
    });
    Some(FioResult {
        report: serde_json::from_value(report).expect("the report is valid"),
        settings: settings(version, document, jobs),
        finding: finding(version, jobs),
    })
}

fn finding(version: &str, jobs: &[Value]) -> Finding {
    let sentence = format!(
        "This is a result of {version}: it has no verdict, and its percentiles are those of clat, without the submission, unless fio ran with lat_percentiles=1."
    );
    let remedy = "Run the same job with leadline-runner to see which layer served the I/Os.";
    Finding::new(
        Note,
        "result_of_fio",
        sentence,
        json!({"jobs": jobs.len()}),
        remedy,
    )
}

/// As in [`ResolvedJob`](leadline_protocol::plan::job::ResolvedJob)s, those of the first job have
/// no prefix.
fn settings(version: &str, document: &Value, jobs: &[Value]) -> BTreeMap<String, String> {
    let mut settings = BTreeMap::from([("fio.version".to_owned(), version.to_owned())]);
    for (index, job) in jobs.iter().enumerate() {
        let prefix = match index {
            0 => String::new(),
            _ => format!("jobs[{index}]."),
        };
        for options in [&document["global options"], &job["job options"]] {
            let options = options.as_object().into_iter().flatten();
            let options = options.filter(|(name, _)| !IGNORED_OPTIONS.contains(&name.as_str()));
            settings.extend(options.map(|(name, value)| {
                let value = value
                    .as_str()
                    .map_or_else(|| value.to_string(), str::to_owned);
                (format!("{prefix}fio.{name}"), value)
            }));
        }
    }
    settings
}

fn direction(jobs: &[Value], name: &str) -> DirectionStats {
    let all: Vec<&Value> = jobs.iter().map(|job| &job[name]).collect();
    let sum = |field: &str| all.iter().filter_map(|stats| stats[field].as_f64()).sum();
    let total = |field: &str| all.iter().filter_map(|stats| stats[field].as_u64()).sum();
    let mut lat_ns = latency(&all, "lat_ns");
    if lat_ns.percentiles.is_empty() {
        lat_ns.percentiles = percentiles(&all, "clat_ns");
    }
    DirectionStats {
        ios: total("total_ios"),
        bytes: total("io_bytes"),
        iops: sum("iops"),
        bytes_per_second: sum("bw_bytes"),
        slat_ns: latency(&all, "slat_ns"),
        clat_ns: latency(&all, "clat_ns"),
        lat_ns,
        ..DirectionStats::default()
    }
}

fn sync(jobs: &[Value]) -> SyncStats {
    let all: Vec<&Value> = jobs.iter().map(|job| &job["sync"]).collect();
    SyncStats {
        ios: all
            .iter()
            .filter_map(|stats| stats["total_ios"].as_u64())
            .sum(),
        lat_ns: latency(&all, "lat_ns"),
        unfinished: None,
    }
}

/// Combines the latencies of all jobs. fio leaves `N` out for syncs of some versions.
fn latency(all: &[&Value], name: &str) -> LatencyStats {
    let count = |stats: &Value| {
        let samples = stats[name]["N"].as_u64();
        samples.or_else(|| stats["total_ios"].as_u64()).unwrap_or(0)
    };
    let used: Vec<&Value> = all
        .iter()
        .copied()
        .filter(|stats| count(stats) > 0)
        .collect();
    let samples: u64 = used.iter().map(|stats| count(stats)).sum();
    let values = |field: &'static str| {
        used.iter()
            .filter_map(move |stats| stats[name][field].as_f64())
    };
    let weighted: f64 = used
        .iter()
        .filter_map(|stats| Some(stats[name]["mean"].as_f64()? * count(stats) as f64))
        .sum();
    LatencyStats {
        min: values("min").map(|ns| ns as u64).min(),
        max: values("max").map(|ns| ns as u64).max(),
        mean: (samples > 0).then(|| weighted / samples as f64),
        stddev: values("stddev").next().filter(|_| used.len() == 1),
        count: samples,
        percentiles: percentiles(&used, name),
        ..LatencyStats::default()
    }
}

/// Percentiles of several jobs need the bins of `json+`; without them, they are unknown.
fn percentiles(all: &[&Value], name: &str) -> BTreeMap<String, u64> {
    let used: Vec<&Value> = all
        .iter()
        .map(|stats| &stats[name])
        .filter(|latency| latency["N"].as_u64() != Some(0) && latency["percentile"].is_object())
        .collect();
    match used[..] {
        [] => BTreeMap::new(),
        [one] => printed(one),
        _ => of_bins(&used).unwrap_or_default(),
    }
}

/// `"99.900000"` is our `"99.9"`.
fn printed(latency: &Value) -> BTreeMap<String, u64> {
    let printed = latency["percentile"].as_object().into_iter().flatten();
    printed
        .filter_map(|(percent, ns)| Some((percent.parse::<f64>().ok()?.to_string(), ns.as_u64()?)))
        .collect()
}

/// As fio does: the first bin at which the cumulative count reaches the percentage.
fn of_bins(used: &[&Value]) -> Option<BTreeMap<String, u64>> {
    let mut bins: BTreeMap<u64, u64> = BTreeMap::new();
    for latency in used {
        let bins_of_job: &Map<String, Value> = latency["bins"].as_object()?;
        for (ns, count) in bins_of_job {
            *bins.entry(ns.parse().ok()?).or_default() += count.as_u64()?;
        }
    }
    let total: u64 = bins.values().sum();
    let at = |percent: f64| {
        let rank = percent / 100.0 * total as f64;
        let mut counted = 0;
        let mut bins = bins.iter();
        let found = bins.find(|(_, count)| {
            counted += **count;
            counted as f64 >= rank
        });
        found.map(|(ns, _)| *ns)
    };
    let percentiles = PERCENTILES.iter();
    Some(
        percentiles
            .filter_map(|percent| Some((percent.to_string(), at(*percent)?)))
            .collect(),
    )
}
