//! Findings and their conditions.

use crate::plan::tests::{merge, plan};
use leadline_protocol::{finding::Severity, job::OPTIONS};
use serde_json::{Value, json};

fn codes(job: Value) -> Vec<String> {
    plan(job)
        .findings
        .into_iter()
        .map(|finding| finding.code)
        .collect()
}

/// Checks that the first job has the finding and the second does not.
fn check(code: &str, with: Value, without: Value) {
    let with_codes = codes(with.clone());
    let without_codes = codes(without.clone());
    assert!(
        with_codes.iter().any(|found| found == code),
        "{code} is missing in {with_codes:?} for {with}"
    );
    assert!(
        without_codes.iter().all(|found| found != code),
        "unexpected {code} for {without}"
    );
}

fn with(changes: Value) -> Value {
    merge(
        json!({"filename": "full", "direct": 1, "rw": "randread", "runtime": "30s", "time_based": 1}),
        &changes,
    )
}

#[test]
fn default_direct_job_has_no_findings() {
    assert_eq!(codes(with(json!({}))), Vec::<String>::new());
}

#[test]
fn findings_depend_on_options() {
    let cases = [
        (
            "short_run",
            json!({"runtime": "2s"}),
            json!({"runtime": "10s"}),
        ),
        (
            "depth_is_one",
            json!({"ioengine": "psync", "iodepth": 4}),
            json!({"ioengine": "psync"}),
        ),
        (
            "depth_is_one",
            json!({"rw": "trim", "filename": "/dev/loop0", "iodepth": 4}),
            json!({"rw": "read", "iodepth": 4}),
        ),
        (
            "buffered_depth",
            json!({"direct": 0, "iodepth": 4}),
            json!({"iodepth": 4}),
        ),
        (
            "fits_into_memory",
            json!({"direct": 0}),
            json!({"direct": 0, "filename": "/dev/vdb"}),
        ),
        (
            "invalidated_once",
            json!({"direct": 0}),
            json!({"direct": 0, "pre_read": 1}),
        ),
        (
            "invalidate_keeps_dirty",
            json!({"direct": 0}),
            json!({"direct": 0, "invalidate": 0}),
        ),
        ("drop_caches_global", json!({"drop_caches": 1}), json!({})),
        (
            "no_device",
            json!({"filename": "/shm/file", "direct": 0, "size": "1m"}),
            json!({}),
        ),
        (
            "file_grows",
            json!({"filename": "full", "rw": "write", "file_append": 1, "size": "1m"}),
            json!({"rw": "write"}),
        ),
        (
            "workers_share_blocks",
            json!({"rw": "read", "numjobs": 2}),
            json!({"rw": "read", "numjobs": 2, "size": "1m", "offset_increment": "1m"}),
        ),
        (
            "raw_buffered",
            json!({"filename": "/dev/vdb", "direct": 0}),
            json!({"filename": "/dev/vdb"}),
        ),
        (
            "results_on_device",
            json!({"filename": "/dev/vdb"}),
            json!({}),
        ),
        (
            "partition_misaligned",
            json!({"filename": "/dev/vdb"}),
            json!({}),
        ),
        (
            "file_extended",
            json!({"filename": "short", "rw": "write", "size": "128m", "fallocate": "none"}),
            json!({"filename": "short", "rw": "write", "size": "64m", "fallocate": "none"}),
        ),
        (
            "file_overwritten",
            json!({"filename": "owned", "rw": "write", "size": "1m", "file_state": "fresh"}),
            json!({"filename": "new", "rw": "write", "size": "1m", "file_state": "fresh"}),
        ),
        (
            "fio_difference",
            json!({"rw": "read:-8k"}),
            json!({"rw": "read:4k"}),
        ),
        (
            "fio_difference",
            json!({"rw": "randread", "random_distribution": "normal:20"}),
            json!({"rw": "randread", "random_distribution": "zipf:1.2"}),
        ),
        (
            "fio_difference",
            json!({"rw": "write", "size": "64k", "io_size": "512k", "bs": "4k", "fsync": 6, "time_based": 0}),
            json!({"rw": "write", "size": "64k", "io_size": "512k", "bs": "4k", "fsync": 5000, "time_based": 0}),
        ),
        (
            "fio_difference",
            json!({"iodepth": 16, "iodepth_batch_submit": 4}),
            json!({"iodepth": 16, "iodepth_batch_submit": 4, "iodepth_batch_complete_min": 4}),
        ),
        (
            "fio_difference",
            json!({"rw": "write", "end_fsync": 1}),
            json!({"rw": "read", "end_fsync": 1}),
        ),
        (
            "fio_difference",
            json!({"filename": "new", "size": "1000k", "bs": "64k"}),
            json!({"filename": "new", "size": "1024k", "bs": "64k"}),
        ),
        (
            "fio_difference",
            json!({"time_based": 0, "io_size": "100k", "bs": "64k"}),
            json!({"time_based": 0, "io_size": "128k", "bs": "64k"}),
        ),
        (
            "invalidated_once",
            json!({"direct": 0, "time_based": 0, "size": "64k", "io_size": "128k"}),
            json!({"direct": 0, "time_based": 0, "size": "64k", "io_size": "64k"}),
        ),
        (
            "rates_limited_by_mix",
            json!({"rw": "randrw", "rate_iops": "10,0"}),
            json!({"rate_iops": "10,20"}),
        ),
        (
            "zeros_written",
            json!({"rw": "write", "zero_buffers": 1}),
            json!({"rw": "write"}),
        ),
        (
            "file_overwritten",
            json!({"rw": "write"}),
            json!({"rw": "write", "filename": "new", "size": "1m"}),
        ),
        (
            "file_overwritten",
            json!({"filename": "sparse", "overwrite": 1}),
            json!({"filename": "sparse"}),
        ),
        (
            "file_extended",
            json!({"filename": "short", "size": "1g", "rw": "randwrite"}),
            json!({"filename": "short", "rw": "randwrite"}),
        ),
        (
            "unwritten_blocks",
            json!({"filename": "sparse"}),
            json!({"filename": "sparse", "overwrite": 1}),
        ),
        (
            "unwritten_blocks",
            json!({"filename": "new", "size": "1m", "fallocate": "native"}),
            json!({"filename": "new", "size": "1m"}),
        ),
        (
            "initial_write",
            json!({"rw": "write", "filename": "new", "size": "1m", "fallocate": "none"}),
            json!({"rw": "write", "filename": "new", "size": "1m"}),
        ),
        (
            "initial_write",
            json!({"rw": "write", "filename": "sparse"}),
            json!({"rw": "write", "filename": "sparse", "overwrite": 1}),
        ),
    ];
    for (code, present, absent) in cases {
        check(code, with(present), with(absent));
    }
}

#[test]
fn unused_options_are_reported() {
    for (option, value, rw) in [
        ("fsync", json!(32), "randread"),
        ("rwmixread", json!(70), "randread"),
        ("zero_buffers", json!(1), "randread"),
        ("random_distribution", json!("zipf:1.2"), "read"),
        ("norandommap", json!(1), "write"),
        ("thinktime_blocks", json!(4), "read"),
        ("end_fsync", json!(1), "read"),
        ("sync", json!("dsync"), "read"),
        ("rate_process", json!("poisson"), "read"),
        ("rw_sequencer", json!("identical"), "randread"),
        ("file_service_type", json!("random"), "randread"),
        ("offset_align", json!("1m"), "randread"),
        ("filename_format", json!("$jobname"), "randread"),
        ("cpus_allowed_policy", json!("split"), "randread"),
        ("thinktime_iotime", json!(1), "randread"),
        ("thinktime_spin", json!(1), "randread"),
        ("rate_cycle", json!(500), "randread"),
        ("buffer_pattern", json!("0xff"), "randread"),
        ("fsync_on_close", json!(1), "read"),
    ] {
        let plan = plan(with(json!({option: value, "rw": rw})));
        let found = plan
            .findings
            .iter()
            .find(|finding| finding.code == "option_unused")
            .unwrap_or_else(|| panic!("{option}"));
        assert!(
            found.sentence.starts_with(option) && found.severity == Severity::Note,
            "{}",
            found.sentence
        );
    }
}

#[test]
fn options_without_effect_are_accepted_with_a_note() {
    let plain = plan(with(json!({})));
    let compatible = OPTIONS
        .iter()
        .filter(|option| option.group == "compatibility" && option.name != "buffered");
    let mut checked = 0;
    for option in compatible {
        let value = match option.kind {
            "text" => json!("nightly"),
            "percentiles" => json!("50:99.9"),
            "generator" => json!("lfsr"),
            "blocks" => json!("issue"),
            "mode" => json!("inline"),
            _ => json!(1),
        };
        let plan = plan(with(json!({option.name: value})));
        assert!(
            plan.problems.is_empty(),
            "{}: {:?}",
            option.name,
            plan.problems
        );
        assert_eq!(plan.jobs, plain.jobs, "{}", option.name);
        let notes = plan.findings.iter();
        let mut notes = notes.filter(|finding| finding.code == "option_accepted");
        let note = notes.next().unwrap_or_else(|| panic!("{}", option.name));
        let begin = format!("{} has no effect: ", option.name);
        assert!(note.sentence.starts_with(&begin), "{}", note.sentence);
        checked += 1;
    }
    assert_eq!(checked, 29);
}

#[test]
fn ramps_within_the_measured_window_are_reported() {
    let late_ramp = |first: Value, second: Value| {
        let plan = plan(json!({"jobs": [with(first), with(second)]}));
        plan.findings
            .into_iter()
            .find(|finding| finding.code == "ramp_in_window")
            .map(|finding| finding.sentence)
    };
    let late = late_ramp(
        json!({"ramp_time": "2s"}),
        json!({"name": "b", "ramp_time": "2s", "startdelay": "3s"}),
    )
    .unwrap();
    assert!(
        late.starts_with("The ramp of job b ends 3.00 s after"),
        "{late}"
    );
    assert!(late_ramp(json!({"ramp_time": "1s"}), json!({})).is_some());
    assert_eq!(
        late_ramp(
            json!({"ramp_time": "5s"}),
            json!({"ramp_time": "2s", "startdelay": "3s"})
        ),
        None,
        "both end at 5 s"
    );
    assert_eq!(
        late_ramp(json!({"ramp_time": "5s"}), json!({"startdelay": "9s"})),
        None,
        "jobs without a ramp are measured from their start"
    );
    assert_eq!(
        late_ramp(
            json!({"ramp_time": "5s", "ioengine": "null", "direct": 0}),
            json!({})
        ),
        None,
        "ioengine=null issues no I/O"
    );
}

#[test]
fn direct_writes_to_cached_blocks_are_reported() {
    let path_of_finding = |first: Value, second: Value| {
        let job = |name: &str, changes: Value| {
            let mut job = json!({"name": name, "filename": "full", "rw": "write", "size": "1m"});
            let fields = changes.as_object().unwrap().clone();
            job.as_object_mut().unwrap().extend(fields);
            with(job)
        };
        let plan = plan(json!({"jobs": [job("a", first), job("b", second)]}));
        assert!(plan.problems.is_empty(), "{:?}", plan.problems);
        let mut findings = plan.findings.into_iter();
        findings
            .find(|finding| finding.code == "direct_and_buffered")
            .map(|finding| finding.evidence["path"].as_str().unwrap().to_owned())
    };
    let (direct, buffered) = (json!({"direct": 1}), json!({"direct": 0}));
    let path = path_of_finding(direct.clone(), buffered.clone()).unwrap();
    assert!(path.ends_with("full"), "{path}");
    assert!(path_of_finding(buffered.clone(), direct.clone()).is_some());
    assert!(path_of_finding(direct.clone(), json!({"direct": 0, "rw": "read"})).is_some());
    for (first, second) in [
        (direct.clone(), direct.clone()),
        (buffered.clone(), buffered.clone()),
        (json!({"direct": 1, "rw": "read"}), buffered),
        (direct, json!({"direct": 0, "offset": "1m"})),
    ] {
        assert_eq!(path_of_finding(first, second), None);
    }
}

#[test]
fn identical_findings_in_multiple_jobs_are_reported_once() {
    let plan = plan(
        json!({"jobs": [with(json!({"name": "a", "runtime": 2})), with(json!({"name": "b", "runtime": 2}))]}),
    );
    assert_eq!(plan.findings.len(), 1);
    assert_eq!(plan.findings[0].evidence["job"], json!("a"));
}

#[test]
fn engines_with_one_io_at_a_time_are_reported() {
    for engine in ["psync", "sync", "pvsync", "pvsync2", "mmap"] {
        let job = json!({"ioengine": engine, "iodepth": 8, "direct": 0});
        let plan = plan(with(job));
        let is_serial = plan
            .findings
            .iter()
            .find(|finding| finding.code == "depth_is_one");
        let sentence = format!("{engine} runs one I/O at a time: the effective depth is 1, not 8.");
        assert_eq!(is_serial.unwrap().sentence, sentence);
        assert_eq!(plan.jobs[0].in_flight(), 1);
    }
    let libaio = plan(with(
        json!({"ioengine": "libaio", "iodepth": 8, "direct": 0}),
    ));
    let buffered = libaio
        .findings
        .iter()
        .find(|finding| finding.code == "buffered_depth");
    assert!(
        buffered
            .unwrap()
            .sentence
            .contains("io_submit returns after the I/O")
    );
    assert_eq!(libaio.jobs[0].in_flight(), 8);
    let trims = plan(with(
        json!({"filename": "/dev/loop0", "ioengine": "libaio", "iodepth": 8, "rw": "randtrim"}),
    ));
    assert_eq!(trims.jobs[0].in_flight(), 1);
}
