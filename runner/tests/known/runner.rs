//! Runs the runner.

use serde_json::Value;
use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

/// Replaces options of a job.
pub(crate) fn change(job: &mut Value, options: &Value) {
    for (name, value) in options.as_object().unwrap() {
        job[name] = value.clone();
    }
}

/// Output of `leadline-runner run - --json` for a job that succeeds.
pub(crate) fn report(job: &Value, root: &Path) -> Value {
    let mut child = Command::new(env!("CARGO_BIN_EXE_leadline-runner"))
        .args([
            "run",
            "-",
            "--json",
            "--target-root",
            root.to_str().unwrap(),
        ])
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
    let output = child.wait_with_output().unwrap();
    assert_eq!(
        output.status.code(),
        Some(0),
        "{job}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout).unwrap()
}
