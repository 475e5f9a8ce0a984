//! Exports job files for fio.

use leadline_export::fio::job_file::job_file;
use serde_json::{Value, json};
use std::{fs, process::Command};

fn text(jobs: &[Value]) -> String {
    job_file(jobs, &[]).unwrap()
}

#[test]
fn engine_is_explicit() {
    let text_of = |job| text(&[job]);
    assert_eq!(
        text_of(json!({"name": "a", "rw": "randread", "iodepth": 32})),
        "[a]\nioengine=io_uring\nrw=randread\niodepth=32\n"
    );
    assert_eq!(
        text_of(json!({"name": "a", "ioengine": "psync"})),
        "[a]\nioengine=psync\n"
    );
}

#[test]
fn sequences_are_separated_with_commas() {
    let job = json!({"name": "a", "rw": "randread", "random_distribution": "sequence:2:0:1"});
    assert_eq!(
        text(&[job]),
        "[a]\nioengine=io_uring\nrw=randread\nrandom_distribution=sequence:2,0,1\n"
    );
}

#[test]
fn unsupported_options_and_values_are_listed_in_a_comment() {
    let jobs = [
        json!({"name": "a", "rw": "read", "cache_state": "cold", "loop": true}),
        json!({"name": "b", "rw": "write", "fallocate": "written", "ioengine": "io_uring_nop"}),
    ];
    assert_eq!(
        text(&jobs),
        "; Not supported by fio: a: cache_state=cold, a: loop_device=1, \
         b: fallocate=written, b: ioengine=io_uring_nop\n\
         [a]\nioengine=io_uring\nrw=read\n\n[b]\nioengine=null\nrw=write\n"
    );
    assert_eq!(
        text(&[json!({"name": "a", "description": "disk #1"})]),
        "; Not supported by fio: a: description=disk #1\n[a]\nioengine=io_uring\n"
    );
}

#[test]
fn line_breaks_do_not_end_a_comment() {
    let job = json!({"name": "a", "description": "x\nexec_prerun=reboot"});
    assert!(!text(&[job]).contains("\nexec"));
}

/// fio would write to a different file.
#[test]
fn paths_that_fio_replaces_are_rejected() {
    let rejected = |job: Value| {
        let problems = job_file(&[job], &[]).unwrap_err();
        let fields = problems
            .into_iter()
            .map(|problem| problem.field.unwrap_or_default());
        fields.collect::<Vec<_>>()
    };
    for path in [
        "/srv/a#1",
        "/srv/a;b",
        "/srv/${HOME}",
        "/srv/$ncpus",
        "/srv/a\nb",
    ] {
        assert_eq!(
            rejected(json!({"filename": path})),
            ["jobs[0].filename"],
            "{path}"
        );
        assert_eq!(
            rejected(json!({"directory": path})),
            ["jobs[0].directory"],
            "{path}"
        );
    }
    assert_eq!(
        rejected(json!({"name": "a#1", "directory": "/srv"})),
        ["jobs[0].name"]
    );
    assert_eq!(
        text(&[json!({"name": "a#[1]", "filename": "/srv/$a"})]),
        "[a__1_]\nioengine=io_uring\nfilename=/srv/$a\n"
    );
}

#[test]
fn shared_options_are_global() {
    let jobs = [
        json!({"name": "a", "rw": "read", "size": "1g", "bs": "4k"}),
        json!({"name": "b", "rw": "write", "size": "1g", "bs": "4k"}),
    ];
    assert_eq!(
        text(&jobs),
        "[global]\nioengine=io_uring\nsize=1g\nbs=4k\n\n[a]\nrw=read\n\n[b]\nrw=write\n"
    );
}

#[test]
fn fio_accepts_job_files() {
    if Command::new("fio").arg("--version").output().is_err() {
        return eprintln!("skipped: fio is not installed");
    }
    let directory = tempfile::tempdir().unwrap();
    let jobs = [
        json!({"name": "read it", "rw": "randread", "size": "16m", "bs": "4k,8k", "direct": 1, "iodepth": 8, "runtime": "30s", "time_based": 1, "filename": "/tmp/a\\:1:/tmp/b"}),
        json!({"name": "write", "rw": "randrw", "rwmixread": 70, "size": "16m", "bssplit": "4k/50:64k/50", "fsync": 8, "rate_iops": 1000, "random_distribution": "zipf:1.2", "cache_state": "cold", "directory": "/tmp"}),
    ];
    let file = directory.path().join("job.fio");
    fs::write(&file, text(&jobs)).unwrap();
    let output = Command::new("fio")
        .arg("--parse-only")
        .arg(&file)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{errors}");
}
