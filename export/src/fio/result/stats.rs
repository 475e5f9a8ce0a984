//! Counts and latencies, added over the jobs of a result.

use super::error::ResultError;
use leadline_protocol::{
    histogram::{Buckets, bucket_of, merge},
    query::MAX_NUMBER,
    report::{
        foreign::LatencyKind,
        stats::{DirectionStats, LatencyStats, PERCENTILES, SyncStats},
    },
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Larger values are rejected: no device performs 10¹² I/Os per second.
const MAX_IOPS: f64 = 1e12;

pub(super) struct Direction {
    pub(super) stats: DirectionStats,
    /// Type of the percentiles in `lat_ns`.
    pub(super) percentiles_of: Option<LatencyKind>,
}

/// # Errors
/// Returns the name of a number that is missing, negative or not a number.
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
        bytes_per_second: rate(&all, "bw_bytes", "io_bytes")?,
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

/// An object in a job, and its path in the document.
struct Stats<'a> {
    path: String,
    value: &'a Value,
}

fn stats_of<'a>(jobs: &[&'a Value], name: &str) -> Result<Vec<Stats<'a>>, ResultError> {
    let mut all = Vec::new();
    for (index, job) in jobs.iter().enumerate() {
        let path = format!("jobs[{index}].{name}");
        match &job[name] {
            Value::Null => {}
            value if value.is_object() => all.push(Stats { path, value }),
            _ => return Err(ResultError::invalid(path, "is not an object")),
        }
    }
    Ok(all)
}

impl Stats<'_> {
    fn number(&self, field: &str) -> Result<f64, ResultError> {
        let value = &self.value[field];
        value
            .as_f64()
            .filter(|number| (0.0..=MAX_NUMBER as f64).contains(number))
            .ok_or_else(|| self.invalid(field, value))
    }

    fn count(&self, field: &str) -> Result<u64, ResultError> {
        let value = &self.value[field];
        let count = value.as_u64().filter(|count| *count <= MAX_NUMBER);
        count.ok_or_else(|| self.invalid(field, value))
    }

    fn invalid(&self, field: &str, value: &Value) -> ResultError {
        let path = format!("{}.{field}", self.path);
        match value {
            Value::Null => ResultError::invalid(path, "is missing"),
            value => ResultError::invalid(path, format!("is not a count or rate: {value}")),
        }
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
    all.iter().map(|stats| stats.number(field)).sum()
}

fn total(all: &[Stats], field: &str) -> Result<u64, ResultError> {
    let mut total = 0_u64;
    for stats in all {
        total = total.saturating_add(stats.count(field)?).min(MAX_NUMBER);
    }
    Ok(total)
}

/// A latency of one job with its number of samples. Some fio versions omit `N` for syncs.
struct Samples<'a> {
    stats: Stats<'a>,
    count: u64,
}

fn samples<'a>(all: &[Stats<'a>], name: &str) -> Result<Vec<Samples<'a>>, ResultError> {
    let mut found = Vec::new();
    for stats in all {
        let value = &stats.value[name];
        let path = format!("{}.{name}", stats.path);
        if value.is_null() {
            continue;
        }
        if !value.is_object() {
            return Err(ResultError::invalid(path, "is not an object"));
        }
        let latency = Stats { path, value };
        let count = match &value["N"] {
            Value::Null => stats.value["total_ios"].as_u64().unwrap_or(0),
            _ => latency.count("N")?,
        };
        if count > 0 {
            let stats = latency;
            found.push(Samples { stats, count });
        }
    }
    Ok(found)
}

/// Combines the latencies of all jobs.
fn latency(all: &[Stats], name: &str) -> Result<LatencyStats, ResultError> {
    let used = samples(all, name)?;
    let counts = used.iter().map(|samples| samples.count);
    let count = counts.fold(0, u64::saturating_add);
    let mut combined = LatencyStats {
        count: count.min(MAX_NUMBER),
        ..LatencyStats::default()
    };
    let mut weighted = 0.0;
    for Samples { stats, count } in &used {
        let (min, max) = (stats.count("min")?, stats.count("max")?);
        if min > max {
            let detail = format!("is larger than max ({min} > {max})");
            return Err(ResultError::invalid(format!("{}.min", stats.path), detail));
        }
        combined.min = Some(combined.min.map_or(min, |least| least.min(min)));
        combined.max = Some(combined.max.map_or(max, |most| most.max(max)));
        weighted += stats.number("mean")? * *count as f64;
    }
    combined.mean = (count > 0).then(|| weighted / count as f64);
    if let [one] = &used[..] {
        combined.mean = Some(one.stats.number("mean")?);
        combined.stddev = match one.stats.value["stddev"] {
            Value::Null => None,
            _ => Some(one.stats.number("stddev")?),
        };
    }
    let bins = bins(&used)?;
    combined.percentiles = percentiles(&used, bins.as_ref())?;
    combined.buckets = bins.map(buckets).unwrap_or_default();
    Ok(combined)
}

/// Number of I/Os by latency in ns.
type Bins = BTreeMap<u64, u64>;

/// Percentiles of multiple jobs require the bins of `json+`; without bins, they are unknown.
fn percentiles(
    used: &[Samples],
    bins: Option<&Bins>,
) -> Result<BTreeMap<String, u64>, ResultError> {
    let mut all = Vec::new();
    for Samples { stats, .. } in used {
        all.extend(printed(stats)?);
    }
    Ok(match (all.len(), used.len()) {
        (0, _) => BTreeMap::new(),
        (1, 1) => all.remove(0),
        _ => bins.map(percentiles_from_bins).unwrap_or_default(),
    })
}

/// The percentiles, with keys such as `"99.9"` instead of `"99.900000"`; `None` if there are none.
fn printed(stats: &Stats) -> Result<Option<BTreeMap<String, u64>>, ResultError> {
    let invalid = |name: &str, detail| {
        let field = format!("{}.percentile{name}", stats.path);
        Err(ResultError::invalid(field, detail))
    };
    let printed = match &stats.value["percentile"] {
        Value::Null => return Ok(None),
        Value::Object(printed) => printed,
        _ => return invalid("", "is not an object"),
    };
    let mut percentiles = BTreeMap::new();
    for (percent, ns) in printed {
        let number = percent.parse::<f64>().ok();
        let Some(number) = number.filter(|number| (0.0..=100.0).contains(number)) else {
            return invalid(&format!(".{percent}"), "is not a percentage");
        };
        let Some(ns) = ns.as_u64().filter(|ns| *ns <= MAX_NUMBER) else {
            return invalid(&format!(".{percent}"), "is not a time in nanoseconds");
        };
        percentiles.insert(number.to_string(), ns);
    }
    Ok(Some(percentiles))
}

/// `None` unless all jobs have bins.
fn bins(used: &[Samples]) -> Result<Option<Bins>, ResultError> {
    let mut sum = Bins::new();
    let mut is_complete = !used.is_empty();
    for Samples { stats, count } in used {
        let path = format!("{}.bins", stats.path);
        match &stats.value["bins"] {
            Value::Null => is_complete = false,
            Value::Object(bins) => add(&path, bins, *count, &mut sum)?,
            _ => return Err(ResultError::invalid(path, "is not an object")),
        }
    }
    Ok(is_complete.then_some(sum))
}

fn add(
    path: &str,
    bins: &Map<String, Value>,
    count: u64,
    sum: &mut Bins,
) -> Result<(), ResultError> {
    let mut total = 0_u64;
    for (name, ios) in bins {
        let ns = name.parse::<u64>().ok().filter(|ns| *ns <= MAX_NUMBER);
        let Some((ns, ios)) = ns.zip(ios.as_u64()) else {
            let field = format!("{path}.{name}");
            return Err(ResultError::invalid(field, "is not a count of I/Os"));
        };
        total = total.saturating_add(ios);
        let entry = sum.entry(ns).or_default();
        *entry = entry.saturating_add(ios);
    }
    if total == count {
        return Ok(());
    }
    let detail = format!("contain {total} I/Os, but N is {count}");
    Err(ResultError::invalid(path, detail))
}

/// fio's bins are Leadline's buckets, and fio prints their midpoints.
fn buckets(bins: Bins) -> Buckets {
    let buckets = bins.into_iter();
    let buckets = buckets.map(|(ns, count)| vec![(bucket_of(ns) as u32, count)]);
    merge(&buckets.collect::<Vec<Buckets>>())
}

/// Percentiles as in fio: each is the first bin at which the cumulative count reaches the
/// percentage.
fn percentiles_from_bins(bins: &Bins) -> BTreeMap<String, u64> {
    let total = bins.values().copied().fold(0, u64::saturating_add);
    let at = |percent: f64| {
        let rank = percent / 100.0 * total as f64;
        let mut counted = 0_u64;
        let mut bins = bins.iter();
        let found = bins.find(|(_, count)| {
            counted = counted.saturating_add(**count);
            counted as f64 >= rank
        });
        found.map(|(ns, _)| *ns)
    };
    let percentiles = PERCENTILES.iter();
    percentiles
        .filter_map(|percent| Some((percent.to_string(), at(*percent)?)))
        .collect()
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
    fn directions_and_latencies_may_be_missing() {
        let job = job(json!({"slat_ns": null, "lat_ns": {"N": 0}}));
        let read = direction(&[&job], "read").unwrap().stats;
        assert_eq!(
            (read.ios, read.slat_ns.count, read.lat_ns.mean),
            (2, 0, None)
        );
        assert_eq!(
            direction(&[&job], "write").unwrap().stats,
            DirectionStats::default()
        );
    }
}
