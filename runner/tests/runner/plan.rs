//! Plans on the real host. Each invalid job results in one problem, with its field and a remedy,
//! and nothing is written.

use leadline_protocol::{
    job::run_spec::parse_run,
    plan::{Plan, job::Mode},
    problem::Problem,
};
use leadline_runner::{
    plan::resolve,
    system::{guard::permissions::Permissions, host::view::View},
};
use serde_json::{Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// A target root that contains one file of 1 MiB.
fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    fs::write(root.path().join("file"), vec![7; 1 << 20]).expect("a file");
    root
}

fn problems(root: &Path, job: &Value) -> Vec<Problem> {
    match parse_run(job) {
        Err(problems) => problems,
        Ok(run) => {
            resolve(
                &run,
                &View::new(&Permissions::below(&[PathBuf::from(root)])),
            )
            .problems
        }
    }
}

fn listing(root: &Path) -> Vec<(String, u64)> {
    let entry = |entry: fs::DirEntry| {
        (
            entry.file_name().to_string_lossy().into_owned(),
            entry.metadata().expect("metadata").len(),
        )
    };
    fs::read_dir(root)
        .expect("the directory")
        .map(|found| entry(found.expect("an entry")))
        .collect()
}

#[test]
fn invalid_jobs_are_rejected_without_writes() {
    let root = root();
    let before = listing(root.path());
    let cases = [
        (json!({"block_size": "4k"}), "block_size", "blocksize"),
        (json!({"size": "1.5g"}), "size", "1536m"),
        (json!({"runtime": "10sec"}), "runtime", "10s"),
        (json!({"bs": 3000, "direct": 1}), "bs", "multiple"),
        (
            json!({"filename": "/etc/hostname"}),
            "filename",
            "target-root",
        ),
        (json!({"direct": null}), "direct", "direct"),
        (
            json!({"filename": "/dev/leadline-none"}),
            "filename",
            "never created",
        ),
        (json!({"filename": "new", "size": "900t"}), "size", "free"),
        (
            json!({"size": "1g", "bs": "512m", "numjobs": 1024, "rw": "write"}),
            "numjobs",
            "memory",
        ),
        (json!({"rw": "readwrites"}), "rw", "randrw"),
        (
            json!({"trim_percentage": 10}),
            "trim_percentage",
            "not supported",
        ),
        (json!({"bssplit": "4k/60:8k/60"}), "bssplit", "100 %"),
        (json!({"filename": "."}), "filename", "directory"),
        (
            json!({"directory": "gone/deep", "size": "1m", "filename": null}),
            "directory",
            "mkdir",
        ),
        (json!({"filename": "new"}), "size", "1g"),
        (json!({"time_based": 1}), "runtime", "runtime=30s"),
        (
            json!({"rate": "1m", "rate_iops": 5}),
            "rate_iops",
            "Remove one of them",
        ),
        (json!({"rw": "trim"}), "rw", "block device"),
        (json!({"bs": "2m"}), "bs", "region"),
        (json!({"numjobs": 0}), "numjobs", "between 1 and"),
        (json!({"cpus_allowed": "4000"}), "cpus_allowed", "4000"),
        (json!({"nice": 40}), "nice", "-20 and 19"),
    ];
    for (changes, field, text) in cases {
        let mut job = json!({"filename": "file", "direct": 0, "ioengine": "psync"});
        for (name, value) in changes.as_object().expect("an object") {
            match value {
                Value::Null => drop(job.as_object_mut().map(|job| job.remove(name))),
                value => job[name] = value.clone(),
            }
        }
        let mut found = problems(root.path(), &job);
        // Leadline did not create the file, so writing to it requires a confirmation.
        found.retain(|problem| problem.code != "not_confirmed");
        let ends_with_field = |problem: &&Problem| {
            problem
                .field
                .as_deref()
                .is_some_and(|found| found == field || found.ends_with(&format!(".{field}")))
        };
        let problem = found
            .iter()
            .find(ends_with_field)
            .unwrap_or_else(|| panic!("{job}: no problem for {field} in {found:#?}"));
        assert!(
            problem.to_string().contains(text) && !problem.remedy.is_empty(),
            "{job}: {text:?} is missing: {problem}"
        );
        assert_eq!(found.len(), 1, "{job}: expected one problem: {found:#?}");
    }
    assert_eq!(listing(root.path()), before, "planning must not write");
}

#[test]
fn valid_jobs_are_planned_on_the_real_host() {
    let root = root();
    let plan = |job: Value| -> Plan {
        resolve(
            &parse_run(&job).expect("a job"),
            &View::new(&Permissions::below(&[PathBuf::from(root.path())])),
        )
    };
    let buffered =
        plan(json!({"filename": "file", "direct": 0, "rw": "randread", "ioengine": "psync"}));
    assert!(buffered.problems.is_empty(), "{:#?}", buffered.problems);
    let job = &buffered.jobs[0];
    assert_eq!(
        (job.mode, job.target.size, job.targets[0].layout_bytes),
        (Mode::Buffered, 1 << 20, 0)
    );
    assert_eq!(
        Path::new(&job.targets[0].path),
        root.path().canonicalize().expect("a path").join("file")
    );
    let new =
        plan(json!({"name": "new", "size": "2m", "direct": 0, "rw": "write", "ioengine": "psync"}));
    assert_eq!(
        (new.estimate.layout_bytes, new.jobs[0].targets[0].existed),
        (2 << 20, false)
    );
}
