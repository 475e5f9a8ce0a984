//! `--write-logs` replaces only logs that Leadline wrote, and reports any log that it cannot write.

use crate::scratch::{self, document::run, input, program};
use rustix::{
    fs::{Mode, XattrFlags, chmod, getxattr, setxattr},
    pipe::fcntl_setpipe_size,
};
use serde_json::{Value, json};
use std::{
    fs,
    io::{Read, Write},
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    process::{Output, Stdio},
};

/// Minimum capacity of a pipe.
const PIPE_BYTES: usize = 4096;
/// Contents of a log with two lines.
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
fn files_of_other_programs_are_kept_even_if_they_look_like_logs() {
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
        // Files of other programs are kept even if they look like logs, because fio's logs have the
        // same format.
        ("bw", text("")),
        ("bw", text(LOG)),
        ("iops", text(LOG)),
        ("lat", text(&long_log)),
        ("clat_hist", text(&histogram_line(1))),
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
}

/// Runs twice with the same log prefix, and changes the bandwidth log in between. Returns the
/// output of the second run, or `None` if the filesystem does not support user xattrs.
fn rerun_after_change(directory: &Path, change: impl FnOnce(&Path)) -> Option<Output> {
    let output = run_with_logs(directory, &null_job());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{errors}");
    let path = log(directory, "bw");
    if !has_mark(&path) {
        scratch::skip("no user xattrs");
        return None;
    }
    change(&path);
    Some(run_with_logs(directory, &null_job()))
}

fn has_mark(path: &Path) -> bool {
    getxattr(path, "user.leadline.log", &mut [0_u8; 128]).is_ok()
}

#[test]
fn logs_that_leadline_wrote_are_replaced() {
    let directory = scratch::directory();
    for _ in 0..2 {
        let change = |path: &Path| {
            fs::copy(path, directory.path().join("copy"))
                .map(drop)
                .unwrap()
        };
        let Some(output) = rerun_after_change(directory.path(), change) else {
            return;
        };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{errors}");
        let inode = |path: &Path| fs::metadata(path).unwrap().ino();
        let first = directory.path().join("copy");
        assert_ne!(inode(&first), inode(&log(directory.path(), "bw")));
        assert_eq!(scratch::document::files(directory.path()).len(), 5);
    }
}

/// Changes to a log by fio, an editor, cp and mv. The file keeps its mark or receives a copy of
/// one.
#[test]
fn logs_changed_by_another_program_are_kept() {
    type Change = fn(&Path);
    let changes: [(&str, Change); 7] = [
        ("written by fio", |path| fs::write(path, LOG).unwrap()),
        ("emptied", |path| fs::write(path, "").unwrap()),
        ("appended", |path| {
            let file = fs::File::options().append(true).open(path);
            file.unwrap().write_all(b"9999999, 1, 0, 0, 0\n").unwrap();
        }),
        ("same length and modification time", |path| {
            let found = fs::metadata(path).unwrap();
            let text = fs::read_to_string(path).unwrap();
            fs::write(path, text.replace(", 0, 0, 0\n", ", 1, 0, 0\n")).unwrap();
            let file = fs::File::options().write(true).open(path).unwrap();
            file.set_modified(found.modified().unwrap()).unwrap();
            assert_eq!(fs::metadata(path).unwrap().len(), found.len());
        }),
        ("copied with its attributes", |path| {
            let mut copy = path.as_os_str().to_owned();
            copy.push(".copy");
            let copy = Path::new(&copy);
            fs::copy(path, copy).unwrap();
            let mut mark = [0_u8; 128];
            let length = getxattr(path, "user.leadline.log", &mut mark).unwrap();
            setxattr(
                copy,
                "user.leadline.log",
                &mark[..length],
                XattrFlags::empty(),
            )
            .unwrap();
            let modified = fs::metadata(path).unwrap().modified().unwrap();
            fs::File::open(copy)
                .unwrap()
                .set_modified(modified)
                .unwrap();
            fs::rename(copy, path).unwrap();
        }),
        ("another log", |path| {
            fs::rename(path.with_file_name("p_iops.1.log"), path).unwrap();
        }),
        ("mode", |path| {
            chmod(path, Mode::from_raw_mode(0o640)).unwrap()
        }),
    ];
    for (name, change) in changes {
        let directory = scratch::directory();
        let path = log(directory.path(), "bw");
        let mut kept = Vec::new();
        let output = rerun_after_change(directory.path(), |path| {
            change(path);
            kept = fs::read(path).unwrap();
        });
        let Some(output) = output else { return };
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{name}: {errors}");
        assert!(errors.contains("has changed since"), "{name}: {errors}");
        assert_eq!(fs::read(&path).unwrap(), kept, "{name}");
    }
}

/// A log does not count as a target file that Leadline created, so overwriting it requires a
/// confirmation.
#[test]
fn log_as_a_target_requires_a_confirmation() {
    let directory = scratch::directory();
    let mut job = job();
    job["filename"] = "p_bw.1.log".into();
    job["size"] = 4096.into();
    job["bs"] = 4096.into();
    let unchanged = |_: &Path| ();
    if rerun_after_change(directory.path(), unchanged).is_none() {
        return;
    }
    let path = log(directory.path(), "bw");
    let before = fs::read(&path).unwrap();
    let mut command = program::runner();
    command.args([
        "run",
        "-",
        "--target-root",
        directory.path().to_str().unwrap(),
    ]);
    let mut child = program::spawn_unconfirmed(&mut command, &job);
    child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

/// ramfs has no user xattrs.
#[test]
fn logs_without_an_ownership_mark_are_kept() {
    let directory = scratch::directory();
    let at = directory.path().join("ramfs");
    fs::create_dir(&at).unwrap();
    let mount = ["-t", "ramfs", "none", at.to_str().unwrap()];
    if let Err(error) = scratch::run("mount", &mount) {
        return scratch::skip(&error);
    }
    let _mounted = scratch::Mounted::existing(&at);
    for code in [0, 2] {
        let output = run_with_logs(&at, &null_job());
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{errors}");
        assert_eq!(errors.contains("is not a log of an earlier run"), code == 2);
    }
}

#[test]
fn replaced_log_keeps_its_mode_and_read_only_log_is_kept() {
    let directory = scratch::directory();
    let path = log(directory.path(), "lat");
    let run_with_umask = |mask: &str| {
        let mut command = std::process::Command::new("sh");
        let script = format!("umask {mask}; exec \"$@\"");
        command.args([
            "-c",
            &script,
            "sh",
            program::runner().get_program().to_str().unwrap(),
        ]);
        command.args([
            "run",
            "-",
            "--target-root",
            directory.path().to_str().unwrap(),
        ]);
        command.arg(prefix(directory.path()));
        input::output(&mut command, null_job().to_string())
    };
    let output = run_with_umask("027");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    if !has_mark(&path) {
        return scratch::skip("no user xattrs");
    }
    let output = run_with_umask("022");
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    fs::remove_file(&path).unwrap();
    run_with_umask("222");
    if !has_mark(&path) {
        return scratch::skip("user xattrs of read-only files can be set only as root");
    }
    let before = fs::read(&path).unwrap();
    let output = run_with_logs(directory.path(), &job());
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(errors.contains("is read-only"), "{errors}");
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn log_with_the_path_of_a_target_is_rejected() {
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
        let files = scratch::document::files(&directory.path().join("real"));
        assert!(files.is_empty(), "{files:?}");
    }
}

/// Calls `change` after the runner checks the logs and before it creates them. In between, the
/// runner blocks on a full pipe while it writes the `accepted` event.
fn run_with_change(directory: &Path, change: impl FnOnce()) -> Output {
    let jobs: Vec<_> = (0..32).map(|_| null_job()).collect();
    let (mut reader, writer) = std::io::pipe().unwrap();
    fcntl_setpipe_size(&writer, PIPE_BYTES).unwrap();
    let mut command = program::runner();
    command.args(["run", "-", "--events"]);
    command.args(["--target-root", directory.to_str().unwrap()]);
    command.arg(prefix(directory));
    command.stdout(writer).stderr(Stdio::piped());
    let document = json!({ "jobs": jobs }).to_string();
    let child = input::spawn(&mut command, document);
    drop(command);
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
fn files_created_after_the_check_are_kept_and_other_logs_are_written() {
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
                run_with_logs(directory.path(), &null_job());
                if !has_mark(&path) {
                    return scratch::skip("no user xattrs");
                }
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

/// A full filesystem has room for empty log files, but not for their contents.
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
