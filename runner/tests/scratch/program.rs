//! Runs jobs with the runner binary.

use serde_json::Value;
use std::{
    io::{BufRead, Write},
    process::{Child, Command, Output, Stdio},
};

pub(crate) fn runner() -> Command {
    Command::new(env!("CARGO_BIN_EXE_leadline-runner"))
}

/// Runs `leadline-runner run - ...` with the job on stdin.
pub(crate) fn run(job: &Value, args: &[&str]) -> Output {
    let mut child = start(job, args);
    child.stdin.take();
    child.wait_with_output().unwrap()
}

/// Like `run`, without waiting.
pub(crate) fn start(job: &Value, args: &[&str]) -> Child {
    let mut child = runner()
        .args(["run", "-"])
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(job.to_string().as_bytes())
        .unwrap();
    child
}

/// JSON result of a successful run.
pub(crate) fn report(job: &Value) -> Value {
    let output = run(job, &["--json"]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Events of a successful run.
pub(crate) fn events(job: &Value, args: &[&str]) -> Vec<Value> {
    let output = run(job, &[&["--events"], args].concat());
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    output
        .stdout
        .lines()
        .map(|line| serde_json::from_str(&line.unwrap()).unwrap())
        .collect()
}

pub(crate) fn of_type<'a>(events: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["type"] == kind)
}

/// A job with changed options.
pub(crate) fn with(job: &Value, changes: Value) -> Value {
    let mut job = job.clone();
    changes
        .as_object()
        .unwrap()
        .iter()
        .for_each(|(name, value)| job[name] = value.clone());
    job
}
