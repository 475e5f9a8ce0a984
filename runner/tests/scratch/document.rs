//! A job or study under a root of its own: a document goes in, a report or steps come out.

use std::path::Path;
use std::process::{Child, Output};

use serde_json::Value;

use super::program;

/// Hands a document to `leadline-runner run - --target-root ROOT ...` and waits for the end.
pub fn run(document: &Value, root: &Path, args: &[&str]) -> Output {
    start(document, root, args).wait_with_output().unwrap()
}

/// Starts it; the caller waits.
pub fn start(document: &Value, root: &Path, args: &[&str]) -> Child {
    let mut child = program::start(
        document,
        &[&["--target-root", root.to_str().unwrap()], args].concat(),
    );
    child.stdin.take();
    child
}

/// The JSON that it printed.
pub fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&output.stderr)))
}

/// The steps of a study that succeeds.
pub fn steps(document: &Value, root: &Path) -> Vec<Value> {
    let output = run(document, root, &["--json"]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    json_of(&output)["steps"].as_array().unwrap().clone()
}

/// What lies in a directory.
pub fn files(directory: &Path) -> Vec<String> {
    let names = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name != "lost+found").collect()
}

/// Whether a loop device has a file of this directory behind it.
pub fn is_behind_a_loop(directory: &Path) -> bool {
    super::run(
        "losetup",
        &["--list", "--noheadings", "--output", "BACK-FILE"],
    )
    .unwrap()
    .contains(directory.to_str().unwrap())
}
