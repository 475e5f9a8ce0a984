//! Runs a job or study document under a target root.

use super::program;
use serde_json::Value;
use std::{
    path::Path,
    process::{Child, Output},
};

/// Runs `leadline-runner run - --target-root ROOT ...` with the document on stdin.
pub(crate) fn run(document: &Value, root: &Path, args: &[&str]) -> Output {
    start(document, root, args).wait_with_output().unwrap()
}

/// Like `run`, but does not wait.
pub(crate) fn start(document: &Value, root: &Path, args: &[&str]) -> Child {
    let mut child = program::start(
        document,
        &[&["--target-root", root.to_str().unwrap()], args].concat(),
    );
    child.stdin.take();
    child
}

pub(crate) fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// Steps of a successful study.
pub(crate) fn steps(document: &Value, root: &Path) -> Vec<Value> {
    let output = run(document, root, &["--json"]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    json_of(&output)["steps"].as_array().unwrap().clone()
}

/// File names in a directory.
pub(crate) fn files(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "lost+found").collect()
}

/// Returns true if a loop device is attached to a file in this directory.
pub(crate) fn has_attached_loop(directory: &Path) -> bool {
    super::run(
        "losetup",
        &["--list", "--noheadings", "--output", "BACK-FILE"],
    )
    .unwrap()
    .contains(directory.to_str().unwrap())
}
