//! Excluded runs do not affect comparability.

use super::{STEADY, compare_runs, members, run, scaled};
use leadline_protocol::{
    compare::{Assessment, ComparabilityLevel},
    evidence::target::{CacheMap, DirectFacts, ExtentsReport, ResidencyReport},
    plan::job::ResolvedJob,
    run::Run,
    status::RunStatus,
};
use serde_json::{Value, json};

fn group(iops: &[f64], first: u64) -> Vec<Run> {
    let runs = (first..).zip(iops);
    runs.map(|(number, iops)| run(number, *iops, "device", "6.1"))
        .collect()
}

fn cancelled(number: u64) -> Run {
    let mut run = run(number, 1.0, "page_cache", "6.2");
    run.summary.status = RunStatus::Cancelled;
    run.report = None;
    run.host_facts = None;
    run.resolved = None;
    run.sample_ms = 50;
    run
}

const WRITE_JOB: &str = r#"{"name": "w", "mode": "direct", "rw": "randwrite", "direct": true, "targets": [],
    "size": 1048576, "io_size": 1048576, "offset": 0, "offset_increment": 0, "norandommap": false,
    "randseed": 1, "iodepth": 1, "numjobs": 1, "ioengine": "io_uring", "time_based": true, "ramp_ms": 0,
    "startdelay_ms": 0, "loops": 1, "invalidate": true, "pre_read": false, "fadvise_hint": "random", "drop_caches": false, "sync": "none",
    "fsync": 0, "fdatasync": 0, "end_fsync": false, "fallocate": "written", "overwrite": false, "file_append": false,
    "create_on_open": false, "unlink": false, "rate_process": "linear", "thinktime_us": 0, "thinktime_blocks": 1, "zero_buffers": false,
    "refill_buffers": false, "buffer_compress_percentage": 0, "dedupe_percentage": 0, "cpus_allowed": [], "nice": 0}"#;

pub(super) fn job() -> ResolvedJob {
    let mut job: Value = serde_json::from_str(WRITE_JOB).unwrap();
    for (option, value) in [
        ("bs", json!({"min": 4096, "max": 4096, "split": []})),
        ("blockalign", json!(4096)),
        ("random_distribution", json!({"kind": "random"})),
        ("percentage_random", json!(100)),
        ("rate", json!(null)),
        ("rate_iops", json!(null)),
    ] {
        job[option] = json!({"read": value, "write": value, "trim": value});
    }
    serde_json::from_value(job).unwrap()
}

fn write_run(number: u64, held_data: bool) -> Run {
    let mut run = run(number, 1000.0, "device", "6.1");
    run.resolved = Some(vec![job()]);
    let share = if held_data { 1.0 } else { 0.0 };
    let target = json!({"path": "/t", "kind": "file", "jobs": ["w"], "region_offset": 0, "region_bytes": 1 << 20,
        "state": {"existed": held_data, "written_share": share, "cached_share": null},
        "residency": ResidencyReport::default(), "extents": ExtentsReport::default(), "map": CacheMap::default(),
        "direct": DirectFacts::default(), "absent": {}});
    run.report.as_mut().unwrap().targets = vec![serde_json::from_value(target).unwrap()];
    run
}

fn change(assessment: &Assessment) -> (u64, u64, bool) {
    let change = super::change(assessment, "read_iops");
    (change.baseline_n, change.n, change.paired)
}

#[test]
fn cancelled_runs_do_not_affect_comparability() {
    let mut a = group(&STEADY, 1);
    let mut b = group(&scaled(0.95), 101);
    a.push(cancelled(11));
    b.push(cancelled(111));
    let assessment = compare_runs(&[("before", members(&a, true)), ("after", members(&b, true))]);
    let comparability = &assessment.comparability;
    assert_eq!(comparability.level, ComparabilityLevel::Comparable);
    assert_eq!(comparability.sentence, "Same test on the same host.");
    assert_eq!(
        comparability.reasons[0],
        "#11, #111 are excluded, because each has no report (status: cancelled)."
    );
    assert!(assessment.host_differences.is_empty());
    assert!(assessment.setting_differences.is_empty());
    assert!(assessment.result_differences.is_empty());
    assert_eq!(assessment.groups[1].excluded, [10]);
}

#[test]
fn sentences_state_the_number_of_pairs() {
    let mut a = group(&STEADY, 1);
    let b = group(&scaled(0.9), 101);
    a[3].summary.status = RunStatus::Failed;
    a[7].summary.status = RunStatus::Failed;
    let groups = |paired| {
        [
            ("before", members(&a, paired)),
            ("after", members(&b, paired)),
        ]
    };
    let pairs = compare_runs(&groups(true));
    assert_eq!(change(&pairs), (8, 8, true));
    assert!(pairs.answers[0].contains("8 pairs"), "{}", pairs.answers[0]);
    let unpaired = compare_runs(&groups(false));
    assert_eq!(change(&unpaired), (8, 10, false));
    let answer = &unpaired.answers[0];
    assert!(answer.contains("10 and 8 runs"), "{answer}");
    let one = compare_runs(&[
        ("before", members(&a[..1], true)),
        ("after", members(&b[..1], true)),
    ]);
    let answer = &one.answers[0];
    assert!(answer.contains("(1 pair)"), "{answer}");
    assert!(answer.contains("(1 pair). A verdict on"), "{answer}");
}

#[test]
fn groups_that_share_one_block_are_not_paired() {
    let a = group(&STEADY, 1);
    let b = group(&scaled(0.9), 101);
    let mut later = members(&b, true);
    for run in &mut later {
        run.block.as_mut().unwrap().repeat += 9;
    }
    let assessment = compare_runs(&[("before", members(&a, true)), ("after", later)]);
    assert_eq!(change(&assessment), (10, 10, false));
}

#[test]
fn first_write_to_a_file_is_excluded() {
    let first = |first: bool, number| write_run(number, !first);
    let a: Vec<Run> = (1..=4).map(|n| first(n == 1, n)).collect();
    let b: Vec<Run> = (11..=14).map(|n| first(false, n)).collect();
    let assessment = compare_runs(&[("before", members(&a, true)), ("after", members(&b, true))]);
    let comparability = &assessment.comparability;
    assert_eq!(comparability.level, ComparabilityLevel::Comparable);
    assert_eq!(
        comparability.reasons,
        ["#1 is the first write to its file, which also allocates the blocks, so it is excluded."]
    );
    assert_eq!(assessment.groups[0].excluded, [0]);
    assert_eq!(change(&assessment), (3, 3, true));

    let first_writes: Vec<Run> = (1..=4).map(|n| first(true, n)).collect();
    let assessment = compare_runs(&[
        ("new files", members(&first_writes, true)),
        ("after", members(&b, true)),
    ]);
    assert_eq!(assessment.groups[0].complete, 4);
    let sentence = &assessment.comparability.sentence;
    assert!(
        sentence.contains("data in the target before the run (no / yes)"),
        "{sentence}"
    );
}
