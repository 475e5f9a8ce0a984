//! Options whose values depend on other options, as in fio.

use crate::plan::tests::{accepted, host::MIB, merge, resolved_job};
use leadline_protocol::plan::job::ResolvedJob;
use serde_json::{Value, json};

#[test]
fn io_priority_matches_fio() {
    let priority = |options: Value| {
        let mut job = json!({"filename": "full", "direct": 1});
        for (name, value) in options.as_object().unwrap() {
            job[name] = value.clone();
        }
        let priority = resolved_job(job).io_priority;
        priority.map(|priority| (priority.class, priority.level))
    };
    assert_eq!(priority(json!({})), None);
    assert_eq!(priority(json!({"prio": 0})), Some((2, 0)));
    assert_eq!(priority(json!({"prioclass": 0, "prio": 7})), Some((2, 7)));
    assert_eq!(priority(json!({"prioclass": 3})), Some((3, 0)));
}

fn with_options(options: &Value) -> ResolvedJob {
    let mut job = json!({"filename": "full", "direct": 1, "rw": "randwrite"});
    for (name, value) in options.as_object().unwrap() {
        job[name] = value.clone();
    }
    resolved_job(job)
}

#[test]
fn pauses_match_fio() {
    let timing = |options: Value| {
        let timing = with_options(&options).timing;
        let spin_us = timing.thinktime_spin_us;
        (timing.thinktime_us, timing.thinktime_blocks, spin_us)
    };
    assert_eq!(timing(json!({"thinktime": 5})), (5, Some(1), 0));
    let iotime = json!({"thinktime": 5, "thinktime_iotime": 1});
    assert_eq!(timing(iotime), (5, None, 0));
    let both = json!({"thinktime": 5, "thinktime_iotime": 1, "thinktime_blocks": 4});
    assert_eq!(timing(both), (5, Some(4), 0));
    let spin = json!({"thinktime": 5, "thinktime_spin": 8});
    assert_eq!(timing(spin), (8, Some(1), 8));
    assert_eq!(timing(json!({"thinktime_spin": 8})).0, 0);
}

#[test]
fn startdelay_is_drawn_from_its_range() {
    let delay = |seed: u64, range: &str| {
        with_options(&json!({"startdelay": range, "randseed": seed}))
            .timing
            .startdelay_ms
    };
    assert_eq!(delay(1, "3"), 3000);
    assert_eq!(delay(1, "500ms-500ms"), 500);
    let delays: Vec<u64> = (1..20).map(|seed| delay(seed, "1-2")).collect();
    assert!(
        delays.iter().all(|ms| (1000..=2000).contains(ms)),
        "{delays:?}"
    );
    assert!(delays.iter().min() != delays.iter().max(), "{delays:?}");
    assert_eq!(delay(7, "1-2"), delay(7, "1-2"));
}

#[test]
fn create_only_measures_nothing() {
    let mut job = json!({"directory": "dir", "direct": 1, "rw": "randread", "size": "1m",
        "numjobs": 2, "runtime": "10s", "time_based": 1, "ramp_time": 5, "create_only": 1});
    job["filename_format"] = json!("$filenum-$jobname-$jobnum");
    job["name"] = json!("a");
    let plan = accepted(job);
    let job = &plan.jobs[0];
    assert!(!job.is_measured() && job.timing.io_size == 0);
    assert!(plan.measures.starts_with("Creates "), "{}", plan.measures);
    assert!(
        plan.findings
            .iter()
            .all(|finding| finding.code != "fio_difference"),
        "{:?}",
        plan.findings
    );
    assert_eq!((job.timing.runtime_ms, job.timing.ramp_ms), (None, 0));
    let files: Vec<(&str, u64)> = job
        .targets
        .iter()
        .map(|target| (target.path.as_str(), target.layout_bytes))
        .collect();
    let paths = ["/data/dir/0-a-0", "/data/dir/0-a-1"].map(|path| (path, MIB));
    assert_eq!(files, paths);
    assert_eq!(plan.estimate.measure_write_bytes, Some(0));
}

/// fio checks only the blocks that the job would write.
#[test]
fn verify_only_of_part_of_the_region_is_reported() {
    let is_reported = |changes: Value| {
        let job = json!({"filename": "full", "direct": 1, "rw": "write", "size": "1m",
            "verify": "crc32c", "verify_only": 1});
        let plan = accepted(merge(job, &changes));
        let mut sentences = plan.findings.iter().map(|finding| &finding.sentence);
        sentences.any(|sentence| sentence.contains("only part of its region"))
    };
    for part in [
        json!({"io_size": "256k"}),
        json!({"number_ios": 10}),
        json!({"rw": "randwrite", "norandommap": 1}),
        json!({"rw": "randrw"}),
        json!({"rw": "write:4k"}),
    ] {
        assert!(is_reported(part.clone()), "{part}");
    }
    for whole in [
        json!({}),
        json!({"io_size": "2m"}),
        json!({"rw": "randwrite"}),
        json!({"rw": "randwrite:8"}),
    ] {
        assert!(!is_reported(whole.clone()), "{whole}");
    }
}

#[test]
fn files_whose_names_omit_the_worker_are_shared() {
    let job = json!({"name": "a/b", "directory": "dir", "direct": 1, "rw": "write", "size": "1m",
        "numjobs": 3, "nrfiles": 2, "filename_format": "f.$filenum.$jobname"});
    let plan = accepted(job);
    let targets = plan.jobs[0].targets.iter();
    let targets: Vec<_> = targets
        .map(|target| (target.path.as_str(), target.worker))
        .collect();
    assert_eq!(
        targets,
        [("/data/dir/f.0.a_b", None), ("/data/dir/f.1.a_b", None)]
    );
}

#[test]
fn a_pattern_supplies_all_data() {
    let data = with_options(&json!({"buffer_pattern": "0xff", "zero_buffers": 1})).data;
    assert!(data.buffer_pattern.is_some() && !data.zero_buffers && !data.refill_buffers);
    assert_eq!(data.scramble_buffers, Some(false));
}

#[test]
fn fsync_on_close_flushes_at_the_end() {
    assert!(with_options(&json!({"fsync_on_close": 1})).target.end_fsync);
}
