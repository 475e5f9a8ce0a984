//! An interrupted study can be continued on the command line.

use crate::scratch;
use crate::scratch::document::{json_of, run, start};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use std::{
    fs,
    io::Write,
    os::unix::fs::symlink,
    path::Path,
    process::Output,
    time::{Duration, Instant},
};

/// Two steps, each with two runs of one second.
fn study() -> Value {
    let step = |name: &str| {
        json!({"name": name, "jobs": [{"filename": "none", "ioengine": "null", "size": "1m",
        "rw": "randread", "direct": 0, "runtime": 1, "time_based": 1}]})
    };
    json!({"repeats": 2, "order_seed": 1, "idle_wait_seconds": 0, "steps": [step("a"), step("b")]})
}

fn ended_runs(state: &Path) -> usize {
    let text = fs::read_to_string(state).unwrap_or_default();
    text.lines()
        .filter(|line| line.starts_with("{\"ended\""))
        .count()
}

/// Waits until the file contains the plan and the results of this number of runs.
fn wait_for_runs(state: &Path, number: usize) {
    let began = Instant::now();
    let is_new = || fs::metadata(state).map_or(0, |file| file.len()) == 0;
    while is_new() || ended_runs(state) < number {
        assert!(began.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Returns the lines that the checksum in the first line covers.
fn without_checksum(text: &str) -> &str {
    let (first, lines) = text.split_once('\n').unwrap();
    assert!(first.starts_with("{\"sha256\""), "{first}");
    lines
}

fn expect_rejection(output: &Output, reason: &str, remedy: &str) {
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(
        errors.contains(reason) && errors.contains(remedy),
        "{errors}"
    );
    assert_eq!(errors.matches("cannot be used").count(), 1, "{errors}");
}

/// Starts the study, and kills it after `number` runs.
fn kill_after(number: usize, root: &Path, state: &Path) {
    let mut child = start(
        &study(),
        root,
        &["--json", "--state", state.to_str().unwrap()],
    );
    wait_for_runs(state, number);
    std::thread::sleep(Duration::from_millis(300));
    child.kill().unwrap();
    child.wait().unwrap();
}

/// A study that is killed continues after its last complete run.
#[test]
fn killed_study_continues_from_its_state_file() {
    let directory = tempfile::tempdir().unwrap();
    let study = study();
    let state = directory.path().join("state.ndjson");
    let args = ["--json", "--state", state.to_str().unwrap()];
    kill_after(2, directory.path(), &state);
    let before = fs::read_to_string(&state).unwrap();
    let done = json_of(&run(&study, directory.path(), &args));
    let steps = done["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 4);
    assert!(
        steps
            .iter()
            .all(|step| step["exit_code"] == 0 && step["report"].is_object())
    );
    // The killed process completed the first two runs.
    let after = fs::read_to_string(&state).unwrap();
    assert!(without_checksum(&after).starts_with(without_checksum(&before)));
    assert_eq!(ended_runs(&state), 4);
    // If the study is complete, the runner only prints its results.
    let again = json_of(&run(&study, directory.path(), &args));
    assert_eq!(again["steps"], done["steps"]);
    let other = json!({"steps": [study["steps"][0]]});
    let rejected = run(&other, directory.path(), &args);
    assert_eq!(rejected.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&rejected.stderr).contains("another study"));
}

/// A study does not continue from a file without a checksum, or from one whose lines are not in the
/// order of the study.
#[test]
fn runs_that_do_not_match_the_study_are_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state.ndjson");
    let args = ["--json", "--state", state.to_str().unwrap()];
    json_of(&run(&study(), directory.path(), &args));
    let text = fs::read_to_string(&state).unwrap();
    let lines: Vec<&str> = without_checksum(&text).lines().collect();
    let ended: Vec<usize> = (0..lines.len())
        .filter(|at| lines[*at].starts_with("{\"ended\""))
        .collect();
    assert_eq!(ended.len(), 4);
    let mut one_lost = lines.clone();
    one_lost.drain(ended[0] - 1..=ended[0]);
    let mut swapped = lines.clone();
    swapped.swap(ended[1], ended[2]);
    let mut doubled = lines.clone();
    doubled.push(lines[ended[3]]);
    for changed in [one_lost, swapped, doubled] {
        let changed = changed.join("\n") + "\n";
        for content in [with_checksum(&changed), changed] {
            fs::write(&state, &content).unwrap();
            let rejected = run(&study(), directory.path(), &args);
            let remedy = "Use another file with --state, or remove this one to start again.";
            expect_rejection(&rejected, "it is damaged", remedy);
            assert_eq!(fs::read_to_string(&state).unwrap(), content);
        }
    }
}

fn with_checksum(lines: &str) -> String {
    let digest = Sha256::digest(lines);
    let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{{\"sha256\":\"{hex}\"}}\n{lines}")
}

/// With two names for the file, a rename would replace only one of them, so two processes could
/// continue the same study.
#[test]
fn state_file_with_hard_links_is_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state.ndjson");
    kill_after(1, directory.path(), &state);
    let link = directory.path().join("link");
    fs::hard_link(&state, &link).unwrap();
    let content = fs::read(&state).unwrap();
    for path in [&state, &link] {
        let args = ["--json", "--state", path.to_str().unwrap()];
        let rejected = run(&study(), directory.path(), &args);
        expect_rejection(&rejected, "it has 2 hard links", "Use another file");
        assert_eq!(fs::read(&state).unwrap(), content);
    }
}

/// Each update replaces the state file with a new file. A foreign file may already have the new
/// file's temporary name.
#[test]
fn only_an_unfinished_copy_of_a_state_file_is_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state.ndjson");
    let args = ["--json", "--state", state.to_str().unwrap()];
    kill_after(1, directory.path(), &state);
    let intact = fs::read(&state).unwrap();
    let new = directory.path().join("state.ndjson.leadline-new");
    let _ = fs::remove_file(&new);
    let victim = directory.path().join("victim");
    fs::write(&victim, &intact).unwrap();
    let changes: [&dyn Fn(); 4] = [
        &|| fs::write(&new, "my own notes").unwrap(),
        &|| symlink(&victim, &new).unwrap(),
        &|| fs::hard_link(&victim, &new).unwrap(),
        &|| fs::create_dir(&new).unwrap(),
    ];
    for change in changes {
        change();
        let before = fs::read(&new).ok();
        let rejected = run(&study(), directory.path(), &args);
        let reason = "state.ndjson.leadline-new is not an unfinished copy of it";
        expect_rejection(&rejected, reason, "Move that file");
        assert_eq!(fs::read(&new).ok(), before);
        assert_eq!(fs::read(&state).unwrap(), intact);
        if fs::remove_file(&new).is_err() {
            fs::remove_dir(&new).unwrap();
        }
    }
    assert_eq!(fs::read(&victim).unwrap(), intact);
    for leftover in [&intact[..], &intact[..20], &intact[..4], b""] {
        fs::write(&state, &intact).unwrap();
        fs::write(&new, leftover).unwrap();
        let done = json_of(&run(&study(), directory.path(), &args));
        assert_eq!(done["steps"].as_array().unwrap().len(), 4);
        assert!(!new.exists());
    }
}

/// Without a writable state file, no run starts, because its result could not be stored.
#[test]
fn no_run_starts_without_a_writable_state_file() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path().to_str().unwrap();
    let options = ["-t", "tmpfs", "-o", "size=512k", "none", at];
    if let Err(error) = scratch::run("mount", &options) {
        return scratch::skip(&error);
    }
    let _mounted = scratch::Mounted::existing(directory.path());
    let state = directory.path().join("state.ndjson");
    let args = ["--json", "--state", state.to_str().unwrap()];
    kill_after(1, directory.path(), &state);
    let before = fs::read(&state).unwrap();
    let filler = directory.path().join("filler");
    let mut file = fs::File::create(&filler).unwrap();
    while file.write_all(&[7; 4096]).is_ok() {}
    let stopped = run(&study(), directory.path(), &args);
    let errors = String::from_utf8_lossy(&stopped.stderr);
    assert_eq!(stopped.status.code(), Some(1), "{errors}");
    assert!(errors.contains("No space left on device"), "{errors}");
    assert_eq!(errors.matches("cannot write the state file").count(), 1);
    let report = json_of(&stopped);
    let steps = report["steps"].as_array().unwrap().iter();
    assert_eq!(steps.filter(|step| step["report"].is_object()).count(), 1);
    assert_eq!(fs::read(&state).unwrap(), before);
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 2);
    drop(file);
    fs::remove_file(&filler).unwrap();
    let done = json_of(&run(&study(), directory.path(), &args));
    let mut steps = done["steps"].as_array().unwrap().iter();
    assert!(steps.all(|step| step["exit_code"] == 0));
    assert_eq!(ended_runs(&state), 4);
}

/// A second process must not repeat the first one's runs.
#[test]
fn state_file_in_use_is_rejected() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state.ndjson");
    let link = directory.path().join("link");
    symlink(&state, &link).unwrap();
    let args = ["--json", "--state", state.to_str().unwrap()];
    let first = start(&study(), directory.path(), &args);
    for number in [0, 2] {
        wait_for_runs(&state, number);
        for path in [&state, &link] {
            let args = ["--json", "--state", path.to_str().unwrap()];
            let second = run(&study(), directory.path(), &args);
            let remedy = "Wait until that process exits, or use another file with --state.";
            expect_rejection(&second, "another process is using it", remedy);
        }
    }
    let first = json_of(&first.wait_with_output().unwrap());
    assert_eq!(first["steps"].as_array().unwrap().len(), 4);
    assert_eq!(ended_runs(&state), 4);
    // The link still points to the file.
    let args = ["--json", "--state", link.to_str().unwrap()];
    let again = json_of(&run(&study(), directory.path(), &args));
    assert_eq!(again["steps"], first["steps"]);
    assert!(link.is_symlink());
}

#[test]
fn damaged_state_file_is_rejected_unchanged() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state.ndjson");
    kill_after(1, directory.path(), &state);
    let intact = fs::read(&state).unwrap();
    let length = intact.len();
    let line_ends = (0..length).filter(|at| intact[*at] == b'\n');
    let cuts = line_ends.map(|at| at + 1).filter(|at| *at < length);
    let cuts = cuts.chain([1, 20, 100, length / 2, length - 2, length - 1]);
    let mut damaged: Vec<Vec<u8>> = cuts.map(|at| intact[..at].to_vec()).collect();
    for at in [
        0,
        2,
        12,
        30,
        80,
        length / 3,
        length / 2,
        length - 2,
        length - 1,
    ] {
        let mut changed = intact.clone();
        changed[at] ^= 1;
        damaged.push(changed);
        let mut invalid = intact.clone();
        invalid[at] = 0xff;
        damaged.push(invalid);
    }
    damaged.push([&intact[..], b"{\"started\":"].concat());
    let args = ["--json", "--state", state.to_str().unwrap()];
    for content in damaged {
        fs::write(&state, &content).unwrap();
        let rejected = run(&study(), directory.path(), &args);
        let remedy = "Use another file with --state, or remove this one to start again.";
        expect_rejection(&rejected, "it is damaged", remedy);
        assert_eq!(fs::read(&state).unwrap(), content);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
    }
    fs::write(&state, &intact).unwrap();
    json_of(&run(&study(), directory.path(), &args));
    assert_eq!(ended_runs(&state), 4);
}

/// The file is always complete, so neither a kill nor a power failure can damage it.
#[test]
fn state_file_is_always_complete() {
    let directory = tempfile::tempdir().unwrap();
    let state = directory.path().join("state.ndjson");
    let args = ["--json", "--state", state.to_str().unwrap()];
    let child = start(&study(), directory.path(), &args);
    let output = std::thread::spawn(|| child.wait_with_output().unwrap());
    let mut versions = 0;
    let mut previous = Vec::new();
    while !output.is_finished() {
        std::thread::sleep(Duration::from_millis(1));
        let content = fs::read(&state).unwrap_or_default();
        if content != previous {
            assert!(content.ends_with(b"\n"));
            let text = String::from_utf8(content.clone()).unwrap();
            let digest = Sha256::digest(without_checksum(&text));
            let hex: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(text.starts_with(&format!("{{\"sha256\":\"{hex}\"}}\n")));
            versions += 1;
            previous = content;
        }
    }
    assert!(versions >= 5, "{versions}");
    assert!(output.join().unwrap().status.success());
}
