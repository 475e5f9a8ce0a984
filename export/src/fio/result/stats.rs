//! Counts and rates, added over the jobs of a result.

use super::{
    error::ResultError,
    fields::{Stats, stats_of},
    latency::latency,
};
use leadline_protocol::{
    query::MAX_NUMBER,
    report::{
        foreign::LatencyKind,
        stats::{DirectionStats, LatencyStats, SyncStats},
    },
};
use serde_json::Value;

/// Larger values are rejected: no device performs 10¹² I/Os per second.
const MAX_IOPS: f64 = 1e12;

pub(super) struct Direction {
    pub(super) stats: DirectionStats,
    /// Type of the percentiles in `lat_ns`.
    pub(super) percentiles_of: Option<LatencyKind>,
}

/// # Errors
/// Returns the name of a field that is missing, negative or not a number.
pub(super) fn direction(jobs: &[&Value], name: &str) -> Result<Direction, ResultError> {
    let all = stats_of(jobs, name)?;
    let iops = rate(&all, "iops", "total_ios")?;
    if iops > MAX_IOPS {
        let detail = format!("is not plausible: {iops:e}");
        return Err(ResultError::invalid(format!("{name}.iops"), detail));
    }
    let clat_ns = latency(&all, "clat_ns")?;
    let mut lat_ns = latency(&all, "lat_ns")?;
    let has = |stats: &LatencyStats| !stats.percentiles.is_empty();
    let percentiles_of = if has(&lat_ns) {
        Some(LatencyKind::Lat)
    } else {
        lat_ns.percentiles.clone_from(&clat_ns.percentiles);
        lat_ns.buckets.clone_from(&clat_ns.buckets);
        has(&clat_ns).then_some(LatencyKind::Clat)
    };
    let stats = DirectionStats {
        ios: total(&all, "total_ios")?,
        bytes: total(&all, "io_bytes")?,
        iops,
        bytes_per_second: bandwidth(&all)?,
        slat_ns: latency(&all, "slat_ns")?,
        clat_ns,
        lat_ns,
        ..DirectionStats::default()
    };
    Ok(Direction {
        stats,
        percentiles_of,
    })
}

/// # Errors
/// As for [`direction`].
pub(super) fn sync(jobs: &[&Value]) -> Result<SyncStats, ResultError> {
    let all = stats_of(jobs, "sync")?;
    Ok(SyncStats {
        ios: total(&all, "total_ios")?,
        lat_ns: latency(&all, "lat_ns")?,
        unfinished: None,
    })
}

/// Bytes per second.
fn bandwidth(all: &[Stats]) -> Result<f64, ResultError> {
    // fio 3.0 and 3.1 print KiB/s only.
    match all.iter().all(|stats| stats.value["bw_bytes"].is_null()) {
        true if all.iter().any(|stats| stats.value["bw"].is_number()) => {
            Ok(1024.0 * rate(all, "bw", "io_kbytes")?)
        }
        _ => rate(all, "bw_bytes", "io_bytes"),
    }
}

/// The rate of all jobs together over the longest runtime, as fio computes it with
/// `group_reporting`: rates of jobs that ended at different times cannot be added.
fn rate(all: &[Stats], field: &str, count: &str) -> Result<f64, ResultError> {
    let sum = sum(all, field)?;
    let mut longest_ms = 0.0_f64;
    let mut active = 0;
    for stats in all {
        if stats.count("total_ios")? == 0 {
            continue;
        }
        active += 1;
        match stats.value["runtime"].as_f64() {
            Some(runtime_ms) if runtime_ms > 0.0 => longest_ms = longest_ms.max(runtime_ms),
            _ => return Ok(sum),
        }
    }
    match active {
        0 | 1 => Ok(sum),
        _ => Ok(total(all, count)? as f64 * 1000.0 / longest_ms),
    }
}

fn sum(all: &[Stats], field: &str) -> Result<f64, ResultError> {
    // The sum of no numbers is -0.
    let sum: Result<f64, ResultError> = all.iter().map(|stats| stats.number(field)).sum();
    Ok(sum? + 0.0)
}

fn total(all: &[Stats], field: &str) -> Result<u64, ResultError> {
    let mut total = 0_u64;
    for stats in all {
        total = total.saturating_add(stats.count(field)?).min(MAX_NUMBER);
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn job(changes: Value) -> Value {
        let latency = json!({"min": 1, "max": 9, "mean": 4.0, "stddev": 1.0, "N": 2});
        let mut read = json!({"total_ios": 2, "io_bytes": 8192, "iops": 2.0, "bw_bytes": 8192,
            "slat_ns": latency, "clat_ns": latency, "lat_ns": latency});
        let changes = changes.as_object().unwrap().clone();
        read.as_object_mut().unwrap().extend(changes);
        json!({"read": read})
    }

    #[test]
    fn damaged_numbers_are_errors() {
        for (changes, expected) in [
            (json!({"iops": null}), "jobs[0].read.iops is missing"),
            (
                json!({"iops": "40000"}),
                "jobs[0].read.iops is not a count or rate: \"40000\"",
            ),
            (
                json!({"iops": -1.0}),
                "jobs[0].read.iops is not a count or rate: -1.0",
            ),
            (
                json!({"iops": 1e308}),
                "jobs[0].read.iops is not a count or rate: 1e+308",
            ),
            (json!({"iops": 1e13}), "read.iops is not plausible: 1e13"),
            (
                json!({"total_ios": 1.5}),
                "jobs[0].read.total_ios is not a count or rate: 1.5",
            ),
            (
                json!({"bw_bytes": null, "bw": -1}),
                "jobs[0].read.bw is not a count or rate: -1",
            ),
            (
                json!({"bw_bytes": null}),
                "jobs[0].read.bw_bytes is missing",
            ),
            (
                json!({"lat_ns": {"N": 2, "min": 1, "max": 2}}),
                "jobs[0].read.lat_ns.mean is missing",
            ),
            (
                json!({"clat_ns": {"N": 2, "min": 1, "max": 2, "mean": 1.0, "percentile": {}, "bins": {"1": 1}}}),
                "jobs[0].read.clat_ns.bins contain 1 I/Os, but N is 2",
            ),
        ] {
            let job = job(changes.clone());
            assert_eq!(
                direction(&[&job], "read")
                    .err()
                    .map(|error| error.to_string()),
                Some(expected.to_owned()),
                "{changes}"
            );
        }
    }

    /// Checked with fio 3.33: with `group_reporting`, two jobs with 1,024 I/Os each, at 10,000 and
    /// 500 IOPS, have 1,000 IOPS in total.
    #[test]
    fn rates_use_the_longest_runtime() {
        let of = |ios: u64, runtime_ms: u64| {
            let iops = ios as f64 * 1000.0 / runtime_ms as f64;
            job(
                json!({"total_ios": ios, "io_bytes": 4096 * ios, "iops": iops, "bw_bytes": 4096.0 * iops,
                "runtime": runtime_ms}),
            )
        };
        let jobs = [of(1024, 102), of(1024, 2046), of(0, 1)];
        let jobs: Vec<&Value> = jobs.iter().collect();
        let read = direction(&jobs, "read").unwrap().stats;
        assert!((read.iops - 1000.98).abs() < 0.01, "{}", read.iops);
        assert!((read.bytes_per_second - 4096.0 * read.iops).abs() < 1.0);
        let alone = direction(&jobs[..1], "read").unwrap().stats;
        assert!((alone.iops - 10_039.2).abs() < 0.1);
    }

    #[test]
    fn bandwidths_without_bytes_are_in_kib() {
        let job = job(json!({"bw_bytes": null, "bw": 8}));
        let read = direction(&[&job], "read").unwrap().stats;
        assert!((read.bytes_per_second - 8192.0).abs() < f64::EPSILON);
    }

    #[test]
    fn directions_and_latencies_may_be_missing() {
        let job = job(json!({"slat_ns": null, "lat_ns": {"N": 0}}));
        let read = direction(&[&job], "read").unwrap().stats;
        assert_eq!(
            (read.ios, read.slat_ns.count, read.lat_ns.mean),
            (2, 0, None)
        );
        let write = direction(&[&job], "write").unwrap().stats;
        assert_eq!(write, DirectionStats::default());
        assert!(write.iops.is_sign_positive(), "not -0");
    }

    /// fio 3.0 to 3.3 print the unused entries of the percentile list as `"0.00": 0`.
    #[test]
    fn unused_percentiles_are_omitted() {
        let percentiles = json!({"0.00": 0, "50.00": 4, "99.00": 9});
        let latency = json!({"min": 1, "max": 9, "mean": 4.0, "N": 2, "percentile": percentiles});
        let job = job(json!({"clat_ns": latency}));
        let clat_ns = direction(&[&job], "read").unwrap().stats.clat_ns;
        let names: Vec<&str> = clat_ns.percentiles.keys().map(String::as_str).collect();
        assert_eq!(names, ["50", "99"]);
    }
}
