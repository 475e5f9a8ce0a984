//! Jobs that continue after failed I/Os. Because of a file size limit, writes to the second half of
//! a file fail with EFBIG.

use crate::scratch;
use crate::scratch::program::{runner, spawn, with};
use serde_json::{Value, json};
use std::{
    path::Path,
    process::{Command, Output},
};

const BLOCK: u64 = 4096;
const BLOCKS: u64 = 256;
const FAILED: u64 = BLOCKS / 2;
const EFBIG: i32 = 27;

/// A command that ignores SIGXFSZ and cannot write beyond the first half of a file.
fn limited_command(program: &Path) -> Command {
    let limit = format!("--fsize={}", (BLOCKS - FAILED) * BLOCK);
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; exec prlimit \"$@\"", "sh", &limit])
        .arg(program);
    command
}

fn run(file: &Path, changes: Value) -> (Output, Value) {
    let job = json!({"name": "w", "filename": file, "size": BLOCKS * BLOCK, "bs": BLOCK, "direct": 0,
        "rw": "write", "ioengine": "psync"});
    let mut command = limited_command(Path::new(runner().get_program()));
    command.args(["run", "-", "--json"]);
    let output = spawn(&mut command, &with(&job, changes))
        .wait_with_output()
        .unwrap();
    let result = serde_json::from_slice(&output.stdout).unwrap_or_default();
    (output, result)
}

fn prepared() -> (tempfile::TempDir, std::path::PathBuf) {
    let directory = scratch::directory();
    let file = directory.path().join("data");
    scratch::image(&file, BLOCKS * BLOCK);
    (directory, file)
}

#[test]
fn ignored_errors_are_counted_and_the_run_fails_at_its_end() {
    for (engine, depth) in [("psync", 1), ("io_uring", 8), ("libaio", 4)] {
        let (_directory, file) = prepared();
        let changes = json!({"ignore_error": ",EFBIG", "ioengine": engine, "iodepth": depth});
        let (output, result) = run(&file, changes);
        assert_eq!(output.status.code(), Some(1), "{engine}: {output:?}");
        let report = &result["report"];
        assert_eq!(report["ended_by"], "size", "{engine}");
        assert_eq!(report["write"]["ios"], BLOCKS - FAILED, "{engine}");
        let errors = &report["errors"];
        assert_eq!(errors["total"], FAILED, "{engine}: {errors}");
        assert_eq!(errors["first"]["errno"], EFBIG);
        let tolerated = &errors["tolerated"][0];
        assert_eq!(
            (
                &tolerated["operation"],
                &tolerated["errno"],
                &tolerated["count"]
            ),
            (&json!("write"), &json!(EFBIG), &json!(FAILED))
        );
        assert_eq!(tolerated["offsets"].as_array().unwrap().len(), 10);
        let findings = result["findings"].as_array().unwrap();
        let mut codes = findings.iter().map(|finding| &finding["code"]);
        assert!(codes.any(|code| code == "io_errors"), "{findings:?}");
    }
}

#[test]
fn jobs_with_a_rate_or_a_latency_target_continue_after_errors() {
    let (_directory, file) = prepared();
    let rated = json!({"ignore_error": ",EFBIG", "rate_iops": 100_000, "iodepth": 8,
        "ioengine": "io_uring", "flow": 1});
    let searching = json!({"ignore_error": ",EFBIG", "iodepth": 8, "ioengine": "io_uring",
        "latency_target": "10s", "latency_window": "10s", "latency_run": 1});
    for changes in [rated, searching] {
        scratch::mark_owned(&file);
        let (output, result) = run(&file, changes.clone());
        assert_eq!(output.status.code(), Some(1), "{changes}: {output:?}");
        let total = &result["report"]["errors"]["total"];
        assert_eq!(*total, FAILED, "{changes}: {result}");
    }
}

#[test]
fn other_errors_end_the_run() {
    // continue_on_error applies only to EIO and EILSEQ.
    for changes in [
        json!({"continue_on_error": "all"}),
        json!({"ignore_error": "EFBIG"}),
    ] {
        let (_directory, file) = prepared();
        let (output, result) = run(&file, changes.clone());
        assert_eq!(output.status.code(), Some(1), "{changes}: {output:?}");
        let report = &result["report"];
        assert_eq!(report["ended_by"], "error", "{changes}");
        assert_eq!(report["errors"]["total"], 1, "{changes}");
        assert_eq!(report["errors"]["tolerated"], json!([]), "{changes}");
    }
}

#[test]
fn completed_blocks_are_verified_after_errors() {
    let (_directory, file) = prepared();
    let (output, result) = run(&file, json!({"ignore_error": ",EFBIG", "verify": "crc32c"}));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let verify = &result["report"]["jobs"][0]["verify"];
    assert_eq!(verify["checked_blocks"], BLOCKS - FAILED, "{verify}");
    assert_eq!(verify["bad_blocks"], 0, "{verify}");
    assert_eq!(verify["not_run"], Value::Null, "{verify}");
}

#[test]
fn fio_counts_the_same_errors() {
    if let Err(error) = scratch::run("fio", &["--version"]) {
        return scratch::skip(&error);
    }
    let (_directory, file) = prepared();
    let output = limited_command(Path::new("fio"))
        .args(["--name=w", "--rw=write", "--bs=4k", "--ignore_error=,EFBIG"])
        .args(["--output-format=json", "--ioengine=psync"])
        .arg(format!("--size={}", BLOCKS * BLOCK))
        .arg(format!("--filename={}", file.to_str().unwrap()))
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let json = &text[text.find('{').expect("JSON")..];
    let result: Value = serde_json::from_str(json).expect("JSON");
    let job = &result["jobs"][0];
    assert_eq!(job["total_err"], FAILED, "{job}");
    assert_eq!(job["first_error"], EFBIG, "{job}");
    // fio includes failed I/Os in the number of issued I/Os.
    assert_eq!(job["write"]["total_ios"], BLOCKS, "{job}");
    assert_eq!(job["write"]["io_bytes"], (BLOCKS - FAILED) * BLOCK, "{job}");
}
