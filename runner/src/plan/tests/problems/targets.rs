//! Rejected target paths.

use crate::plan::tests::{
    host::TableHost,
    merge, plan,
    problems::{check, check_on},
};
use leadline_protocol::problem::ProblemKind;
use serde_json::{Value, json};

#[test]
fn loop_device_requires_a_complete_file_and_root() {
    let at = |changes: Value| {
        merge(
            json!({"filename": "new", "size": "1m", "rw": "randwrite", "direct": 1, "loop_device": 1}),
            &changes,
        )
    };
    check(
        at(json!({"filename": "/dev/loop0"})),
        "loop_requires_file",
        "loop_device",
        "is a device",
    );
    check(
        at(json!({"file_append": 1})),
        "loop_too_short",
        "loop_device",
        "file_append",
    );
    check(
        at(json!({"fallocate": "none"})),
        "loop_too_short",
        "loop_device",
        "fallocate",
    );
    check(
        at(json!({"filename": "/etc/new"})),
        "outside_roots",
        "filename",
        "target root",
    );
    let user = TableHost {
        is_root: false,
        ..TableHost::default()
    };
    check_on(
        &user,
        at(json!({})),
        &[("loop_unavailable", "jobs[0].loop_device", "root")],
    );
    // Only the loop device must support direct I/O and trims, not the filesystem of its backing
    // file.
    assert!(
        plan(at(json!({"filename": "/shm/file"})))
            .problems
            .is_empty()
    );
    assert!(plan(at(json!({"rw": "trim"}))).problems.is_empty());
}

#[test]
fn files_in_shared_memory_can_be_targets() {
    let at = |options: Value| merge(json!({"size": "1m", "direct": 0, "rw": "write"}), &options);
    let new = plan(at(json!({"filename": "/dev/shm/new"})));
    assert!(new.problems.is_empty(), "{:?}", new.problems);
    check(
        at(json!({"filename": "/dev/shm2/new"})),
        "missing_device",
        "filename",
        "never created",
    );
}

#[test]
fn allow_file_create_rejects_missing_files() {
    let at = |filename: &str| json!({"filename": filename, "size": "1m", "direct": 0, "allow_file_create": 0});
    check(at("new"), "missing_file", "filename", "allow_file_create=0");
    assert!(plan(at("full")).problems.is_empty());
}

#[test]
fn allow_file_create_rejects_layout_for_reads() {
    let job = json!({"filename": "sparse", "size": "1m", "direct": 0, "overwrite": 1});
    let plan_of = |options: Value| plan(merge(job.clone(), &options));
    assert!(plan_of(json!({})).problems.is_empty());
    let rejected = merge(job.clone(), &json!({"allow_file_create": 0}));
    check(
        rejected,
        "region_beyond_end",
        "size",
        "does not write to files",
    );
    let writes = plan_of(json!({"allow_file_create": 0, "rw": "write"}));
    assert!(writes.problems.is_empty(), "{:?}", writes.problems);
}

#[test]
fn paths_that_cannot_be_targets() {
    let at = |filename: &str, rw: &str| json!({"filename": filename, "rw": rw, "size": "1m", "direct": 0});
    check(
        at("/dev/vdz", "read"),
        "missing_device",
        "filename",
        "never created",
    );
    check(
        at("/dev/disk/by-id/x", "write"),
        "missing_device",
        "filename",
        "/dev/disk/by-id/x",
    );
    check(
        at("/nowhere/deep/x", "read"),
        "missing_directory",
        "filename",
        "mkdir -p /nowhere/deep",
    );
    check(
        at("/dev/", "read"),
        "no_device",
        "filename",
        "Choose a device",
    );
    check(
        at("/data/dir", "read"),
        "is_a_directory",
        "filename",
        "directory=/data/dir",
    );
    check(
        at("/data/fifo", "read"),
        "unsupported_file_type",
        "filename",
        "neither",
    );
    check(
        at("full", "trim"),
        "trim_requires_device",
        "rw",
        "block device",
    );
    check(
        at("full:/dev/loop0", "read"),
        "mixed_targets",
        "filename",
        "separate jobs",
    );
    check(
        at("full:full", "read"),
        "duplicate_filename",
        "filename",
        "twice",
    );
    check(
        json!({"filename": "/data/full", "directory": "/data", "direct": 0}),
        "conflicting_options",
        "directory",
        "Remove directory",
    );
    check(
        json!({"filename": "full", "nrfiles": 2, "direct": 0}),
        "conflicting_options",
        "nrfiles",
        "has 1 names",
    );
    check(
        json!({"nrfiles": 5000, "size": "1g", "direct": 0}),
        "too_many_files",
        "nrfiles",
        "4096",
    );
    check(
        json!({"nrfiles": 0, "size": "1g", "direct": 0}),
        "too_many_files",
        "nrfiles",
        "nrfiles=0",
    );
    check(
        json!({"directory": "/nowhere/deep", "size": "1m", "direct": 0, "numjobs": 9}),
        "missing_directory",
        "directory",
        "mkdir",
    );
}

#[test]
fn guard_rejects_targets() {
    for (filename, rw, code) in [
        ("/etc/passwd", "read", "outside_roots"),
        ("/etc/new", "write", "outside_roots"),
        ("/dev/vdb", "write", "raw_write_refused"),
        ("/dev/vdb", "randtrim", "raw_write_refused"),
    ] {
        let problem = check(
            json!({"filename": filename, "rw": rw, "size": "1m", "direct": 0}),
            code,
            "filename",
            "",
        );
        assert_eq!(problem.kind, ProblemKind::Guard);
    }
    assert!(
        plan(json!({"filename": "/dev/vdb", "rw": "randread", "direct": 1}))
            .problems
            .is_empty()
    );
    assert!(
        plan(json!({"filename": "/dev/loop0", "rw": "randwrite", "direct": 1}))
            .problems
            .is_empty()
    );
    assert_eq!(
        plan(json!({"filename": "/dev/vdb", "rw": "write", "direct": 1}))
            .jobs
            .len(),
        1,
        "jobs rejected by the guard are still in the plan"
    );
}

#[test]
fn changed_device_identity_is_rejected() {
    let with_devices = |devices: Value| json!({"jobs": [{"filename": "/dev/vdb", "rw": "randread", "direct": 1}], "devices": devices});
    for (devices, is_rejected) in [
        (json!([]), false),
        (json!(["serial:vdb-1"]), false),
        (json!(["serial:vda-1", "serial:vdb-1"]), false),
        (json!(["serial:vda-1"]), true),
        (json!(["vdb"]), true),
    ] {
        let codes: Vec<String> = plan(with_devices(devices.clone()))
            .problems
            .into_iter()
            .map(|problem| problem.code)
            .collect();
        assert_eq!(
            codes,
            if is_rejected {
                vec!["identity_changed"]
            } else {
                Vec::new()
            },
            "{devices}"
        );
    }
}
