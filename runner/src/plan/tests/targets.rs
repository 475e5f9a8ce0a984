//! Paths, regions and layout of targets.

use crate::plan::tests::{
    accepted,
    host::{GIB, MIB},
    merge, plan, resolved_job,
};
use leadline_protocol::plan::{job::ResolvedJob, target::Target};
use serde_json::{Value, json};

/// Path, worker, offset, size, length and layout of each target. The last four are in MiB.
type Summary<'a> = (&'a str, Option<u32>, u64, u64, u64, u64);

fn summary(target: &Target) -> Summary<'_> {
    (
        &target.path,
        target.worker,
        target.offset / MIB,
        target.size / MIB,
        target.length / MIB,
        target.layout_bytes / MIB,
    )
}

fn check_targets(job: Value, expected: &[Summary]) -> ResolvedJob {
    let job = resolved_job(job);
    assert_eq!(
        job.targets.iter().map(summary).collect::<Vec<_>>(),
        expected
    );
    job
}

#[test]
fn file_names_match_fio() {
    check_targets(
        json!({"filename": "new", "size": "1m", "direct": 1}),
        &[("/data/new", None, 0, 1, 1, 1)],
    );
    check_targets(
        json!({"filename": "sub", "directory": "deep", "size": "1m", "direct": 1}),
        &[("/data/deep/sub", None, 0, 1, 1, 1)],
    );
    check_targets(
        json!({"filename": "link", "direct": 1}),
        &[("/data/full", None, 0, 1024, 1024, 0)],
    );
    check_targets(
        json!({"name": "a/b", "size": "2m", "numjobs": 2, "nrfiles": 2, "direct": 1}),
        &[
            ("/data/a_b.0.0", Some(0), 0, 1, 1, 1),
            ("/data/a_b.0.1", Some(0), 0, 1, 1, 1),
            ("/data/a_b.1.0", Some(1), 0, 1, 1, 1),
            ("/data/a_b.1.1", Some(1), 0, 1, 1, 1),
        ],
    );
    check_targets(
        json!({"filename": "full", "numjobs": 4, "direct": 1}),
        &[("/data/full", None, 0, 1024, 1024, 0)],
    );
    check_targets(
        json!({"filename": "full:short", "direct": 1}),
        &[
            ("/data/full", None, 0, 1024, 1024, 0),
            ("/data/short", None, 0, 64, 64, 0),
        ],
    );
}

#[test]
fn regions_are_resolved_to_bytes() {
    let job = check_targets(
        json!({"filename": "full", "size": "50%", "offset": "25%", "direct": 1}),
        &[("/data/full", None, 256, 512, 1024, 0)],
    );
    assert_eq!((job.target.size, job.target.offset), (512 * MIB, 256 * MIB));
    check_targets(
        json!({"filename": "/dev/vdb", "direct": 1, "offset": "9g"}),
        &[("/dev/vdb", None, 9216, 1024, 10240, 0)],
    );
    check_targets(
        json!({"filename": "full", "size": "100m", "offset_increment": "100m", "numjobs": 2, "direct": 1}),
        &[
            ("/data/full", Some(0), 0, 100, 1024, 0),
            ("/data/full", Some(1), 100, 100, 1024, 0),
        ],
    );
    let rest = check_targets(
        json!({"filename": "full", "offset_increment": "512m", "numjobs": 2, "direct": 1}),
        &[
            ("/data/full", Some(0), 0, 1024, 1024, 0),
            ("/data/full", Some(1), 512, 512, 1024, 0),
        ],
    );
    assert_eq!((rest.io_size_of(0), rest.io_size_of(1)), (GIB, 512 * MIB));
    let explicit = resolved_job(
        json!({"filename": "full", "offset_increment": "512m", "numjobs": 2, "direct": 1, "io_size": "1g"}),
    );
    assert_eq!(
        explicit.io_size_of(1),
        GIB,
        "a requested io_size is not truncated"
    );
    check_targets(
        json!({"filename": "new", "filesize": "8m", "size": "4m", "offset": "50%", "direct": 1}),
        &[("/data/new", None, 4, 4, 8, 8)],
    );
    check_targets(
        json!({"filename": "odd", "direct": 0, "bs": 100}),
        &[("/data/odd", None, 0, 0, 0, 0)],
    );
    assert_eq!(
        resolved_job(json!({"filename": "odd", "direct": 0, "bs": 300}))
            .target
            .size,
        900
    );
}

#[test]
fn io_size_is_per_worker() {
    let io_size_mib = |changes: Value| {
        let job = merge(
            json!({"filename": "full", "direct": 1, "size": "10m"}),
            &changes,
        );
        resolved_job(job).timing.io_size / MIB
    };
    assert_eq!(
        [
            io_size_mib(json!({})),
            io_size_mib(json!({"loops": 3})),
            io_size_mib(json!({"io_size": "25m"})),
            io_size_mib(json!({"io_size": "50%", "loops": 2}))
        ],
        [10, 30, 25, 10]
    );
    assert_eq!(
        [
            io_size_mib(json!({"io_size": 0})),
            io_size_mib(json!({"io_size": "0%"}))
        ],
        [10, 10],
        "0 is equivalent to no io_size, as in fio"
    );
}

#[test]
fn layout_writes_only_missing_data() {
    let write = |filename: &str, changes: Value| {
        merge(
            json!({"filename": filename, "rw": "write", "size": "100m", "direct": 0}),
            &changes,
        )
    };
    check_targets(
        write("short", json!({})),
        &[("/data/short", None, 0, 100, 100, 36)],
    );
    check_targets(
        write("new", json!({"fallocate": "none"})),
        &[("/data/new", None, 0, 100, 0, 0)],
    );
    check_targets(
        write("new", json!({"fallocate": "native"})),
        &[("/data/new", None, 0, 100, 100, 0)],
    );
    check_targets(
        write("new", json!({"fallocate": "none", "overwrite": 1})),
        &[("/data/new", None, 0, 100, 100, 100)],
    );
    check_targets(
        write("sparse", json!({})),
        &[("/data/sparse", None, 0, 100, 1024, 0)],
    );
    check_targets(
        write("sparse", json!({"overwrite": 1})),
        &[("/data/sparse", None, 0, 100, 1024, 100)],
    );
    check_targets(
        write("short", json!({"file_append": 1})),
        &[("/data/short", None, 64, 100, 64, 0)],
    );
    check_targets(
        write("new", json!({"create_on_open": 1})),
        &[("/data/new", None, 0, 100, 0, 0)],
    );
    check_targets(
        write("new", json!({"offset_increment": "100m", "numjobs": 2})),
        &[
            ("/data/new", Some(0), 0, 100, 200, 200),
            ("/data/new", Some(1), 100, 100, 200, 0),
        ],
    );
}

#[test]
fn a_read_only_job_does_not_extend_a_foreign_file() {
    let read = |changes: Value| {
        let job = json!({"filename": "short", "rw": "read", "size": "100m", "direct": 0});
        plan(merge(job, &changes)).problems
    };
    let problems = read(json!({}));
    assert_eq!(
        (problems[0].code.as_str(), problems[0].field.as_deref()),
        ("file_too_short", Some("jobs[0].size"))
    );
    for accepted in [
        json!({"size": "64m"}),
        json!({"file_state": "written"}),
        json!({"rw": "rw"}),
    ] {
        let problems = read(accepted);
        assert!(problems.is_empty(), "{problems:?}");
    }
}

#[test]
fn later_jobs_use_files_from_earlier_jobs() {
    let job = |name: &str, size: &str| json!({"name": name, "filename": "new", "size": size, "direct": 1});
    let plan = accepted(json!({"jobs": [job("a", "10m"), job("b", "50%"), job("c", "15m")]}));
    let targets: Vec<_> = plan
        .jobs
        .iter()
        .map(|job| summary(&job.targets[0]))
        .collect();
    assert_eq!(
        targets,
        [
            ("/data/new", None, 0, 10, 10, 10),
            ("/data/new", None, 0, 5, 10, 0),
            ("/data/new", None, 0, 15, 15, 5)
        ]
    );
    assert_eq!(plan.estimate.layout_bytes, 15 * MIB);
    assert!(
        plan.findings
            .iter()
            .all(|finding| finding.code != "file_extended"),
        "the run creates the file"
    );
}
