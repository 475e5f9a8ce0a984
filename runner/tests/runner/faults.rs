//! Target faults, resource limits and signals, tested with the runner program. Each test is a row
//! in docs/lab/faults.md.

use crate::scratch::{
    self, Mounted,
    program::{self, last_event, measuring, run, runner, spawn, spawn_unconfirmed, with},
    seccomp::without_call,
};
use serde_json::{Value, json};
use std::{
    path::Path,
    process::{Command, Output},
    thread::sleep,
    time::{Duration, Instant},
};

const IO_URING_SETUP: u32 = 425;

fn result(output: &Output) -> Value {
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

fn growing_write(file: &Path, changes: Value) -> Value {
    let plain = json!({"name": "write", "filename": file, "size": "32m", "rw": "write", "bs": "64k", "direct": 0,
        "ioengine": "psync", "fallocate": "none"});
    with(&plain, changes)
}

fn tmpfs(at: &Path, size: &str) -> Option<Mounted> {
    std::fs::create_dir(at).unwrap();
    let options = format!("size={size}");
    let at = at.to_str().unwrap();
    match scratch::run("mount", &["-t", "tmpfs", "-o", &options, "none", at]) {
        Ok(_) => Some(Mounted::existing(Path::new(at))),
        Err(reason) => {
            scratch::skip(&reason);
            None
        }
    }
}

#[test]
fn a_filesystem_filled_by_another_process_fails_the_run_with_enospc() {
    let directory = scratch::directory();
    let at = directory.path().join("small");
    let Some(_mounted) = tmpfs(&at, "96m") else {
        return;
    };
    let file = at.join("t1");
    let job = growing_write(&file, json!({"rate_iops": 40, "size": "32m"}));
    let (mut child, out) = measuring(&job);
    let mut filler = std::fs::File::create(at.join("filler")).unwrap();
    let full = std::io::copy(&mut std::io::repeat(7), &mut filler).unwrap_err();
    assert_eq!(full.kind(), std::io::ErrorKind::StorageFull);
    let last = last_event(out);
    assert_eq!(child.wait().unwrap().code(), Some(1), "{last}");
    let first = &last["report"]["errors"]["first"];
    assert_eq!(first["errno"], 28, "{first}");
    assert_eq!(last["report"]["ended_by"], "error");
    assert!(at.join("filler").exists());
}

#[test]
fn a_file_size_limit_fails_the_run_with_efbig() {
    let directory = scratch::directory();
    let file = directory.path().join("t1");
    let mut limited = Command::new("prlimit");
    limited
        .arg("--fsize=8388608")
        .arg(env!("CARGO_BIN_EXE_leadline-runner"))
        .args(["run", "-", "--json"]);
    let child = spawn(&mut limited, &growing_write(&file, json!({})));
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{:?}", output.status);
    let result = result(&output);
    let first = &result["report"]["errors"]["first"];
    assert_eq!(
        (first["errno"].as_u64(), first["offset"].as_u64()),
        (Some(27), Some(8 << 20)),
        "{first}"
    );
}

#[test]
fn direct_io_on_a_tmpfs_is_labeled() {
    let directory = scratch::directory();
    let at = directory.path().join("memory");
    let Some(_mounted) = tmpfs(&at, "64m") else {
        return;
    };
    let job = json!({"name": "t", "filename": at.join("t1"), "size": "8m", "rw": "randread", "bs": "4k", "direct": 1,
        "ioengine": "psync"});
    let output = run(&job, &["--json"]);
    if output.status.code() == Some(0) {
        let result = result(&output);
        let sentence = result["verdict"]["read"]["sentence"].as_str().unwrap();
        assert!(sentence.contains("from tmpfs"), "{sentence}");
    } else {
        // Kernels before 6.6 reject O_DIRECT on a tmpfs.
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("direct"), "{stderr}");
    }
}

/// Asserts that the job is rejected with a problem for this field, and that no file appears below
/// `root`.
fn check_rejected(root: &Path, job: &Value, field: &str) {
    let mut command = runner();
    command.args(["run", "-", "--json", "--target-root"]);
    let child = spawn_unconfirmed(command.arg(root), job);
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    let code = output.status.code();
    assert!(matches!(code, Some(2..=5)), "{job}: {code:?} {stderr}");
    assert!(output.stdout.is_empty(), "{job}");
    assert!(stderr.contains(field), "{job}: {stderr}");
    let files = std::fs::read_dir(root).unwrap().count();
    assert_eq!(files, 0, "{job}");
}

#[test]
fn hostile_paths_are_rejected_and_touch_no_file() {
    let directory = scratch::directory();
    let root = directory.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let before = std::fs::read_dir(directory.path()).unwrap().count();
    let job = json!({"name": "p", "size": "1m", "rw": "write", "bs": "4k", "direct": 0});
    for path in [
        "../t1".to_owned(),
        format!("{}/../t1", root.display()),
        format!("{}/t1", directory.path().display()),
        "/etc/leadline-fault".to_owned(),
        format!("{}/a\0b", root.display()),
        format!("{}/{}", root.display(), "x".repeat(5000)),
        format!("{}/%2e%2e/t1", root.display()),
        String::new(),
    ] {
        check_rejected(&root, &with(&job, json!({"filename": path})), "filename");
    }
    let found = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(found, before);
    assert!(!Path::new("/etc/leadline-fault").exists());
}

#[test]
fn impossible_sizes_and_times_are_rejected_by_field() {
    let directory = scratch::directory();
    let root = directory.path();
    let job = json!({"name": "s", "filename": root.join("t1"), "size": "1m", "rw": "write", "bs": "4k", "direct": 0});
    for (changes, field) in [
        (json!({"size": 0}), "size"),
        (json!({"size": "16e"}), "size"),
        (json!({"size": 18_446_744_073_709_551_615_u64}), "size"),
        (json!({"size": "900t"}), "size"),
        (
            json!({"bs": "64m", "iodepth": 32_768, "size": "128m", "numjobs": 64}),
            "iodepth",
        ),
        (json!({"runtime": "100y"}), "runtime"),
        (json!({"runtime": "36500d", "time_based": 1}), "runtime"),
        (json!({"runtime": 0, "time_based": 1}), "time_based"),
        (json!({"rw": "rw", "rwmixread": 101}), "rwmixread"),
        (json!({"numjobs": 1_000_000}), "numjobs"),
    ] {
        check_rejected(root, &with(&job, changes), field);
    }
}

#[test]
fn options_that_execute_include_or_expand_are_rejected() {
    let directory = scratch::directory();
    let root = directory.path().join("root");
    std::fs::create_dir(&root).unwrap();
    let proof = directory.path().join("executed");
    let touch = format!("touch {}", proof.display());
    let job = json!({"name": "f", "filename": "t1", "size": "1m", "rw": "write", "bs": "4k", "direct": 0});
    for (option, value) in [
        ("exec_prerun", json!(touch)),
        ("exec_postrun", json!(touch)),
        ("include", json!("/etc/passwd")),
        ("ioengine", json!("external:/tmp/engine.so")),
        ("allow_mounted_write", json!(1)),
        ("size", json!("$ncpus*2")),
        ("size", json!("${HOME}")),
        ("bs", json!("${BS}")),
    ] {
        check_rejected(&root, &with(&job, json!({option: value})), option);
    }
    assert!(!proof.exists());
}

#[test]
fn a_host_without_io_uring_falls_back_only_on_request_and_reports_why() {
    let directory = scratch::directory();
    let file = directory.path().join("t1");
    let job = growing_write(&file, json!({"ioengine": "io_uring", "size": "1m"}));
    for error in [libc::EPERM, libc::ENOSYS] {
        let mut command = runner();
        without_call(command.args(program::JSON), IO_URING_SETUP, error);
        let output = spawn_unconfirmed(&mut command, &job)
            .wait_with_output()
            .unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(5), "{stderr}");
        assert!(stderr.contains("io_uring") && !file.exists(), "{stderr}");

        let fallback = with(&job, json!({"ioengine_fallback": "psync", "unlink": 1}));
        let mut command = runner();
        without_call(command.args(program::JSON), IO_URING_SETUP, error);
        let result = program::report_of(&mut command, &fallback);
        let job = &result["report"]["jobs"][0];
        let text = result.to_string();
        assert!(text.contains("psync") && text.contains("io_uring"), "{job}");
    }
}

/// Stops the run with 256 I/Os in flight, then sends a second signal.
#[test]
fn a_second_sigterm_does_not_lose_the_report() {
    let directory = scratch::directory();
    let image = directory.path().join("image");
    scratch::image(&image, 8 << 20);
    let job = json!({"name": "r", "filename": image, "rw": "randread", "bs": "4k", "direct": 1, "iodepth": 256,
        "size": "8m", "ioengine": "io_uring", "ioengine_fallback": "psync", "runtime": "60s", "time_based": 1});
    let (mut child, out) = measuring(&job);
    let began = Instant::now();
    for _ in 0..2 {
        scratch::run("kill", &["-s", "TERM", &child.id().to_string()]).unwrap();
        sleep(Duration::from_millis(1));
    }
    let last = last_event(out);
    assert_eq!(child.wait().unwrap().code(), Some(143));
    assert!(began.elapsed() < Duration::from_secs(1));
    assert_eq!(last["report"]["ended_by"], "signal");
}

#[test]
fn mount_options_that_change_during_a_run_are_a_finding() {
    let directory = scratch::directory();
    let at = directory.path().join("changing");
    let Some(_mounted) = tmpfs(&at, "64m") else {
        return;
    };
    let job = json!({"name": "r", "filename": at.join("t1"), "size": "1m", "rw": "randread", "bs": "4k", "direct": 0,
        "ioengine": "psync", "rate_iops": 100, "runtime": "3s", "time_based": 1});
    for is_changed in [false, true] {
        let (mut child, out) = measuring(&job);
        if is_changed {
            let at = at.to_str().unwrap();
            scratch::run("mount", &["-o", "remount,noatime", at]).unwrap();
        }
        let last = last_event(out);
        assert!(child.wait().unwrap().success(), "{last}");
        let mut findings = last["findings"].as_array().unwrap().iter();
        let found = findings.find(|finding| finding["code"] == "host_changed");
        assert_eq!(found.is_some(), is_changed, "{last}");
        if let Some(finding) = found {
            let sentence = finding["sentence"].as_str().unwrap();
            assert!(sentence.contains("noatime"), "{sentence}");
        }
    }
}
