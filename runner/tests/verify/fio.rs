//! fio verifies blocks that the runner wrote, and vice versa.

use super::{
    BLOCK, LENGTH, job, offline,
    outcome::Outcome,
    scratch,
    storage::{Damage, FaultyStorage},
};
use serde_json::{Value, json};
use std::{fs::OpenOptions, os::unix::fs::FileExt, path::Path, process::Command};

const PATTERN: &str = "0xff%o\"abcd\"-12";
/// Checksum methods that every version of fio computes in the same way.
const METHODS: &[&str] = &[
    "md5", "crc7", "crc16", "crc32", "crc32c", "crc64", "sha1", "sha256", "sha3-224", "sha3-256",
    "sha3-384", "sha3-512", "xxhash",
];
/// The offset at which `flip` changes a bit.
const FLIPPED: u64 = 5 * BLOCK + 2000;

/// Whether fio succeeds, and its output. Returns `None` and reports a skipped test if fio is not
/// installed.
fn fio(file: &Path, args: &[&str]) -> Option<(bool, String)> {
    fio_with(file, &["--verify=crc32c"], args)
}

fn fio_with(file: &Path, verify: &[&str], args: &[&str]) -> Option<(bool, String)> {
    let filename = format!("--filename={}", file.to_str().unwrap());
    let size = format!("--size={LENGTH}");
    let output = Command::new("fio")
        .args(["--name=job", "--bs=4k", "--verify_state_save=0"])
        .args([filename.as_str(), size.as_str()])
        .args(verify)
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

/// Job options, and the fio options for the same format.
fn formats() -> Vec<(Value, Vec<String>)> {
    let mut formats = Vec::new();
    for method in METHODS {
        let verify = format!("--verify={method}");
        for (option, value) in [("verify_interval", 1024), ("verify_offset", 1000)] {
            let changes = json!({"verify": method, option: value});
            formats.push((changes, vec![verify.clone(), format!("--{option}={value}")]));
        }
        formats.push((json!({"verify": method}), vec![verify]));
    }
    let pattern = format!("--verify_pattern={PATTERN}");
    for (method, verify) in [
        ("header-pattern", None),
        ("pattern", Some("--verify=pattern")),
        ("md5", Some("--verify=md5")),
    ] {
        let changes = json!({"verify": method, "verify_pattern": PATTERN});
        let verify = verify.into_iter().map(str::to_owned);
        formats.push((changes, verify.chain([pattern.clone()]).collect()));
    }
    formats
}

/// Flips a bit of a block's data.
fn flip(file: &Path) {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(file)
        .unwrap();
    let mut byte = [0];
    file.read_exact_at(&mut byte, FLIPPED).unwrap();
    file.write_all_at(&[byte[0] ^ 16], FLIPPED).unwrap();
}

#[test]
fn fio_verifies_every_runner_format() {
    let directory = scratch::directory();
    let file = directory.path().join("data");
    scratch::image(&file, LENGTH);
    for (changes, verify) in formats() {
        scratch::mark_owned(&file);
        let mut write = changes.clone();
        write["iodepth"] = json!(8);
        let outcome = Outcome::of(&job(&file, write), &[]);
        assert_eq!(outcome.false_alarms(LENGTH / BLOCK), None, "{changes}");
        let verify: Vec<&str> = verify.iter().map(String::as_str).collect();
        let Some((is_good, text)) = fio_with(&file, &verify, &["--rw=read"]) else {
            return;
        };
        assert!(is_good, "{changes}: {text}");
        flip(&file);
        let (is_good, text) = fio_with(&file, &verify, &["--rw=read"]).unwrap();
        // fio does not report a bad block if the next one in the same I/O is good.
        let is_found = !is_good || changes["verify_interval"].is_number();
        assert!(
            is_found && text.contains("verify failed"),
            "{changes}: {text}"
        );
    }
}

#[test]
fn runner_verifies_every_fio_format() {
    let directory = scratch::directory();
    let file = directory.path().join("data");
    let sha512 = (json!({"verify": "sha512"}), vec!["--verify=sha512".into()]);
    for (changes, verify) in formats().into_iter().chain([sha512]) {
        let verify: Vec<&str> = verify.iter().map(String::as_str).collect();
        let write = ["--rw=randwrite", "--do_verify=0"];
        let Some((is_good, text)) = fio_with(&file, &verify, &write) else {
            return;
        };
        assert!(is_good, "{text}");
        let mut only = changes.clone();
        only["verify_only"] = json!(1);
        only["rw"] = json!("read");
        let outcome = Outcome::of(&job(&file, only.clone()), &[]);
        assert_eq!(outcome.false_alarms(LENGTH / BLOCK), None, "{changes}");
        if changes["verify"] == "sha512" {
            // fio 3.33 does not compute this checksum.
            continue;
        }
        flip(&file);
        let outcome = Outcome::of(&job(&file, only), &[]);
        let found: Vec<u64> = outcome.failures().into_keys().collect();
        let interval = changes["verify_interval"].as_u64().unwrap_or(BLOCK);
        let expected = FLIPPED / interval * interval;
        assert_eq!(found, [expected], "{changes}: {}", outcome.summary());
    }
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

/// Checks the storage itself: fio must detect its damage.
#[test]
fn fio_detects_damage_by_the_faulty_storage() {
    for damage in [
        Damage::Flipped,
        Damage::Zeroed,
        Damage::Misplaced,
        Damage::Torn,
    ] {
        let Some(storage) = FaultyStorage::new(LENGTH as usize, BLOCK as usize, 9) else {
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
