//! Invalid and conflicting options.

use crate::plan::tests::{
    host::TableHost,
    plan,
    problems::{check, check_on},
};
use leadline_protocol::job::run_spec::parse_run;
use serde_json::{Value, json};

#[test]
fn direct_is_required() {
    check(
        json!({"filename": "full"}),
        "direct_required",
        "direct",
        "direct=1",
    );
    assert!(
        plan(json!({"ioengine": "null"})).problems.is_empty(),
        "null does not use the page cache"
    );
}

#[test]
fn polling_requires_direct_io_on_a_ring_without_syncs() {
    check(
        json!({"filename": "full", "direct": 0, "hipri": 1}),
        "hipri_requires_direct",
        "hipri",
        "direct=1",
    );
    check(
        json!({"filename": "full", "direct": 1, "spin": "2s"}),
        "out_of_range",
        "spin",
        "at most 1s",
    );
    assert!(
        plan(json!({"ioengine": "io_uring_nop", "hipri": 1, "size": "1m"}))
            .problems
            .is_empty()
    );
    for option in ["fsync", "fdatasync"] {
        let synced = |rw: &str, engine: &str| {
            let mut job =
                json!({"filename": "full", "direct": 1, "hipri": 1, "rw": rw, "ioengine": engine});
            job[option] = json!(32);
            job
        };
        check(
            synced("randwrite", "io_uring"),
            "conflicting_options",
            option,
            "Remove hipri",
        );
        check(
            synced("randrw", "io_uring"),
            "conflicting_options",
            option,
            &format!("{option}=32"),
        );
        for (rw, engine) in [("randread", "io_uring"), ("randwrite", "psync")] {
            assert!(
                plan(synced(rw, engine)).problems.is_empty(),
                "{rw} with {engine} does not sync on a polled ring"
            );
        }
    }
    let polled = |iodepth: u32| json!({"filename": "full", "direct": 1, "sqthread_poll": 1, "iodepth": iodepth});
    check(polled(16_385), "out_of_range", "iodepth", "sqthread_poll");
    assert!(plan(polled(16_384)).problems.is_empty());
}

#[test]
fn invalid_block_sizes() {
    check(
        json!({"filename": "full", "direct": 0, "bs": "4k", "bsrange": "4k-8k"}),
        "conflicting_options",
        "bs",
        "bs and bsrange",
    );
    check(
        json!({"filename": "full", "direct": 0, "bssplit": "4k/50:8k/50", "bsrange": "4k-8k"}),
        "conflicting_options",
        "bsrange",
        "",
    );
    let unaligned =
        json!({"filename": "full", "direct": 0, "bssplit": "4k/50:6k/50", "bs_unaligned": 1});
    assert!(plan(unaligned).problems.is_empty());
    check(
        json!({"filename": "full", "direct": 1, "bsrange": "4k-8k", "bs_unaligned": 1}),
        "conflicting_options",
        "bs_unaligned",
        "direct=0",
    );
    check(
        json!({"filename": "full", "direct": 0, "max_latency": "400d"}),
        "out_of_range",
        "max_latency",
        "365d",
    );
    check(
        json!({"filename": "full", "direct": 0, "bssplit": "4k/50:6k/50"}),
        "split_not_multiple",
        "bssplit",
        "fio would round",
    );
    check(
        json!({"filename": "full", "direct": 0, "bs": 0}),
        "out_of_range",
        "bs",
        "0 bytes",
    );
    check(
        json!({"filename": "full", "direct": 0, "rw": "randread", "blockalign": 0}),
        "out_of_range",
        "blockalign",
        "",
    );
}

#[test]
fn values_that_prevent_all_io() {
    let job = |option: &str, value: Value| json!({"filename": "full", "direct": 0, "bs": "8k", option: value});
    check(
        job("iodepth_batch_complete_min", json!(0)),
        "out_of_range",
        "iodepth_batch_complete_min",
        "spin=",
    );
    check(
        job("io_size", json!("4k")),
        "block_larger_than_io_size",
        "io_size",
        "block size of 8 KiB",
    );
    assert!(plan(job("io_size", json!("8k"))).problems.is_empty());
}

#[test]
fn values_out_of_range() {
    for (option, value) in [
        ("iodepth", json!(0)),
        ("iodepth", json!(100_000)),
        ("numjobs", json!(0)),
        ("numjobs", json!(5000)),
        ("loops", json!(0)),
        ("number_ios", json!(1u64 << 53)),
        ("nice", json!(20)),
        ("nice", json!(-21)),
        ("thinktime_blocks", json!(0)),
        ("runtime", json!("500us")),
        ("runtime", json!("366d")),
        ("ramp_time", json!("366d")),
        ("startdelay", json!("366d")),
        ("thinktime", json!("366d")),
        ("filesize", json!(0)),
        ("randseed", json!(u64::MAX)),
    ] {
        let mut job = json!({"filename": "full", "direct": 0, "thinktime": 1, "ioengine": "psync"});
        job[option] = value;
        check(job, "out_of_range", option, "");
    }
}

/// The job schema enforces these bounds.
#[test]
fn numbers_outside_the_schema_are_rejected() {
    let document = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/../web/openapi.json"));
    let document: Value = serde_json::from_str(document).unwrap();
    let schema = &document["components"]["schemas"]["Job"];
    let job = |option: &str, value: Value| {
        let mut job = json!({"filename": "full", "direct": 0, "rw": "randread", "thinktime": 1, "ioengine": "psync"});
        job[option] = value;
        job
    };
    let mut checked = 0;
    for (option, values) in schema["properties"].as_object().unwrap() {
        let values = values["oneOf"].as_array().unwrap().iter();
        let bounds: Vec<(i128, i128)> = values
            .filter(|values| values["type"] == "integer")
            .map(|values| (integer(&values["minimum"]), integer(&values["maximum"])))
            .collect();
        for (min, max) in &bounds {
            for outside in [min - 1, max + 1] {
                let is_inside = bounds
                    .iter()
                    .any(|(min, max)| (*min..=*max).contains(&outside));
                let number = i64::try_from(outside).map(Value::from);
                let number = number.or_else(|_| u64::try_from(outside).map(Value::from));
                let Some(number) = number.ok().filter(|_| !is_inside) else {
                    continue;
                };
                let job = job(option, number);
                let is_rejected =
                    parse_run(&job).is_err() || !plan(job.clone()).problems.is_empty();
                assert!(is_rejected, "{option}={outside}");
                checked += 1;
            }
        }
    }
    assert!(checked > 100, "{checked}");
}

fn integer(value: &Value) -> i128 {
    let number = value.as_i64().map(i128::from);
    number.or(value.as_u64().map(i128::from)).unwrap()
}

#[test]
fn conflicting_options() {
    check(
        json!({"filename": "full", "direct": 0, "time_based": 1}),
        "missing_runtime",
        "runtime",
        "runtime=30s",
    );
    check(
        json!({"filename": "full", "direct": 0, "rate": "1m", "rate_iops": 10}),
        "conflicting_options",
        "rate_iops",
        "Remove one of them",
    );
    check(
        json!({"filename": "full", "direct": 1, "ioengine": "mmap"}),
        "conflicting_options",
        "direct",
        "direct=0",
    );
    check(
        json!({"filename": "new", "direct": 0, "size": "1g", "ioengine": "mmap", "rw": "write", "fallocate": "none"}),
        "read_beyond_end",
        "fallocate",
        "maps /data/new up to offset 1 GiB",
    );
    check(
        json!({"filename": "short", "direct": 0, "size": "1g", "fallocate": "none"}),
        "read_beyond_end",
        "fallocate",
        "64 MiB",
    );
    check(
        json!({"filename": "new", "direct": 0, "size": "1g", "fallocate": "keep"}),
        "read_beyond_end",
        "fallocate",
        "0 B",
    );
    check(
        json!({"filename": "new", "direct": 0, "size": "1g", "create_on_open": 1}),
        "read_beyond_end",
        "create_on_open",
        "",
    );
    check(
        json!({"filename": "full", "direct": 0, "size": "1g", "file_append": 1}),
        "read_beyond_end",
        "file_append",
        "",
    );
}

#[test]
fn patterns_exclude_other_data() {
    for (option, value) in [
        ("buffer_compress_percentage", json!(50)),
        ("dedupe_percentage", json!(50)),
        ("verify", json!("crc32c")),
    ] {
        check(
            json!({"filename": "new", "direct": 1, "rw": "write", "size": "1m",
                "buffer_pattern": "0xff", option: value}),
            "conflicting_options",
            option,
            "or buffer_pattern",
        );
    }
}

#[test]
fn generated_names_must_differ() {
    check(
        json!({"directory": "dir", "direct": 1, "rw": "write", "size": "1m", "nrfiles": 2,
            "filename_format": "$jobname.$jobnum"}),
        "duplicate_filename",
        "filename_format",
        "$filenum",
    );
}

#[test]
fn minimum_rates_must_be_below_the_limits() {
    let job = |options: Value| {
        let mut job = json!({"filename": "full", "direct": 1});
        for (name, value) in options.as_object().unwrap() {
            job[name] = value.clone();
        }
        job
    };
    for (options, option, text) in [
        (
            json!({"rate_min": "1m", "rate_iops_min": 5}),
            "rate_iops_min",
            "mutually exclusive",
        ),
        (
            json!({"rate_min": "2m", "rate": "1m"}),
            "rate_min",
            "exceeds rate.",
        ),
        (
            json!({"rate_iops_min": 6, "rate_iops": 5}),
            "rate_iops_min",
            "exceeds rate_iops.",
        ),
    ] {
        check(job(options), "conflicting_options", option, text);
    }
    check(
        job(json!({"ratecycle": 0})),
        "out_of_range",
        "rate_cycle",
        "between 100",
    );
    let fitting = job(json!({"ratemin": "1m,", "rate": "2m", "ratecycle": 500}));
    let plan = plan(fitting);
    assert!(plan.problems.is_empty(), "{:?}", plan.problems);
    let min_rate = plan.jobs[0].timing.min_rate.unwrap();
    assert_eq!(
        (min_rate.bytes.read, min_rate.bytes.write),
        (Some(1 << 20), None)
    );
    assert_eq!(min_rate.cycle_ms, 500);
}

#[test]
fn trimmed_blocks_are_written_with_the_same_size() {
    check(
        json!({"filename": "/dev/loop0", "direct": 0, "rw": "randtrimwrite"}),
        "conflicting_options",
        "direct",
        "requires direct=1",
    );
    check(
        json!({"filename": "/dev/loop0", "direct": 1, "rw": "trimwrite", "bs": "4k,8k,4k"}),
        "conflicting_options",
        "bs",
        "the same for writes and trims",
    );
}

#[test]
fn fewer_open_files_than_files_are_rejected() {
    for job in [
        json!({"directory": ".", "nrfiles": 4, "size": "4m", "direct": 1, "rw": "read", "openfiles": 3}),
        json!({"filename": "new1:new2", "size": "4m", "direct": 1, "rw": "read", "openfiles": 1}),
    ] {
        check(
            job,
            "too_few_open_files",
            "openfiles",
            "below the number of files",
        );
    }
}

#[test]
fn all_problems_are_reported_together() {
    let job = json!({"jobs": [
        {"name": "a", "filename": "full", "iodepth": 0, "loops": 0, "nice": 99, "bs": 3000, "direct": 1},
        {"name": "b", "filename": "/dev/vdz", "time_based": 1},
    ]});
    check_on(
        &TableHost::default(),
        job,
        &[
            ("out_of_range", "jobs[0].loops", ""),
            ("out_of_range", "jobs[0].iodepth", ""),
            ("out_of_range", "jobs[0].nice", ""),
            ("misaligned", "jobs[0].bs", ""),
            ("direct_required", "jobs[1].direct", ""),
            ("missing_runtime", "jobs[1].runtime", ""),
            ("missing_device", "jobs[1].filename", ""),
        ],
    );
}

#[test]
fn total_number_of_workers_is_limited() {
    let job = |name: &str| json!({"name": name, "filename": "full", "direct": 1, "numjobs": 1000});
    let plan = plan(json!({"jobs": [job("a"), job("b")]}));
    assert_eq!(plan.problems[0].field.as_deref(), Some("jobs[1].numjobs"));
}
