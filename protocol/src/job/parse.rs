//! JSON in, jobs out: every bad field is told at once, and an unknown name meets the nearest known one.

use crate::job::{Job, OPTIONS};
use crate::problem::Problem;
use crate::problem::fields::most_alike;
use serde_json::{Map, Value};
use utoipa::openapi::schema::{
    AdditionalProperties, ObjectBuilder, OneOfBuilder, SchemaType, Type,
};
use utoipa::{PartialSchema, ToSchema};

/// The most jobs one run may hold; more are a study.
pub const MAX_JOBS: usize = 64;
/// The sampling grid when nothing else is asked, in milliseconds.
pub const DEFAULT_SAMPLE_MS: u32 = 100;
/// The finest and the coarsest grid, in milliseconds: below 10 ms reading the kernel's counters would itself be a
/// load, above 10 s nothing is live.
pub const SAMPLE_MS_RANGE: std::ops::RangeInclusive<u32> = 10..=10_000;

/// fio's options that are known and not built: refused by name, with what to do instead where there is something.
const NOT_BUILT: &[(&str, &str)] = &[
    (
        "buffered",
        "Write direct=0 for buffered=1, and direct=1 for buffered=0.",
    ),
    (
        "group_reporting",
        "Leave it out: results are always given per job and for the whole run.",
    ),
    ("thread", "Leave it out: clones are always threads."),
    ("stonewall", "Put the jobs into runs of their own."),
    ("wait_for", "Put the jobs into runs of their own."),
    (
        "iodepth_low",
        "Leave it out: new I/Os are submitted as soon as old ones are reaped.",
    ),
    (
        "iodepth_batch_complete_max",
        "Leave it out: everything that is complete is reaped.",
    ),
    (
        "scramble_buffers",
        "Leave it out, or write refill_buffers=1 for fresh data.",
    ),
    (
        "allow_mounted_write",
        "Leave it out: a device in use is never written.",
    ),
    ("log_avg_msec", "Use sample_ms beside jobs."),
    ("exec_prerun", "Commands are never run from a job."),
    ("exec_postrun", "Commands are never run from a job."),
];
const NOT_BUILT_ELSE: &str = "description lockfile filename_format unique_filename opendir bs_unaligned bs_is_seq_rand ignore_error \
    rw_sequencer serialize_overlap io_submit_mode fill_device offset_align random_generator allrandrepeat file_service_type openfiles \
    write_barrier sync_file_range atomic verify_only clocksource verify do_verify verify_interval verify_offset verify_pattern \
    verify_fatal verify_dump verify_async verify_backlog verify_backlog_batch experimental_verify verify_state_load verify_state_save \
    trim_percentage trim_verify_zero trim_backlog trim_backlog_batch write_iolog read_iolog replay_no_stall replay_redirect replay_scale \
    replay_align replay_time_scale replay_skip ioscheduler zonemode zonesize zonecapacity zonerange zoneskip lockmem prio prioclass \
    thinktime_spin thinktime_blocks_type thinktime_iotime rate_min rate_cycle rate_ignore_thinktime rate_iops_min max_latency \
    latency_target latency_window latency_percentile latency_run write_hint create_serialize create_fsync create_only allow_file_create \
    cpumask cpus_allowed_policy numa_cpu_nodes numa_mem_policy fsync_on_close unlink_each_loop exitall exit_what exitall_on_error new_group \
    per_job_logs write_bw_log bwavgtime write_lat_log write_iops_log iopsavgtime log_entries log_hist_msec write_hist_log log_max_value \
    log_offset log_prio log_compression block_error_percentiles stats buffer_pattern buffer_compress_chunk dedupe_mode \
    dedupe_working_set_percentage dedupe_global clat_percentiles lat_percentiles slat_percentiles percentile_list significant_figures \
    disk_util gtod_reduce disable_lat disable_clat disable_slat disable_bw_measurement gtod_cpu unified_rw_reporting continue_on_error \
    error_dump cgroup cgroup_nodelete cgroup_weight uid gid kb_base unit_base flow flow_id flow_sleep steadystate \
    steadystate_duration steadystate_ramp_time registerfiles sqthread_poll_cpu nonvectored uncached nowait";

/// A run as asked: one or more jobs that start together.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSpec {
    /// The jobs in order; at least one.
    pub jobs: Vec<Job>,
    /// The sampling grid in milliseconds.
    pub sample_ms: u32,
    /// The mark of the study that the run is a step of: files that carry it in their name were made by an earlier step.
    pub study: Option<String>,
    /// The devices that were meant when it was asked for, as `plan::Target::known_as` tells them; empty when nobody said.
    pub devices: Vec<String>,
}

/// Letters of a study's mark: as many hexadecimal digits as 64 bits have, so that no file carries one by chance.
pub const MARK_LETTERS: usize = 16;

/// Reads a run: `{"jobs":[...], "sample_ms":100}` or a single job. `study` beside them is the mark of its study, `devices` what its devices
/// were known as when it was asked for.
///
/// # Errors
/// Every bad field, each with its place, such as `jobs[0].bs`.
pub fn parse_run(value: &Value) -> Result<RunSpec, Vec<Problem>> {
    let Some(object) = value.as_object() else {
        return Err(vec![Problem::invalid(
            "not_a_job",
            "",
            "A job is a JSON object.",
            "Write {\"rw\":\"randread\", ...} or {\"jobs\":[...]}.",
        )]);
    };
    let mut problems = Vec::new();
    let ask = match object.get("jobs") {
        None => RunSpec {
            jobs: vec![parse_job(object, "jobs[0].", &mut problems)],
            sample_ms: DEFAULT_SAMPLE_MS,
            study: None,
            devices: Vec::new(),
        },
        Some(jobs) => {
            refuse_unknown_run_fields(object, &mut problems);
            RunSpec {
                jobs: parse_jobs(jobs, &mut problems),
                sample_ms: parse_sample_ms(object, &mut problems),
                study: parse_study(object, &mut problems),
                devices: parse_devices(object, &mut problems),
            }
        }
    };
    if problems.is_empty() {
        Ok(ask)
    } else {
        Err(problems)
    }
}

fn refuse_unknown_run_fields(object: &Map<String, Value>, problems: &mut Vec<Problem>) {
    for name in object
        .keys()
        .filter(|name| !["jobs", "sample_ms", "study", "devices"].contains(&name.as_str()))
    {
        problems.push(Problem::invalid(
            "unknown_option",
            name.as_str(),
            format!("`{name}` is not a field of a run."),
            "A run has jobs and sample_ms; options stand in the jobs.",
        ));
    }
}

fn parse_sample_ms(object: &Map<String, Value>, problems: &mut Vec<Problem>) -> u32 {
    let Some(value) = object.get("sample_ms") else {
        return DEFAULT_SAMPLE_MS;
    };
    match value
        .as_u64()
        .and_then(|ms| u32::try_from(ms).ok())
        .filter(|ms| SAMPLE_MS_RANGE.contains(ms))
    {
        Some(ms) => ms,
        None => {
            let remedy = format!(
                "Write a whole number of milliseconds from {} to {}.",
                SAMPLE_MS_RANGE.start(),
                SAMPLE_MS_RANGE.end()
            );
            problems.push(Problem::invalid(
                "bad_value",
                "sample_ms",
                format!("{value} is not a sampling grid."),
                remedy,
            ));
            DEFAULT_SAMPLE_MS
        }
    }
}

/// Whether a word can be the mark of a study.
pub fn is_mark(text: &str) -> bool {
    text.len() == MARK_LETTERS && text.bytes().all(|letter| letter.is_ascii_hexdigit())
}

fn parse_devices(object: &Map<String, Value>, problems: &mut Vec<Problem>) -> Vec<String> {
    let Some(value) = object.get("devices") else {
        return Vec::new();
    };
    serde_json::from_value(value.clone()).unwrap_or_else(|_| {
        let sentence = format!("{value} is no list of what devices are known as.");
        problems.push(Problem::invalid(
            "bad_value",
            "devices",
            sentence,
            "Leave it out; the server says it of runs that waited.",
        ));
        Vec::new()
    })
}

fn parse_study(object: &Map<String, Value>, problems: &mut Vec<Problem>) -> Option<String> {
    let value = object.get("study")?;
    let mark = value
        .as_str()
        .filter(|text| is_mark(text))
        .map(str::to_owned);
    if mark.is_none() {
        let remedy = format!(
            "Leave it out; a study gives its steps a mark of {MARK_LETTERS} hexadecimal digits."
        );
        problems.push(Problem::invalid(
            "bad_value",
            "study",
            format!("{value} is not the mark of a study."),
            remedy,
        ));
    }
    mark
}

fn parse_jobs(jobs: &Value, problems: &mut Vec<Problem>) -> Vec<Job> {
    let jobs = jobs.as_array().map(Vec::as_slice).unwrap_or_default();
    if jobs.is_empty() || jobs.len() > MAX_JOBS {
        let sentence = format!("A run holds 1 to {MAX_JOBS} jobs; this has {}.", jobs.len());
        problems.push(Problem::invalid(
            "job_count",
            "jobs",
            sentence,
            "Write \"jobs\":[{...}]; split larger sets into several runs.",
        ));
        return Vec::new();
    }
    let parse = |(index, job): (usize, &Value)| match job.as_object() {
        Some(object) => parse_job(object, &format!("jobs[{index}]."), problems),
        None => {
            problems.push(Problem::invalid(
                "not_a_job",
                format!("jobs[{index}]"),
                "A job is a JSON object.",
                "Write {\"rw\":\"randread\", ...}.",
            ));
            Job::default()
        }
    };
    jobs.iter().enumerate().map(parse).collect()
}

fn parse_job(object: &Map<String, Value>, path: &str, problems: &mut Vec<Problem>) -> Job {
    let mut job = Job::default();
    for (name, value) in object {
        let field = format!("{path}{name}");
        let Some(text) = text_of(value) else {
            let remedy = "Write a number, a text such as \"4k\", or true or false.";
            problems.push(Problem::invalid(
                "bad_value",
                field,
                format!("{value} is not a value of an option."),
                remedy,
            ));
            continue;
        };
        match job.set(name, &text) {
            Some(Ok(())) => settle_mix(&mut job, name),
            Some(Err(why)) => problems.push(bad_value(field, name, &why)),
            None => problems.push(unknown_option(field, name)),
        }
    }
    job
}

/// `rwmixread` and `rwmixwrite` are two names for one figure; as in fio, the later one counts.
fn settle_mix(job: &mut Job, name: &str) {
    match name {
        "rwmixread" => job.rwmixwrite = None,
        "rwmixwrite" => job.rwmixread = None,
        _ => {}
    }
}

fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(if *flag { "1".into() } else { "0".into() }),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

fn bad_value(field: String, name: &str, why: &str) -> Problem {
    let doc = OPTIONS
        .iter()
        .find(|option| option.name == name || option.aliases.contains(&name));
    let help = doc
        .map(|doc| format!("{}: {}", doc.name, doc.help))
        .unwrap_or_default();
    Problem::invalid("bad_value", field, format!("{why}."), help)
}

fn unknown_option(field: String, name: &str) -> Problem {
    if let Some((_, remedy)) = NOT_BUILT.iter().find(|(known, _)| *known == name) {
        return Problem::invalid(
            "option_not_built",
            field,
            format!("fio's `{name}` is not built here."),
            *remedy,
        );
    }
    if NOT_BUILT_ELSE.split_whitespace().any(|known| known == name) {
        return Problem::invalid(
            "option_not_built",
            field,
            format!("fio's `{name}` is not built here."),
            "Leave it out; it is never ignored silently.",
        );
    }
    let names = OPTIONS
        .iter()
        .flat_map(|option| std::iter::once(option.name).chain(option.aliases.iter().copied()));
    let remedy = most_alike(name, names).map_or_else(
        || "GET /api/v1/options lists what there is.".into(),
        |known| format!("Did you mean `{known}`?"),
    );
    Problem::invalid(
        "unknown_option",
        field,
        format!("There is no option `{name}`."),
        remedy,
    )
}

impl ToSchema for Job {
    fn name() -> std::borrow::Cow<'static, str> {
        "Job".into()
    }
}

impl PartialSchema for Job {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        let text_or_number = |help: &str| {
            let plain = |kind| ObjectBuilder::new().schema_type(SchemaType::Type(kind));
            OneOfBuilder::new()
                .item(plain(Type::String))
                .item(plain(Type::Number))
                .item(plain(Type::Boolean))
                .description(Some(help))
        };
        OPTIONS
            .iter()
            .fold(ObjectBuilder::new(), |schema, option| schema.property(option.name, text_or_number(option.help)))
            .description(Some("One workload on one target, in fio's option names. Values are numbers or fio-style texts such as \"4k\" or \"30s\"."))
            .additional_properties(Some(AdditionalProperties::FreeForm(false)))
            .into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::job::value::{
        Bytes, Distribution, EngineName, Extent, Flag, PerDirection, RwKind, Seconds,
    };

    fn problems(value: Value) -> Vec<Problem> {
        parse_run(&value).expect_err("should be refused")
    }

    #[test]
    fn the_contracts_example_is_read() {
        let ask = parse_run(
            &json!({"name":"demo","filename":"/data/t1","size":"1g","rw":"randread","bs":"4k","iodepth":32,"numjobs":1,"direct":1,
            "ioengine":"io_uring","runtime":"30s","time_based":true}),
        )
        .unwrap();
        let job = &ask.jobs[0];
        assert_eq!(job.size, Some(Extent::Bytes(1 << 30)));
        assert_eq!(job.rw.unwrap().kind, RwKind::Randread);
        assert_eq!(job.bs, Some(PerDirection::same(Bytes(4096))));
        assert_eq!(
            (job.direct, job.time_based),
            (Some(Flag(true)), Some(Flag(true)))
        );
        assert_eq!(
            (job.runtime, job.ioengine),
            (Some(Seconds(30_000_000)), Some(EngineName::IoUring))
        );
        assert_eq!(job.loops, None);
    }

    #[test]
    fn every_bad_field_is_named_at_once() {
        let found = problems(
            json!({"jobs":[{"size":"1.5g","runtime":"10sec","block_size":"4k","verify":"md5"},{"rwmixread":101,"bs":[1]}]}),
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
                "jobs[0].verify",
                "jobs[1].rwmixread",
                "jobs[1].bs"
            ]
        );
        assert!(found[2].remedy.contains("`blocksize`"), "{}", found[2]);
        assert_eq!(found[3].code, "option_not_built");
    }

    #[test]
    fn aliases_and_mixes_follow_fio() {
        let ask =
            parse_run(&json!({"blocksize":"8k,32k","rwmixread":70,"rwmixwrite":60,"random_distribution":"zipf:1.2"})).unwrap();
        assert_eq!(
            ask.jobs[0].bs,
            Some(PerDirection {
                read: Bytes(8192),
                write: Bytes(32768),
                trim: Bytes(32768)
            })
        );
        assert_eq!(
            (ask.jobs[0].rwmixread, ask.jobs[0].rwmixwrite.map(|p| p.0)),
            (None, Some(60))
        );
        assert_eq!(
            ask.jobs[0].random_distribution,
            Some(PerDirection::same(Distribution::Zipf { theta: 1.2 }))
        );
    }

    #[test]
    fn a_range_in_bs_is_refused_because_fio_means_something_else() {
        let found = problems(json!({"bs":"4k-16k"}));
        assert!(found[0].to_string().contains("bsrange"), "{}", found[0]);
    }

    #[test]
    fn every_default_in_the_table_can_be_read() {
        for option in OPTIONS {
            if let Some(default) = option.default {
                assert!(
                    matches!(Job::default().set(option.name, default), Some(Ok(()))),
                    "{} = {default}",
                    option.name
                );
            }
        }
    }

    #[test]
    fn nothing_that_is_built_is_called_not_built() {
        for option in OPTIONS {
            assert!(
                !NOT_BUILT_ELSE
                    .split_whitespace()
                    .any(|name| name == option.name),
                "{}",
                option.name
            );
        }
    }

    #[test]
    fn the_number_of_jobs_and_the_grid_are_bounded() {
        assert_eq!(problems(json!({"jobs":[]}))[0].code, "job_count");
        assert_eq!(
            problems(json!({"jobs":[{}],"sample_ms":1}))[0]
                .field
                .as_deref(),
            Some("sample_ms")
        );
    }
}
