//! Twenty kinds of bad input against this very host: each is one clear problem that names the field and the remedy, all
//! of them without a trace on the disk.

use std::fs;
use std::path::{Path, PathBuf};

use leadline_protocol::job::parse::parse_run;
use leadline_protocol::plan::Plan;
use leadline_protocol::plan::resolved::Mode;
use leadline_protocol::problem::Problem;
use leadline_runner::plan::resolve;
use leadline_runner::system::host::view::View;
use serde_json::{Value, json};

/// A target root with one file of 1 MiB in it.
fn root() -> tempfile::TempDir {
    let root = tempfile::tempdir().expect("a directory");
    fs::write(root.path().join("file"), vec![7; 1 << 20]).expect("a file");
    root
}

fn problems(root: &Path, job: &Value) -> Vec<Problem> {
    match parse_run(job) {
        Err(problems) => problems,
        Ok(ask) => resolve(&ask, &View::new(vec![PathBuf::from(root)])).problems,
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
fn bad_input_is_refused_with_its_field_and_nothing_is_written() {
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
            "none is ever created",
        ),
        (json!({"filename": "new", "size": "900t"}), "size", "free"),
        (
            json!({"size": "1g", "bs": "512m", "numjobs": 1024}),
            "numjobs",
            "memory",
        ),
        (json!({"rw": "readwrites"}), "rw", "randrw"),
        (json!({"verify": "md5"}), "verify", "not built"),
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
            "Keep the one",
        ),
        (json!({"rw": "trim"}), "rw", "block device"),
        (json!({"bs": "2m"}), "bs", "fit"),
        (json!({"numjobs": 0}), "numjobs", "1 to"),
        (json!({"cpus_allowed": "4000"}), "cpus_allowed", "4000"),
        (json!({"nice": 40}), "nice", "-20 to 19"),
    ];
    for (different, field, word) in cases {
        let mut job = json!({"filename": "file", "direct": 0, "ioengine": "psync"});
        for (name, value) in different.as_object().expect("an object") {
            match value {
                Value::Null => drop(job.as_object_mut().map(|job| job.remove(name))),
                value => job[name] = value.clone(),
            }
        }
        let found = problems(root.path(), &job);
        let ends_with_field = |problem: &&Problem| {
            problem
                .field
                .as_deref()
                .is_some_and(|found| found == field || found.ends_with(&format!(".{field}")))
        };
        let problem = found
            .iter()
            .find(ends_with_field)
            .unwrap_or_else(|| panic!("{job}: nothing about {field} in {found:#?}"));
        assert!(
            problem.to_string().contains(word) && !problem.remedy.is_empty(),
            "{job}: {word:?} is missing in: {problem}"
        );
        assert_eq!(
            found.len(),
            1,
            "{job}: one mistake, one problem: {found:#?}"
        );
    }
    assert_eq!(listing(root.path()), before, "a plan touches nothing");
}

#[test]
fn a_good_job_is_planned_on_this_host() {
    let root = root();
    let plan = |job: Value| -> Plan {
        resolve(
            &parse_run(&job).expect("a job"),
            &View::new(vec![PathBuf::from(root.path())]),
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
    let fresh = plan(
        json!({"name": "fresh", "size": "2m", "direct": 0, "rw": "write", "ioengine": "psync"}),
    );
    assert_eq!(
        (
            fresh.estimate.layout_bytes,
            fresh.jobs[0].targets[0].existed
        ),
        (2 << 20, false)
    );
}
