//! Data that is damaged between the run that writes it and the `verify_only` run.

use super::{
    BLOCK, LENGTH, job,
    outcome::Outcome,
    random::Random,
    scratch,
    storage::{Damage, Injection, MAX_DAMAGED},
};
use serde_json::json;
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs::{self, OpenOptions},
    os::unix::fs::FileExt,
    path::Path,
};

/// Damages blocks of a file in ways that `verify_only` can recognize. Returns the oracle.
pub(crate) fn damage(path: &Path, seed: u64) -> BTreeMap<u64, Injection> {
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .open(path)
        .unwrap();
    let mut random = Random::new(seed);
    let mut injected = BTreeMap::new();
    let blocks = LENGTH / BLOCK;
    for _ in 0..MAX_DAMAGED {
        // Misplaced blocks contain data from the second half.
        let at = random.below(blocks / 2) * BLOCK;
        let mut data = vec![0; BLOCK as usize];
        let source = (blocks / 2 + random.below(blocks / 2)) * BLOCK;
        if injected.contains_key(&at) {
            continue;
        }
        file.read_exact_at(&mut data, at).unwrap();
        let mut other = data.clone();
        file.read_exact_at(&mut other, source).unwrap();
        let (damage, found) = match random.below(4) {
            0 => {
                data[random.below(BLOCK) as usize] ^= 1 << random.below(8);
                (Damage::Flipped, None)
            }
            1 => {
                data.fill(0);
                (Damage::Zeroed, None)
            }
            2 => {
                data = other;
                (Damage::Misplaced, Some(source))
            }
            _ => {
                let kept = 512 * (1 + random.below(7)) as usize;
                data[kept..].fill(0);
                (Damage::Torn, None)
            }
        };
        file.write_all_at(&data, at).unwrap();
        injected.insert(at, Injection { damage, found });
    }
    file.sync_all().unwrap();
    injected
}

pub(crate) fn hash(path: &Path) -> Vec<u8> {
    Sha256::digest(fs::read(path).unwrap()).to_vec()
}

fn check(path: &Path, root: &Path, direct: u64, rw: &str) {
    let write = job(
        path,
        json!({"do_verify": 0, "direct": direct, "iodepth": 8}),
    );
    let written = Outcome::in_root(&write, root);
    assert_eq!(written.exit, Some(0), "{}", written.summary());
    let injected = damage(path, 21 + direct);
    let before = hash(path);
    let only = job(path, json!({"verify_only": 1, "rw": rw, "direct": direct}));
    let outcome = Outcome::in_root(&only, root);
    let differences = outcome.differences(&injected);
    assert!(
        differences.is_empty(),
        "direct={direct} rw={rw}: {differences:#?}"
    );
    assert_eq!(before, hash(path), "verify_only wrote data");
}

#[test]
fn verify_only_detects_damage_in_a_file() {
    let directory = scratch::directory();
    let file = directory.path().join("data");
    scratch::image(&file, LENGTH);
    for direct in [0, 1] {
        for rw in ["read", "randwrite"] {
            scratch::mark_owned(&file);
            check(&file, directory.path(), direct, rw);
        }
    }
}

#[test]
fn verify_only_detects_damage_on_a_device() {
    let directory = scratch::directory();
    let image = directory.path().join("image");
    scratch::image(&image, LENGTH);
    let Some(device) = scratch::Loop::attach(&image, &[]) else {
        return;
    };
    for direct in [0, 1] {
        check(Path::new(&device.0), directory.path(), direct, "read");
    }
}

#[test]
fn read_only_device_can_be_verified() {
    let directory = scratch::directory();
    let image = directory.path().join("image");
    scratch::image(&image, LENGTH);
    let written = Outcome::of(&job(&image, json!({})), &[]);
    assert_eq!(written.false_alarms(LENGTH / BLOCK), None);
    let Some(device) = scratch::Loop::attach(&image, &["--read-only"]) else {
        return;
    };
    let only = job(
        Path::new(&device.0),
        json!({"verify_only": 1, "rw": "read"}),
    );
    let outcome = Outcome::in_root(&only, directory.path());
    assert_eq!(outcome.false_alarms(LENGTH / BLOCK), None);
}

#[test]
fn region_without_headers_is_unwritten() {
    let directory = scratch::directory();
    let file = directory.path().join("data");
    scratch::image(&file, LENGTH);
    let outcome = Outcome::of(&job(&file, json!({"verify_only": 1, "rw": "read"})), &[]);
    assert_eq!(outcome.exit, Some(1), "{}", outcome.summary());
    assert_eq!(outcome.number("bad_blocks"), LENGTH / BLOCK);
    let kinds: Vec<_> = outcome
        .failures()
        .into_values()
        .map(|found| found.0)
        .collect();
    assert_eq!(kinds.len(), MAX_DAMAGED);
    assert!(kinds.iter().all(|kind| kind == "unwritten"), "{kinds:?}");
}
