//! Runs jobs with the runner binary.

use super::input;
use serde_json::Value;
use std::{
    ffi::OsStr,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Output, Stdio},
};

/// Arguments for a job on stdin and a JSON result.
pub(crate) const JSON: [&str; 3] = ["run", "-", "--json"];

pub(crate) fn runner() -> Command {
    Command::new(env!("CARGO_BIN_EXE_leadline-runner"))
}

/// Runs `leadline-runner run - ...` with the job on stdin.
pub(crate) fn run(job: &Value, args: &[&str]) -> Output {
    let mut child = start(job, args);
    child.stdin.take();
    child.wait_with_output().unwrap()
}

/// Like `run`, but does not wait.
pub(crate) fn start(job: &Value, args: &[&str]) -> Child {
    spawn(runner().args(["run", "-"]).args(args), job)
}

/// Starts a program with the job on stdin. Passes all confirmations that the plan requires, because
/// a test owns the data that it overwrites.
pub(crate) fn spawn(command: &mut Command, job: &Value) -> Child {
    for confirmation in confirmations(command, job) {
        command.args(["--confirm", &confirmation]);
    }
    spawn_unconfirmed(command, job)
}

/// Like `spawn`, without confirmations.
pub(crate) fn spawn_unconfirmed(command: &mut Command, job: &Value) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    // Ignore errors: a program that rejects its arguments does not read the job.
    input::spawn(command, job.to_string())
}

/// `TEXT@CODE` for everything that a run would overwrite. `command` is the run's command, which may
/// start the runner through another program.
pub(crate) fn confirmations(command: &Command, job: &Value) -> Vec<String> {
    let is_writing = ["write", "\"rw\":\"rw\"", "randrw", "trim", "file_state"];
    let text = job.to_string();
    let Some(run) = command.get_args().position(|arg| arg == "run") else {
        return Vec::new();
    };
    if !is_writing.iter().any(|word| text.contains(word)) {
        return Vec::new();
    }
    let is_output = |arg: &&OsStr| {
        let arg = arg.to_string_lossy();
        arg == "--json" || arg == "--events" || arg.starts_with("--output-format")
    };
    let mut args: Vec<&OsStr> = command.get_args().collect();
    args[run] = OsStr::new("plan");
    args.retain(|arg| !is_output(arg));
    let mut plan = Command::new(command.get_program());
    plan.args(args).arg("--json");
    let child = spawn_unconfirmed(&mut plan, job);
    let output = child.wait_with_output().unwrap().stdout;
    let plan: Value = serde_json::from_slice(&output).unwrap_or_default();
    let needed = plan["confirmations"].as_array().cloned();
    let text = |needed: &Value, field: &str| needed[field].as_str().unwrap().to_owned();
    needed
        .unwrap_or_default()
        .iter()
        .map(|needed| format!("{}@{}", text(needed, "text"), text(needed, "code")))
        .collect()
}

/// JSON result of a successful run.
pub(crate) fn report(job: &Value) -> Value {
    report_of(runner().args(JSON), job)
}

/// Like `report`, with a target root.
pub(crate) fn report_in_root(job: &Value, root: &Path) -> Value {
    report_of(runner().args(JSON).arg("--target-root").arg(root), job)
}

/// Like `report`, with additional environment variables.
pub(crate) fn report_with_env(job: &Value, environment: &[(&str, &str)]) -> Value {
    report_of(runner().args(JSON).envs(environment.iter().copied()), job)
}

/// JSON result of a program that starts the runner with the arguments in `JSON`.
pub(crate) fn report_of(command: &mut Command, job: &Value) -> Value {
    successful_report(spawn(command, job), job)
}

/// JSON result of a program that has already been started.
pub(crate) fn successful_report(child: Child, job: &Value) -> Value {
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{job}: {}",
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

/// Starts a run and waits for its first sample.
pub(crate) fn measuring(job: &Value) -> (Child, BufReader<ChildStdout>) {
    let mut child = start(job, &["--events"]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    while !line.contains("\"type\":\"sample\"") {
        line.clear();
        assert!(out.read_line(&mut line).unwrap() > 0, "no sample");
    }
    (child, out)
}

pub(crate) fn last_event(out: BufReader<ChildStdout>) -> Value {
    serde_json::from_str(&out.lines().last().unwrap().unwrap()).unwrap()
}
