//! The runner as a program: a job goes in, a report or events come out.

use std::io::{BufRead, Write};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// The program that was built beside the tests.
pub fn runner() -> Command {
    Command::new(env!("CARGO_BIN_EXE_leadline-runner"))
}

/// Hands a job to `leadline-runner run - ...` and waits for the end.
pub fn run(job: &Value, args: &[&str]) -> Output {
    let mut child = start(job, args);
    child.stdin.take();
    child.wait_with_output().unwrap()
}

/// Starts it and hands it a job; the caller waits.
pub fn start(job: &Value, args: &[&str]) -> Child {
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

/// The JSON report of a run that succeeds.
pub fn report(job: &Value) -> Value {
    let output = run(job, &["--json"]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The events of a run that succeeds.
pub fn events(job: &Value, args: &[&str]) -> Vec<Value> {
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

/// The events of one type.
pub fn of_type<'a>(events: &'a [Value], kind: &'a str) -> impl Iterator<Item = &'a Value> {
    events.iter().filter(move |event| event["type"] == kind)
}

/// A job with what is changed.
pub fn with(job: &Value, changes: Value) -> Value {
    let mut job = job.clone();
    changes
        .as_object()
        .unwrap()
        .iter()
        .for_each(|(name, value)| job[name] = value.clone());
    job
}
