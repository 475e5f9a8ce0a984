//! The document that fio prints, and the jobs in it.

use super::{duplicates::duplicate_field, error::ResultError};
use leadline_protocol::query::MAX_NUMBER;
use serde_json::Value;
use std::collections::BTreeSet;

/// Maximum number of jobs, as in fio (`REAL_MAX_JOBS`).
pub const MAX_JOBS: usize = 4096;

pub(super) struct Jobs<'a> {
    /// Jobs whose numbers are added.
    pub(super) measured: Vec<&'a Value>,
    /// Jobs whose options describe the workload.
    pub(super) described: Vec<&'a Value>,
}

/// # Errors
/// If a field occurs twice.
pub fn check_fields(text: &str) -> Result<(), ResultError> {
    match duplicate_field(text) {
        Some(field) => Err(ResultError::invalid(field, "occurs twice")),
        None => Ok(()),
    }
}

/// Runtime of the measurement, in ms; 0 if it is unknown. `job_runtime` cannot be used: with
/// `group_reporting` and for clients, fio adds the times of all jobs.
pub(super) fn runtime_ms(job: &Value) -> u64 {
    let runtimes = DIRECTIONS.map(|name| job[name]["runtime"].as_u64().unwrap_or(0));
    runtimes.into_iter().max().unwrap_or(0)
}

pub(super) const DIRECTIONS: [&str; 3] = ["read", "write", "trim"];

pub(super) fn list(document: &Value) -> Option<&Vec<Value>> {
    let lists = ["jobs", "client_stats"];
    lists.into_iter().find_map(|name| document[name].as_array())
}

/// Unix time in ms. Results of clients have only seconds.
pub(super) fn timestamp_ms(document: &Value) -> Result<u64, ResultError> {
    let (field, factor) = match document["timestamp_ms"] {
        Value::Null => ("timestamp", 1000),
        _ => ("timestamp_ms", 1),
    };
    let value = match &document[field] {
        Value::Null => return Err(ResultError::invalid("timestamp_ms", "is missing")),
        value => value.as_u64().and_then(|time| time.checked_mul(factor)),
    };
    let value = value.filter(|time| *time <= MAX_NUMBER);
    value.ok_or_else(|| ResultError::invalid(field, "is not a Unix time"))
}

/// Host names of clients (`--client`), without duplicates.
pub(super) fn hostnames(jobs: &[&Value]) -> Vec<String> {
    let names = jobs.iter().filter_map(|job| job["hostname"].as_str());
    let names: BTreeSet<&str> = names.filter(|name| !name.is_empty()).collect();
    names.into_iter().map(str::to_owned).collect()
}

/// # Errors
/// Returns why the jobs cannot be used.
pub(super) fn jobs<'a>(
    document: &'a Value,
    version: &str,
    step: Option<u64>,
) -> Result<Jobs<'a>, ResultError> {
    check_version(version)?;
    let (all, measured) = listed_and_measured(document)?;
    if all.is_empty() {
        return Err(ResultError::invalid("", "this fio result has no jobs"));
    }
    if all.len() > MAX_JOBS {
        let detail = format!(
            "this result has {} jobs; at most {MAX_JOBS} are read",
            all.len()
        );
        return Err(ResultError::invalid("", detail));
    }
    for (index, job) in all.iter().enumerate() {
        check_job(index, job)?;
    }
    let groups = group_ids(&all);
    let Some(group) = selected(&groups, &all, document, step)? else {
        check_starts(&all, document)?;
        return Ok(Jobs {
            measured,
            described: all,
        });
    };
    let same = |job: &&Value| job["groupid"].as_u64() == Some(group);
    // The sum of all clients contains the jobs of all groups.
    let described: Vec<&Value> = all.into_iter().filter(same).collect();
    check_starts(&described, document)?;
    Ok(Jobs {
        measured: described.clone(),
        described,
    })
}

fn group_ids(jobs: &[&Value]) -> BTreeSet<u64> {
    let ids = jobs.iter().filter_map(|job| job["groupid"].as_u64());
    ids.collect()
}

/// Number of groups of jobs in a result.
pub fn groups(document: &Value) -> usize {
    let jobs: Vec<&Value> = list(document).into_iter().flatten().collect();
    group_ids(&jobs).len()
}

/// Differences between the starts of jobs that start together: this share of the longest runtime,
/// and this number of ms.
const MAX_START_SHARE: f64 = 0.05;
const MAX_START_MS: f64 = 100.0;

/// Rates of jobs that did not run at the same time cannot be added.
fn check_starts(jobs: &[&Value], document: &Value) -> Result<(), ResultError> {
    // Unix times in ms, printed by recent versions. The clocks of clients may differ.
    let starts = || {
        let jobs = jobs.iter().filter(|_| document["jobs"].is_array());
        jobs.filter_map(|job| job["job_start"].as_u64())
    };
    let spread_ms = starts().max().unwrap_or(0) - starts().min().unwrap_or(0);
    let longest_ms = jobs.iter().map(|job| runtime_ms(job)).max().unwrap_or(0);
    if spread_ms as f64 > MAX_START_SHARE * longest_ms as f64 + MAX_START_MS {
        let detail = format!(
            "the jobs started at different times ({spread_ms} ms apart), so their results cannot be added; run fio once per job"
        );
        return Err(ResultError::invalid("", detail));
    }
    for names in [
        ["startdelay", "start_delay"],
        ["wait_for", "wait_for_previous"],
    ] {
        let starts = jobs.iter().map(|job| {
            let sources = [&job["job options"], &document["global options"]];
            let mut values = sources
                .iter()
                .flat_map(|options| names.map(|name| options[name].as_str()));
            values.find_map(|value| value).unwrap_or("0")
        });
        let starts: BTreeSet<&str> = starts.collect();
        if starts.len() > 1 {
            let detail = format!(
                "the jobs started at different times ({}), so their results cannot be added; give each job its own group (new_group), or run fio once per job",
                names[0]
            );
            return Err(ResultError::invalid("", detail));
        }
    }
    Ok(())
}

/// fio 2 reports latencies in µs and bandwidths in KiB/s under the same names.
fn check_version(version: &str) -> Result<(), ResultError> {
    let number = version.strip_prefix("fio-").unwrap_or(version);
    let major = number
        .split('.')
        .next()
        .and_then(|text| text.parse::<u32>().ok());
    match major {
        Some(major) if major < 3 => {
            let detail = format!(
                "{version} uses different units; only results from fio 3.0 or newer are supported"
            );
            Err(ResultError::invalid("", detail))
        }
        _ => Ok(()),
    }
}

/// Returns all jobs, and the jobs whose numbers are added. With `--client`, the latter are only the
/// sum of all clients, if fio printed it.
fn listed_and_measured(document: &Value) -> Result<(Vec<&Value>, Vec<&Value>), ResultError> {
    if let Some(jobs) = document["jobs"].as_array() {
        return Ok((jobs.iter().collect(), jobs.iter().collect()));
    }
    let Some(clients) = document["client_stats"].as_array() else {
        return Err(ResultError::invalid("", "this fio result has no jobs"));
    };
    let is_sum = |job: &&Value| job["jobname"] == "All clients";
    let sum: Vec<&Value> = clients.iter().filter(is_sum).collect();
    let jobs: Vec<&Value> = clients.iter().filter(|job| !is_sum(job)).collect();
    let measured = if sum.is_empty() { jobs.clone() } else { sum };
    Ok((jobs, measured))
}

fn check_job(index: usize, job: &Value) -> Result<(), ResultError> {
    let path = format!("jobs[{index}]");
    for field in ["jobname", "hostname"] {
        if !job[field].is_null() && !job[field].is_string() {
            return Err(ResultError::invalid(
                format!("{path}.{field}"),
                "is not a string",
            ));
        }
    }
    if !job["groupid"].is_null() && !job["groupid"].is_u64() {
        return Err(ResultError::invalid(
            format!("{path}.groupid"),
            "is not a non-negative integer",
        ));
    }
    let mut missing = DIRECTIONS.iter().filter(|name| job[**name].is_null());
    let Some(missing) = missing.next() else {
        return Ok(());
    };
    let detail = match job["mixed"].is_object() {
        true => {
            "adds reads and writes (unified_rw_reporting=1); run it with unified_rw_reporting=0"
                .to_owned()
        }
        // fio prints all directions, including those without I/O.
        false => format!("has no {missing}; use fio's complete output"),
    };
    Err(ResultError::invalid(path, detail))
}

/// The group to read; `None` for all jobs if they ran at the same time.
fn selected(
    groups: &BTreeSet<u64>,
    jobs: &[&Value],
    document: &Value,
    step: Option<u64>,
) -> Result<Option<u64>, ResultError> {
    if let Some(step) = step {
        let index = usize::try_from(step.saturating_sub(1)).unwrap_or(usize::MAX);
        let group = groups.iter().nth(index).copied().filter(|_| step > 0);
        return group
            .map(Some)
            .ok_or(ResultError::NoSuchGroup(groups.len()));
    }
    if groups.len() < 2
        || groups
            .iter()
            .skip(1)
            .all(|group| is_concurrent(*group, jobs, document))
    {
        return Ok(None);
    }
    Err(ResultError::MultipleGroups(groups.len()))
}

/// `new_group` starts a group without waiting for the jobs before it.
fn is_concurrent(group: u64, jobs: &[&Value], document: &Value) -> bool {
    let mut of_group = jobs
        .iter()
        .filter(|job| job["groupid"].as_u64() == Some(group));
    let Some(first) = of_group.next() else {
        return false;
    };
    let has = |name: &str| {
        [&first["job options"], &document["global options"]]
            .iter()
            .any(|options| options[name].is_string())
    };
    has("new_group") && !has("stonewall") && !has("wait_for")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn document(jobs: Value) -> Value {
        json!({"fio version": "fio-3.33", "jobs": jobs})
    }

    fn job(group: u64, options: Value) -> Value {
        json!({"jobname": "a", "groupid": group, "job options": options, "read": {}, "write": {}, "trim": {}})
    }

    #[test]
    fn jobs_that_ran_one_after_another_are_not_added() {
        let stonewall = json!({"stonewall": ""});
        let sequential = document(json!([job(0, json!({})), job(1, stonewall)]));
        let error = jobs(&sequential, "fio-3.33", None).err().unwrap();
        assert_eq!(error, ResultError::MultipleGroups(2));
        let second = jobs(&sequential, "fio-3.33", Some(2)).ok().unwrap();
        assert_eq!(second.measured[0]["groupid"], 1);
        assert!(jobs(&sequential, "fio-3.33", Some(3)).is_err());
        let new_group = json!({"new_group": ""});
        let concurrent = document(json!([job(0, json!({})), job(1, new_group)]));
        assert_eq!(
            jobs(&concurrent, "fio-3.33", None)
                .ok()
                .unwrap()
                .measured
                .len(),
            2
        );
    }

    #[test]
    fn clients_are_not_counted_twice() {
        let client = |name: &str| json!({"jobname": name, "read": {}, "write": {}, "trim": {}});
        let document = json!({"client_stats": [client("a"), client("b"), client("All clients")]});
        let jobs = jobs(&document, "fio-3.41", None).ok().unwrap();
        assert_eq!((jobs.measured.len(), jobs.described.len()), (1, 2));
    }

    #[test]
    fn unusable_results_are_errors() {
        for (version, jobs_value, expected) in [
            ("fio-2.21", json!([job(0, json!({}))]), "different units"),
            ("fio-3.33", json!([]), "no jobs"),
            ("fio-3.33", json!([1]), "jobs[0] has no read"),
            (
                "fio-3.33",
                json!([{"read": {}, "trim": {}}]),
                "jobs[0] has no write",
            ),
            ("fio-3.33", json!([{"mixed": {}}]), "unified_rw_reporting"),
            ("fio-3.33", Value::Null, "no jobs"),
        ] {
            let error = jobs(&document(jobs_value), version, None).err().unwrap();
            let error = error.to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn jobs_that_started_at_different_times_are_not_added() {
        let delayed = json!({"startdelay": "1"});
        for options in [delayed.clone(), json!({"wait_for": "a"})] {
            let different = document(json!([job(0, json!({})), job(0, options)]));
            let error = jobs(&different, "fio-3.33", None).err().unwrap();
            assert!(error.to_string().contains("different times"), "{error}");
        }
        let equal = document(json!([job(0, delayed.clone()), job(0, delayed)]));
        assert!(jobs(&equal, "fio-3.33", None).is_ok());
        let started = |ms: u64| {
            let mut job = job(0, json!({}));
            job["job_start"] = ms.into();
            job["read"] = json!({"runtime": 1000});
            job
        };
        let together = document(json!([started(5_000), started(5_120)]));
        assert!(jobs(&together, "fio-3.42", None).is_ok());
        let apart = document(json!([started(5_000), started(7_011)]));
        let error = jobs(&apart, "fio-3.42", None).err().unwrap();
        assert!(error.to_string().contains("2011 ms apart"), "{error}");
    }

    #[test]
    fn selected_groups_exclude_the_sum_of_all_clients() {
        let client = |group: u64, name: &str| json!({"jobname": name, "groupid": group, "read": {}, "write": {}, "trim": {}});
        let document = json!({"client_stats":
            [client(0, "a"), client(1, "b"), client(0, "a"), client(1, "b"), client(0, "All clients")]});
        let second = jobs(&document, "fio-3.41", Some(2)).ok().unwrap();
        assert_eq!(second.measured.len(), 2);
        assert!(second.measured.iter().all(|job| job["jobname"] == "b"));
    }
}
