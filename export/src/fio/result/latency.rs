//! Latencies, combined over the jobs of a result.

use super::{error::ResultError, fields::Stats};
use leadline_protocol::{
    histogram::{Buckets, bucket_of, merge},
    query::MAX_NUMBER,
    report::stats::{LatencyStats, PERCENTILES},
};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

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
pub(super) fn latency(all: &[Stats], name: &str) -> Result<LatencyStats, ResultError> {
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
        // fio 3.0 to 3.3 print unused entries of the percentile list as percentile 0.
        if number > 0.0 {
            percentiles.insert(number.to_string(), ns);
        }
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
