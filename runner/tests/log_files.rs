//! `--write-logs` replaces only logs of earlier runs, and reports logs that it cannot write.

mod scratch;

use rustix::{
    fs::{Mode, chmod},
    pipe::fcntl_setpipe_size,
};
use scratch::{document::run, program};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

/// The smallest size of a pipe.
const PIPE_BYTES: usize = 4096;
/// Two lines of a log.
const LOG: &str = "100, 42, 0, 0, 0\n200, 43, 1, 0, 0\n";

fn job() -> Value {
    json!({"filename": "target.bin", "size": "1m", "rw": "write", "bs": "64k", "direct": 0})
}

fn null_job() -> Value {
    json!({"filename": "none", "ioengine": "null", "size": "1m", "rw": "randread", "direct": 0,
        "runtime": 1, "time_based": 1})
}

fn prefix(directory: &Path) -> String {
    format!("--write-logs={}", directory.join("p").display())
}

fn run_with_logs(directory: &Path, job: &Value) -> Output {
    run(job, directory, &[&prefix(directory)])
}

fn log(directory: &Path, kind: &str) -> PathBuf {
    directory.join(format!("p_{kind}.1.log"))
}

fn histogram_line(direction: u8) -> String {
    format!("100, {direction}, 4096{}\n", ", 7".repeat(1856))
}

#[test]
fn only_files_that_contain_only_log_lines_are_replaced() {
    let long_log: String = (0..80_000).map(|n| format!("{n}, 1, 0, 0, 0\n")).collect();
    let text = |lines: &str| lines.as_bytes().to_vec();
    let foreign = [
        ("lat", text("2024, 100, 3, 7, 9\n2025, 120, 4, 1, 2\n")),
        ("bw", text("9999999999999999999999, 1, 0, 0, 0\n")),
        ("bw", text("500, 1, 0, 0, 0\n100, 1, 0, 0, 0\n")),
        ("iops", text("42\n")),
        ("iops", text("1, 2, 0, 0\n")),
        ("iops", text("1, 2, 0, 0, 0, 0, 0\n")),
        ("iops", text("1,2,0,0,0\n")),
        ("iops", text("+1, 2, 0, 0, 0\n")),
        ("iops", text("100, 42, 0, 0, 0\n200, 43")),
        ("bw", text("\n")),
        ("bw", [long_log.as_bytes(), b"\xff\0binary"].concat()),
        ("bw", [LOG.as_bytes(), b"a note\n"].concat()),
        ("bw", text(&histogram_line(0))),
        ("clat_hist", text(LOG)),
        ("clat_hist", text(&histogram_line(3))),
        ("bw", vec![b'1'; 1 << 20]),
    ];
    for (kind, content) in foreign {
        let directory = scratch::directory();
        fs::write(log(directory.path(), kind), &content).unwrap();
        let output = run_with_logs(directory.path(), &job());
        let errors = String::from_utf8_lossy(&output.stderr);
        let shown = String::from_utf8_lossy(&content[..content.len().min(80)]);
        assert_eq!(output.status.code(), Some(2), "{kind} {shown}: {errors}");
        assert!(
            errors.contains("is not a log of an earlier run"),
            "{errors}"
        );
        assert_eq!(fs::read(log(directory.path(), kind)).unwrap(), content);
        assert_eq!(scratch::document::files(directory.path()).len(), 1);
    }
    let logs = [
        ("bw", String::new()),
        ("bw", LOG.into()),
        ("lat", long_log),
        ("clat_hist", histogram_line(1)),
    ];
    for (kind, content) in logs {
        let directory = scratch::directory();
        fs::write(log(directory.path(), kind), &content).unwrap();
        let output = run_with_logs(directory.path(), &job());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{kind}: {errors}");
        let replaced = fs::read_to_string(log(directory.path(), kind)).unwrap();
        assert_ne!(replaced, content);
        assert_eq!(scratch::document::files(directory.path()).len(), 5);
    }
}

#[test]
fn a_replaced_log_keeps_its_mode_and_a_read_only_log_is_kept() {
    let directory = scratch::directory();
    let path = log(directory.path(), "lat");
    fs::write(&path, LOG).unwrap();
    chmod(&path, Mode::from_raw_mode(0o640)).unwrap();
    let output = run_with_logs(directory.path(), &job());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    chmod(&path, Mode::from_raw_mode(0o444)).unwrap();
    let before = fs::read(&path).unwrap();
    let output = run_with_logs(directory.path(), &job());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("is read-only"), "{errors}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn a_log_with_the_name_of_a_target_is_rejected() {
    let directory = scratch::directory();
    fs::create_dir(directory.path().join("real")).unwrap();
    symlink("real", directory.path().join("link")).unwrap();
    for (target, logs) in [
        ("real/p_bw.1.log", "real/p"),
        ("real/p_lat.1.log", "link/p"),
    ] {
        let mut job = job();
        job["filename"] = target.into();
        let argument = format!("--write-logs={}", directory.path().join(logs).display());
        let output = run(&job, directory.path(), &[&argument]);
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{errors}");
        assert!(errors.contains("is a target of the run"), "{errors}");
        let left = scratch::document::files(&directory.path().join("real"));
        assert!(left.is_empty(), "{left:?}");
    }
}

/// Calls `change` after the logs have been checked and before they are created: the runner writes
/// the event of the accepted run to a pipe that is full.
fn run_with_change(directory: &Path, change: impl FnOnce()) -> Output {
    let jobs: Vec<_> = (0..32).map(|_| null_job()).collect();
    let (mut reader, writer) = std::io::pipe().unwrap();
    fcntl_setpipe_size(&writer, PIPE_BYTES).unwrap();
    let mut command = program::runner();
    command.args(["run", "-", "--events"]);
    command.args(["--target-root", directory.to_str().unwrap()]);
    command.arg(prefix(directory)).stdin(Stdio::piped());
    command.stdout(writer).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    drop(command);
    let document = json!({ "jobs": jobs }).to_string();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(document.as_bytes()).unwrap();
    drop(stdin);
    reader.read_exact(&mut [0]).unwrap();
    change();
    let mut events = String::new();
    reader.read_to_string(&mut events).unwrap();
    let accepted = events.split_once('\n').unwrap().0;
    assert!(accepted.len() > 2 * PIPE_BYTES, "{}", accepted.len());
    assert!(events.contains("\"type\":\"report\""), "{events}");
    child.wait_with_output().unwrap()
}

#[test]
fn files_made_after_the_check_are_kept_and_the_other_logs_are_written() {
    type Change = fn(&Path, &Path);
    let changes: [(&str, Change); 4] = [
        ("file", |_, log| fs::write(log, "my notes").unwrap()),
        ("hard link", |victim, log| {
            fs::hard_link(victim, log).unwrap()
        }),
        ("link", |victim, log| symlink(victim, log).unwrap()),
        ("directory", |_, log| fs::create_dir(log).unwrap()),
    ];
    for (name, change) in changes {
        for is_replaced in [false, true] {
            let directory = scratch::directory();
            let victim = directory.path().join("victim");
            fs::write(&victim, "precious").unwrap();
            let path = log(directory.path(), "iops");
            if is_replaced {
                fs::write(&path, LOG).unwrap();
            }
            let output = run_with_change(directory.path(), || {
                if is_replaced {
                    fs::remove_file(&path).unwrap();
                }
                change(&victim, &path);
            });
            let errors = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(1), "{name}: {errors}");
            assert!(errors.contains("p_iops.1.log"), "{name}: {errors}");
            assert_eq!(fs::read_to_string(&victim).unwrap(), "precious", "{name}");
            let content = fs::read_to_string(&path).unwrap_or_default();
            let expected = match name {
                "file" => "my notes",
                "directory" => "",
                _ => "precious",
            };
            assert_eq!(content, expected, "{name}");
            for kind in ["bw", "lat", "clat_hist"] {
                assert!(log(directory.path(), kind).is_file(), "{name}: {kind}");
            }
            let bandwidth = fs::metadata(log(directory.path(), "bw")).unwrap();
            assert!(bandwidth.len() > 0, "{name}");
            let files = scratch::document::files(directory.path());
            assert_eq!(files.len(), 5, "{name}: {files:?}");
        }
    }
}

/// A full filesystem has room for the logs, but not for their lines.
#[test]
fn logs_that_cannot_be_written_fail_the_run() {
    let directory = scratch::directory();
    let full = directory.path().join("full");
    fs::create_dir(&full).unwrap();
    let at = full.to_str().unwrap();
    if let Err(error) = scratch::run("mount", &["-t", "tmpfs", "-o", "size=64k", "none", at]) {
        return scratch::skip(&error);
    }
    let _mounted = scratch::Mounted::existing(&full);
    let mut filler = fs::File::create(full.join("filler")).unwrap();
    while filler.write_all(&[7; 4096]).is_ok() {}
    let output = run_with_logs(&full, &null_job());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(errors.contains("No space left on device"), "{errors}");
    assert!(!output.stdout.is_empty());
}
