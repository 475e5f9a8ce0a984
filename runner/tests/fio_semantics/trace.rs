//! Records the I/Os of a job with fio and with the runner.

use crate::scratch::program::{self, spawn};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    fs,
    path::Path,
    process::{Command, Stdio},
};

/// Timeout in seconds, after which a program is killed. A job takes less than a second.
const LIMIT: [&str; 2] = ["--signal=KILL", "60"];

#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Io {
    /// read, write, sync or datasync.
    pub kind: String,
    /// In bytes; 0 for a sync, like the length.
    pub offset: u64,
    pub len: u64,
}

#[derive(Debug)]
pub(crate) struct Trace {
    pub ios: Vec<Io>,
    /// Length of the file after the job, in bytes.
    pub length: u64,
}

fn length(file: &Path) -> u64 {
    fs::metadata(file).map_or(0, |metadata| metadata.len())
}

pub(crate) fn plan(job: &Value) -> Value {
    let child = spawn(program::runner().args(["plan", "-", "--json"]), job);
    let output = child.wait_with_output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs a job with fio and returns the log of its I/Os (`write_iolog`).
pub(crate) fn fio_log<'a>(
    options: impl Iterator<Item = (&'a str, &'a str)>,
    directory: &Path,
) -> String {
    let log = directory.join("fio.log");
    let _ = fs::remove_file(&log);
    let options: Vec<String> = options
        .map(|(name, value)| format!("--{name}={value}"))
        .collect();
    let status = Command::new("timeout")
        .args(LIMIT)
        .args(["fio", "--name=job", "--ioengine=psync", "--thread"])
        .arg(format!("--write_iolog={}", log.display()))
        .args(&options)
        .current_dir(directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success(), "fio {options:?}");
    fs::read_to_string(&log).unwrap()
}

pub(crate) fn fio(options: &BTreeMap<String, String>, file: &Path, directory: &Path) -> Trace {
    let target = ("filename", file.to_str().unwrap());
    let options = options
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_str()));
    let text = fio_log([target].into_iter().chain(options), directory);
    Trace {
        ios: text.lines().filter_map(fio_line).collect(),
        length: length(file),
    }
}

/// Parses `[time] file kind offset length`.
fn fio_line(line: &str) -> Option<Io> {
    let mut fields = line.rsplit(' ');
    let len = fields.next()?.parse().ok()?;
    let offset = fields.next()?.parse().ok()?;
    let kind = fields.next()?.to_owned();
    Some(io(kind, offset, len))
}

fn io(kind: String, offset: u64, len: u64) -> Io {
    let offset = if len == 0 { 0 } else { offset };
    Io { kind, offset, len }
}

/// Traces a run. If it fails, returns its exit status and stderr as the error.
pub(crate) fn runner(job: &Value, file: &Path, directory: &Path) -> Result<Trace, String> {
    let log = directory.join("strace.log");
    let mut command = Command::new("strace");
    command
        .args(["-f", "-qq", "-y", "-s", "0"])
        .args(["-e", "trace=pread64,pwrite64,fsync,fdatasync", "-o"])
        .arg(&log)
        .arg("timeout")
        .args(LIMIT)
        .arg(env!("CARGO_BIN_EXE_leadline-runner"))
        .args(["run", "-", "--json"]);
    let output = spawn(&mut command, job).wait_with_output().unwrap();
    if !output.status.success() {
        let error = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{}: {error}", output.status));
    }
    let text = fs::read_to_string(&log).unwrap();
    let marker = format!("<{}>", file.display());
    let calls = text.lines().filter(|line| line.contains(&marker));
    let calls = calls.filter_map(strace_line);
    // Skip the sync at the end of the layout.
    let ios = calls.skip_while(|io| io.len == 0).collect();
    Ok(Trace {
        ios,
        length: length(file),
    })
}

/// Parses `pid pwrite64(3</file>, ""..., 4096, 8192) = 4096`.
fn strace_line(line: &str) -> Option<Io> {
    let (call, arguments) = line.split_once(' ')?.1.trim_start().split_once('(')?;
    let kind = match call {
        "pread64" => "read",
        "pwrite64" => "write",
        "fsync" => "sync",
        "fdatasync" => "datasync",
        _ => return None,
    };
    if call.ends_with("sync") {
        return Some(io(kind.into(), 0, 0));
    }
    // An interrupted call ends with `<unfinished ...>` instead of `)`.
    let mut arguments = arguments
        .split([')', '<'])
        .filter(|part| part.contains(", "));
    let mut numbers = arguments.next_back()?.trim_end().rsplit(", ");
    let offset = numbers.next()?.parse().ok()?;
    let len = numbers.next()?.parse().ok()?;
    Some(io(kind.into(), offset, len))
}
