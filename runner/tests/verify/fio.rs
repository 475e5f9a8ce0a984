//! fio verifies blocks written by the runner, and the runner verifies fio's.

use super::{
    BLOCK, LENGTH, job, offline,
    outcome::Outcome,
    scratch,
    storage::{Damage, LyingStorage},
};
use serde_json::json;
use std::{path::Path, process::Command};

/// Exit status and output of fio. Returns `None` and reports a skip if fio is not installed.
fn fio(file: &Path, args: &[&str]) -> Option<(bool, String)> {
    let filename = format!("--filename={}", file.to_str().unwrap());
    let size = format!("--size={LENGTH}");
    let output = Command::new("fio")
        .args([
            "--name=job",
            "--bs=4k",
            "--verify=crc32c",
            "--verify_state_save=0",
        ])
        .args([filename.as_str(), size.as_str()])
        .args(args)
        .output();
    let Ok(output) = output else {
        scratch::skip("fio is not installed");
        return None;
    };
    let text = [output.stdout, output.stderr].concat();
    Some((
        output.status.success(),
        String::from_utf8_lossy(&text).into(),
    ))
}

#[test]
fn fio_verifies_blocks_written_by_the_runner() {
    let directory = scratch::directory();
    let file = directory.path().join("data");
    scratch::image(&file, LENGTH);
    for changes in [
        json!({"rw": "write"}),
        json!({"iodepth": 32}),
        json!({"direct": 0, "refill_buffers": 1}),
        json!({"loops": 2}),
    ] {
        scratch::mark_owned(&file);
        let outcome = Outcome::of(&job(&file, changes.clone()), &[]);
        assert_eq!(outcome.false_alarms(LENGTH / BLOCK), None, "{changes}");
        let Some((is_good, text)) = fio(&file, &["--rw=read"]) else {
            return;
        };
        assert!(is_good, "{changes}: {text}");
    }
    let first = *offline::damage(&file, 5).keys().next().unwrap();
    let (is_good, text) = fio(&file, &["--rw=read"]).unwrap();
    assert!(
        !is_good && text.contains(&format!("offset {first}")),
        "{first}: {text}"
    );
}

#[test]
fn runner_verifies_blocks_written_by_fio() {
    let directory = scratch::directory();
    let file = directory.path().join("data");
    let only = json!({"verify_only": 1, "rw": "read"});
    for rw in ["--rw=write", "--rw=randwrite"] {
        let Some((is_good, text)) = fio(&file, &[rw, "--do_verify=0"]) else {
            return;
        };
        assert!(is_good, "{text}");
        let outcome = Outcome::of(&job(&file, only.clone()), &[]);
        assert_eq!(outcome.false_alarms(LENGTH / BLOCK), None, "{rw}");
    }
    let injected = offline::damage(&file, 6);
    let outcome = Outcome::of(&job(&file, only), &[]);
    let differences = outcome.differences(&injected);
    assert!(differences.is_empty(), "{differences:#?}");
}

/// Checks the storage itself: fio detects its damage.
#[test]
fn fio_detects_the_damage_by_the_lying_storage() {
    for damage in [
        Damage::Flipped,
        Damage::Zeroed,
        Damage::Misplaced,
        Damage::Torn,
    ] {
        let Some(storage) = LyingStorage::new(LENGTH as usize, BLOCK as usize, 9) else {
            return;
        };
        let file = storage.file();
        let write = ["--rw=write", "--direct=1", "--overwrite=1", "--do_verify=0"];
        let Some((is_good, text)) = fio(&file, &write) else {
            return;
        };
        assert!(is_good, "{text}");
        storage.inject(&[damage], 50);
        fio(&file, &[&write[..], &["--randseed=77"]].concat());
        storage.inject(&[], 0);
        let first = *storage.state().injected.keys().next().unwrap();
        let (is_good, text) = fio(&file, &["--rw=read", "--direct=1"]).unwrap();
        let is_found = !is_good && text.contains(&format!("offset {first}"));
        assert!(is_found, "{damage:?}, {first}: {text}");
    }
}
