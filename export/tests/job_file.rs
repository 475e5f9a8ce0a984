//! Job files for fio.

use leadline_export::fio::job_file::job_file;
use serde_json::{Value, json};
use std::{fs, process::Command};

fn text(jobs: &[Value]) -> String {
    job_file(jobs, &[])
}

#[test]
fn the_engine_is_explicit() {
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
        text(&[json!({"name": "a", "filename": "/srv/a#1"})]),
        "; Not supported by fio: a: filename=/srv/a#1\n[a]\nioengine=io_uring\n"
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
