//! Job options, as fio printed them, and the workload that they describe.

use super::{clones::distinct, error::ResultError};
use leadline_protocol::{
    job::fio::{
        number,
        printed_options::{DEFAULTS, SIZES},
    },
    workload_summary::WorkloadSummary,
};
use serde_json::{Map, Value};

/// Maximum length of a job name in characters. fio's default, a file name, is not longer.
const MAX_NAME: usize = 255;
/// Maximum length of a value in bytes. fio reads lines of up to 4,096 bytes (`OPT_LEN_MAX`).
const MAX_VALUE: usize = 4096;

/// `global options` apply to all jobs.
pub(super) fn jobs(document: &Value, described: &[&Value]) -> Result<Vec<Value>, ResultError> {
    let global = options(&document["global options"], "global options")?;
    let jobs = distinct(described);
    let jobs = jobs.iter().enumerate().map(|(index, job)| {
        let path = format!("jobs[{index}].job options");
        let own = options(&job["job options"], &path)?;
        let name = job["jobname"].as_str().unwrap_or_default();
        let name: String = name.chars().take(MAX_NAME).collect();
        let mut merged = Map::from_iter([("name".to_owned(), Value::from(name))]);
        let all = global
            .iter()
            .chain(&own)
            .filter(|(option, _)| *option != "name");
        merged.extend(all.map(|(option, value)| (option.clone(), value.clone())));
        Ok(Value::Object(merged))
    });
    jobs.collect()
}

fn options(value: &Value, path: &str) -> Result<Map<String, Value>, ResultError> {
    match value {
        Value::Null => Ok(Map::new()),
        Value::Object(options) => {
            for (name, value) in options {
                let detail = match value.as_str() {
                    Some(text) if text.len() <= MAX_VALUE => continue,
                    Some(_) => "is longer than fio option values can be",
                    None => "is not a string",
                };
                return Err(ResultError::invalid(format!("{path}.{name}"), detail));
            }
            Ok(options.clone())
        }
        _ => Err(ResultError::invalid(path, "is not an object")),
    }
}

/// The workload of the first job. Options that fio did not print have fio's defaults.
pub(super) fn workload(jobs: &[Value]) -> Result<WorkloadSummary, ResultError> {
    let first = jobs.first().and_then(Value::as_object);
    let empty = Map::new();
    let first = first.unwrap_or(&empty);
    let count = |name: &str| {
        let text = value(first, name);
        let number = number::bytes(&text, 1024).map(|number| number.value);
        let number = number.and_then(|number| u32::try_from(number).ok());
        let invalid = || {
            let field = format!("jobs[0].job options.{name}");
            ResultError::invalid(field, "is not a valid number")
        };
        number.ok_or_else(invalid)
    };
    let targets: Vec<&str> = jobs
        .iter()
        .filter_map(|job| job["filename"].as_str())
        .collect();
    let target = match targets.first() {
        None => String::new(),
        Some(first) => {
            let others = targets.iter().filter(|other| other != &first).count();
            match others {
                0 => (*first).to_owned(),
                others => format!("{first} +{others}"),
            }
        }
    };
    Ok(WorkloadSummary {
        jobs: jobs.len() as u32,
        mode: None,
        target,
        device: None,
        rw: value(first, "rw"),
        bs: size_text(&value(first, "bs")),
        iodepth: count("iodepth")?,
        numjobs: count("numjobs")?,
        direct: value(first, "direct") != "0" && value(first, "buffered") != "1",
    })
}

/// Size of all I/Os of a job in one direction (0 for reads, 1 for writes, 2 for trims), in bytes;
/// `None` if it is unknown or not constant.
pub(super) fn block(document: &Value, job: &Value, direction: usize) -> Option<u64> {
    const SIZE_OPTIONS: [&str; 10] = [
        "bs_is_seq_rand",
        "bs_unaligned",
        "blocksize_range",
        "blocksize_unaligned",
        "bsrange",
        "bssplit",
        // If fio merges the jobs of a group, it prints only the options of the last job.
        "group_reporting",
        "kb_base",
        "unified_rw_reporting",
        "num_range",
    ];
    let own = job["job options"].as_object()?;
    let sources = [Some(own), document["global options"].as_object()];
    let given = |name: &str| {
        sources
            .iter()
            .flatten()
            .find_map(|options| options.get(name))
    };
    if SIZE_OPTIONS.iter().any(|name| given(name).is_some()) {
        return None;
    }
    let names = ["bs", "blocksize"];
    let text = match names.iter().find_map(|name| given(name)) {
        None => return Some(4096),
        Some(value) => value.as_str()?,
    };
    let sizes: Vec<&str> = text.split(',').collect();
    // Directions without a size use the last one.
    let size = sizes.get(direction).or(sizes.last())?.trim();
    let number = number::bytes(size, 1024)?;
    u64::try_from(number.value).ok().filter(|bytes| *bytes > 0)
}

/// I/Os that all jobs may have in flight at once. The default depth applies to jobs without a valid
/// depth in fio's output.
pub(super) fn in_flight(document: &Value, described: &[&Value]) -> u64 {
    let depth = |job: &&Value| {
        let count = |name: &str| {
            let own = [&job["job options"], &document["global options"]];
            let mut given = own.iter().filter_map(|options| options[name].as_str());
            let parsed = given.next().and_then(|text| number::bytes(text, 1024));
            parsed.map_or(1, |number| number.value.unsigned_abs())
        };
        count("iodepth").saturating_mul(count("numjobs"))
    };
    described.iter().map(depth).fold(0, u64::saturating_add)
}

fn value(options: &Map<String, Value>, name: &str) -> String {
    let printed = options.get(name).and_then(Value::as_str);
    let default = DEFAULTS.iter().find(|(option, _)| *option == name);
    let default = default.map_or("", |(_, value)| value);
    let is_flag = printed == Some("");
    if is_flag {
        "1".into()
    } else {
        printed.unwrap_or(default).to_owned()
    }
}

/// `4096` is shown as `4k`.
fn size_text(text: &str) -> String {
    match number::bytes(text, 1024) {
        Some(parsed) if parsed.flaw.is_none() && !text.contains([',', '-', ':', '/']) => {
            number::size_text(parsed.value)
        }
        _ => text.to_owned(),
    }
}

/// `4k` and `4096` are the same size, and an option without a value is 1.
pub(super) fn normalized(name: &str, value: &str) -> String {
    if value.is_empty() {
        return "1".into();
    }
    if SIZES.contains(&name)
        && let Some(parsed) = number::bytes(value, 1024)
        && parsed.flaw.is_none()
        && !parsed.is_percent
    {
        return parsed.value.to_string();
    }
    value.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn block_size_is_known_for_a_single_job() {
        let of = |options: Value| block(&json!({}), &json!({"job options": options}), 1);
        assert_eq!(of(json!({})), Some(4096));
        assert_eq!(of(json!({"bs": "4k,16k"})), Some(16_384));
        assert_eq!(of(json!({"bs": "4k", "bssplit": "4k/50:8k/50"})), None);
        let merged = json!({"name": "b", "bs": "16k", "group_reporting": ""});
        assert_eq!(of(merged), None, "other jobs may have a different size");
    }
}
