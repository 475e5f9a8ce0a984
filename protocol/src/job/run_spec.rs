//! Parses a run: one job, or `{"jobs": [...], "sample_ms": 100}`. All invalid fields are reported
//! together.

use crate::{
    job::Job,
    problem::{
        Problem,
        object_reader::{MAX_LISTED, texts},
    },
};
use serde_json::{Map, Value};
use std::ops::RangeInclusive;

pub(crate) const MAX_JOBS: usize = 64;
const DEFAULT_SAMPLE_MS: u32 = 100;
/// Allowed sampling intervals in ms. Below 10 ms, reading the kernel counters would be a
/// significant load. Above 10 s, the live view would rarely be updated.
pub(crate) const SAMPLE_MS_RANGE: RangeInclusive<u32> = 10..=10_000;
/// A device that is never idle must not delay a study for hours.
pub(crate) const MAX_IDLE_WAIT_SECONDS: u32 = 600;
/// Number of hexadecimal digits in a study's file ID: 64 bits, so that no other file name contains
/// it by chance.
const FILE_ID_LENGTH: usize = 16;

/// Example value of `confirm`, for remedies.
pub const CONFIRM_EXAMPLE: &str = "[\"TEXT@CODE\"]";
const FIELDS: [&str; 7] = [
    "jobs",
    "sample_ms",
    "study",
    "idle_wait_seconds",
    "devices",
    "confirm",
    "accepted_minute",
];

/// One or more jobs that start together.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSpec {
    /// Not empty.
    pub jobs: Vec<Job>,
    pub sample_ms: u32,
    /// File ID of the run's study. Files whose names contain it were created by earlier steps.
    pub study: Option<String>,
    /// Expected [`crate::plan::target::Target::device_id`] of each device target. If empty, they
    /// are not checked.
    pub devices: Vec<String>,
    /// Confirmations that data may be overwritten, as `TEXT@CODE` ([`crate::plan::Confirmation`]).
    pub confirm: Vec<String>,
    /// When the confirmations were given, in minutes since boot; `None` means now. A confirmed run
    /// may have waited in the queue since then.
    pub accepted_minute: Option<u64>,
    /// Maximum time to wait until the run's devices are idle; 0 to begin immediately.
    pub idle_wait_seconds: u32,
}

/// # Errors
/// All invalid fields, with their paths, such as `jobs[0].bs`.
pub fn parse_run(value: &Value) -> Result<RunSpec, Vec<Problem>> {
    let Some(object) = value.as_object() else {
        let remedy = "Use {\"rw\":\"randread\", ...} or {\"jobs\":[...]}.";
        return Err(vec![not_a_job("", remedy)]);
    };
    let mut problems = Vec::new();
    let run = match object.get("jobs") {
        None => RunSpec {
            jobs: vec![Job::parse(object, "jobs[0].", &mut problems)],
            sample_ms: DEFAULT_SAMPLE_MS,
            study: None,
            devices: Vec::new(),
            confirm: Vec::new(),
            accepted_minute: None,
            idle_wait_seconds: 0,
        },
        Some(jobs) => {
            check_names(object, &mut problems);
            RunSpec {
                jobs: parse_jobs(jobs, &mut problems),
                sample_ms: parse_sample_ms(object.get("sample_ms"), &mut problems),
                study: parse_study(object.get("study"), &mut problems),
                devices: parse_devices(object.get("devices"), &mut problems),
                confirm: parse_confirm(object.get("confirm"), &mut problems),
                accepted_minute: object.get("accepted_minute").and_then(Value::as_u64),
                idle_wait_seconds: parse_idle_wait_seconds(
                    object.get("idle_wait_seconds"),
                    &mut problems,
                ),
            }
        }
    };
    if problems.is_empty() {
        Ok(run)
    } else {
        Err(problems)
    }
}

fn not_a_job(field: impl Into<String>, remedy: &str) -> Problem {
    Problem::invalid("not_a_job", field, "A job must be a JSON object.", remedy)
}

fn check_names(object: &Map<String, Value>, problems: &mut Vec<Problem>) {
    let unknown = object
        .keys()
        .filter(|name| !FIELDS.contains(&name.as_str()));
    for name in unknown.take(MAX_LISTED) {
        let detail = format!("Unknown run field `{name}`.");
        let remedy = "A run has only jobs and sample_ms; set options in each job.";
        problems.push(Problem::invalid("unknown_option", name, detail, remedy));
    }
}

fn parse_jobs(jobs: &Value, problems: &mut Vec<Problem>) -> Vec<Job> {
    let jobs = jobs.as_array().map(Vec::as_slice).unwrap_or_default();
    if jobs.is_empty() || jobs.len() > MAX_JOBS {
        let detail = format!(
            "The run has {} jobs; it must have 1 to {MAX_JOBS}.",
            jobs.len()
        );
        let remedy = "Use \"jobs\":[{...}]; split larger sets into multiple runs.";
        problems.push(Problem::invalid("job_count", "jobs", detail, remedy));
        return Vec::new();
    }
    let parse = |(index, job): (usize, &Value)| match job.as_object() {
        Some(options) => Job::parse(options, &format!("jobs[{index}]."), problems),
        None => {
            let field = format!("jobs[{index}]");
            problems.push(not_a_job(field, "Use {\"rw\":\"randread\", ...}."));
            Job::default()
        }
    };
    jobs.iter().enumerate().map(parse).collect()
}

fn parse_sample_ms(value: Option<&Value>, problems: &mut Vec<Problem>) -> u32 {
    let Some(value) = value else {
        return DEFAULT_SAMPLE_MS;
    };
    let sample_ms = value.as_u64().and_then(|ms| u32::try_from(ms).ok());
    sample_ms
        .filter(|ms| SAMPLE_MS_RANGE.contains(ms))
        .unwrap_or_else(|| {
            let detail = format!("{value} is not a sampling interval.");
            let remedy = format!(
                "Use an integer from {} to {} (milliseconds).",
                SAMPLE_MS_RANGE.start(),
                SAMPLE_MS_RANGE.end()
            );
            problems.push(Problem::invalid("bad_value", "sample_ms", detail, remedy));
            DEFAULT_SAMPLE_MS
        })
}

/// Returns `None` for an invalid number.
pub(crate) fn idle_wait_seconds(value: &Value) -> Option<u32> {
    let seconds = u32::try_from(value.as_u64()?).ok()?;
    (seconds <= MAX_IDLE_WAIT_SECONDS).then_some(seconds)
}

pub(crate) const IDLE_WAIT_REMEDY: &str = "Use an integer from 0 to 600; 0 begins immediately.";

fn parse_idle_wait_seconds(value: Option<&Value>, problems: &mut Vec<Problem>) -> u32 {
    let Some(value) = value else {
        return 0;
    };
    idle_wait_seconds(value).unwrap_or_else(|| {
        let detail = format!("{value} is not a valid number of seconds.");
        problems.push(Problem::invalid(
            "bad_value",
            "idle_wait_seconds",
            detail,
            IDLE_WAIT_REMEDY,
        ));
        0
    })
}

fn parse_study(value: Option<&Value>, problems: &mut Vec<Problem>) -> Option<String> {
    let value = value?;
    let file_id = value.as_str().filter(|text| is_file_id(text));
    if file_id.is_none() {
        let detail = format!("{value} is not a study file ID.");
        let remedy =
            format!("Remove it; file IDs are generated ({FILE_ID_LENGTH} hexadecimal digits).");
        problems.push(Problem::invalid("bad_value", "study", detail, remedy));
    }
    file_id.map(str::to_owned)
}

pub fn is_file_id(text: &str) -> bool {
    text.len() == FILE_ID_LENGTH && text.bytes().all(|digit| digit.is_ascii_hexdigit())
}

fn parse_devices(value: Option<&Value>, problems: &mut Vec<Problem>) -> Vec<String> {
    let Some(value) = value else {
        return Vec::new();
    };
    serde_json::from_value(value.clone()).unwrap_or_else(|_| {
        let detail = format!("{value} is not a list of device identities.");
        let remedy = "Remove it; the server sets it for queued runs.";
        problems.push(Problem::invalid("bad_value", "devices", detail, remedy));
        Vec::new()
    })
}

fn parse_confirm(value: Option<&Value>, problems: &mut Vec<Problem>) -> Vec<String> {
    let Some(value) = value else {
        return Vec::new();
    };
    texts(value).unwrap_or_else(|| {
        let detail = format!("{value} is not a list of confirmations.");
        let remedy = format!("Use {CONFIRM_EXAMPLE}, with the text and code from the plan.");
        problems.push(Problem::invalid("bad_value", "confirm", detail, remedy));
        Vec::new()
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::job::direction::PerDirection;
    use crate::job::distribution::Distribution;
    use crate::job::engine::EngineName;
    use crate::job::rw::RwKind;
    use crate::job::size::{Bytes, Extent};
    use crate::job::value::Seconds;

    fn problems(value: Value) -> Vec<Problem> {
        parse_run(&value).expect_err("should be rejected")
    }

    #[test]
    fn parses_the_documented_example() {
        let run = parse_run(
            &json!({"name":"demo","filename":"/data/t1","size":"1g","rw":"randread","bs":"4k","iodepth":32,"numjobs":1,"direct":1,
            "ioengine":"io_uring","runtime":"30s","time_based":true}),
        )
        .unwrap();
        let job = &run.jobs[0];
        assert_eq!(job.size, Some(Extent::Bytes(1 << 30)));
        assert_eq!(job.rw.unwrap().kind, RwKind::Randread);
        assert_eq!(job.bs, Some(PerDirection::same(Bytes(4096))));
        assert_eq!((job.direct, job.time_based), (Some(true), Some(true)));
        assert_eq!(
            (job.runtime, job.ioengine),
            (Some(Seconds(30_000_000)), Some(EngineName::IoUring))
        );
        assert_eq!(job.loops, None);
    }

    #[test]
    fn reports_all_invalid_fields() {
        let found = problems(
            json!({"jobs":[{"size":"1.5g","runtime":"10sec","block_size":"4k","trim_percentage":10},{"rwmixread":101,"bs":[1]}]}),
        );
        let fields: Vec<&str> = found
            .iter()
            .filter_map(|problem| problem.field.as_deref())
            .collect();
        assert_eq!(
            fields,
            [
                "jobs[0].size",
                "jobs[0].runtime",
                "jobs[0].block_size",
                "jobs[0].trim_percentage",
                "jobs[1].rwmixread",
                "jobs[1].bs"
            ]
        );
        assert!(found[2].remedy.contains("`blocksize`"), "{}", found[2]);
        assert_eq!(found[3].code, "unsupported_option");
    }

    #[test]
    fn aliases_and_read_write_mixes_match_fio() {
        let run =
            parse_run(&json!({"blocksize":"8k,32k","rwmixread":70,"rwmixwrite":60,"random_distribution":"zipf:1.2"})).unwrap();
        assert_eq!(
            run.jobs[0].bs,
            Some(PerDirection {
                read: Bytes(8192),
                write: Bytes(32768),
                trim: Bytes(32768)
            })
        );
        assert_eq!(
            (run.jobs[0].rwmixread, run.jobs[0].rwmixwrite.map(|p| p.0)),
            (None, Some(60))
        );
        assert_eq!(
            run.jobs[0].random_distribution,
            Some(PerDirection::same(Distribution::Zipf {
                theta: 1.2,
                center: None
            }))
        );
    }

    #[test]
    fn bs_rejects_ranges() {
        let found = problems(json!({"bs":"4k-16k"}));
        assert!(found[0].to_string().contains("bsrange"), "{}", found[0]);
    }

    #[test]
    fn job_count_and_sampling_interval_are_bounded() {
        assert_eq!(problems(json!({"jobs":[]}))[0].code, "job_count");
        assert_eq!(
            problems(json!({"jobs":[{}],"sample_ms":1}))[0]
                .field
                .as_deref(),
            Some("sample_ms")
        );
    }
}
