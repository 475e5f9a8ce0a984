//! Storage that damages blocks while the job writes.

use super::{
    BLOCK, LENGTH, job,
    outcome::Outcome,
    random::Random,
    storage::{Damage, FaultyStorage},
};
use serde_json::{Value, json};

/// Number of damaged blocks in `make test`. The test `all_10000_damaged_blocks_are_detected`
/// injects 10,000.
const DAMAGED: u64 = 2_000;

/// Writes all blocks once without faults so that each has an older version, then runs the job with
/// fault injection. Returns the number of injected faults and the differences.
fn run(
    seed: u64,
    interval: u64,
    damages: &[Damage],
    changes: &Value,
) -> Option<(u64, Vec<String>)> {
    let storage = FaultyStorage::new(LENGTH as usize, interval as usize, seed)?;
    let file = storage.file();
    let before = job(
        &file,
        json!({"bs": "64k", "verify_interval": interval, "randseed": seed + 1_000_000, "rw": "write"}),
    );
    let healthy = Outcome::of(&before, &[]);
    if let Some(alarm) = healthy.false_alarms(LENGTH / interval) {
        return Some((0, vec![format!("before the damage: {alarm}")]));
    }
    storage.inject(damages, 90);
    let mut changed = json!({"randseed": seed});
    let fields = changed.as_object_mut().unwrap();
    fields.extend(changes.as_object().unwrap().clone());
    let outcome = Outcome::of(&job(&file, changed), &[]);
    let injected = storage.state().injected.clone();
    Some((injected.len() as u64, outcome.differences(&injected)))
}

/// Jobs with their block sizes.
fn variants() -> Vec<(&'static str, u64, Value)> {
    vec![
        ("psync", BLOCK, json!({"ioengine": "psync"})),
        (
            "io_uring, depth 1",
            BLOCK,
            json!({"ioengine": "io_uring", "iodepth": 1}),
        ),
        (
            "io_uring, depth 32",
            BLOCK,
            json!({"ioengine": "io_uring", "iodepth": 32}),
        ),
        (
            "buffered, psync",
            BLOCK,
            json!({"direct": 0, "ioengine": "psync"}),
        ),
        (
            "buffered, io_uring",
            BLOCK,
            json!({"direct": 0, "iodepth": 8}),
        ),
        (
            "buffered, end_fsync",
            BLOCK,
            json!({"direct": 0, "end_fsync": 1}),
        ),
        ("sequential", BLOCK, json!({"rw": "write", "iodepth": 4})),
        (
            "norandommap",
            BLOCK,
            json!({"norandommap": 1, "iodepth": 4}),
        ),
        ("loops", BLOCK, json!({"loops": 2})),
        (
            "io_size",
            BLOCK,
            json!({"io_size": LENGTH * 3, "rw": "write"}),
        ),
        (
            "bs range",
            1024,
            json!({"bsrange": "1k-8k", "verify_interval": 1024}),
        ),
        (
            "bssplit",
            BLOCK,
            json!({"bssplit": "4k/50:16k/50", "iodepth": 4}),
        ),
        (
            "interval below bs",
            512,
            json!({"bs": 8192, "verify_interval": 512}),
        ),
        (
            "workers",
            BLOCK,
            json!({"numjobs": 4, "size": LENGTH / 4, "offset_increment": LENGTH / 4}),
        ),
        (
            "offset",
            BLOCK,
            json!({"offset": LENGTH / 4, "size": LENGTH / 2}),
        ),
        (
            "refill_buffers",
            BLOCK,
            json!({"refill_buffers": 1, "iodepth": 16}),
        ),
        ("number_ios", BLOCK, json!({"number_ios": 700})),
        (
            "backlog",
            BLOCK,
            json!({"verify_backlog": 20, "iodepth": 8}),
        ),
        (
            "backlog, buffered",
            BLOCK,
            json!({"verify_backlog": 64, "verify_backlog_batch": 5, "direct": 0}),
        ),
        (
            "backlog, interval below bs",
            512,
            json!({"bs": 8192, "verify_interval": 512, "verify_backlog": 3}),
        ),
        ("rate", BLOCK, json!({"rate_iops": 4000, "iodepth": 4})),
        (
            "ramp",
            BLOCK,
            json!({"ramp_time": "100ms", "runtime": "300ms", "time_based": 1}),
        ),
    ]
}

#[test]
fn each_kind_of_damage_is_reported_with_its_offset() {
    let mut failed = Vec::new();
    for (name, interval, changes) in variants() {
        // An unreadable block ends a job that reads it back between writes.
        let is_read_back = changes["verify_backlog"].is_u64() && changes["direct"] != 0;
        let damages = match is_read_back {
            true => &Damage::ALL[..5],
            false => &Damage::ALL[..],
        };
        let Some((count, differences)) = run(1, interval, damages, &changes) else {
            return;
        };
        if count == 0 || !differences.is_empty() {
            let shown = &differences[..differences.len().min(3)];
            failed.push(format!("{name}: {count} injected, {shown:#?}"));
        }
    }
    assert!(
        failed.is_empty(),
        "{} failed:\n{}",
        failed.len(),
        failed.join("\n")
    );
}

#[test]
fn damage_in_mixed_jobs_is_detected() {
    let damages = [Damage::Flipped, Damage::Zeroed, Damage::Misplaced];
    for changes in [
        json!({"rw": "randrw", "iodepth": 8}),
        json!({"rw": "rw", "ioengine": "psync"}),
    ] {
        let Some((count, differences)) = run(7, BLOCK, &damages, &changes) else {
            return;
        };
        assert!(
            count > 0 && differences.is_empty(),
            "{changes}: {differences:#?}"
        );
    }
}

#[test]
fn all_2000_damaged_blocks_are_detected() {
    check_detection(DAMAGED);
}

/// `cargo test -p leadline-runner --test verify -- --ignored`
#[test]
#[ignore = "takes minutes"]
fn all_10000_damaged_blocks_are_detected() {
    check_detection(10_000);
}

fn check_detection(goal: u64) {
    let mut random = Random::new(15);
    let (mut total, mut failed) = (0, Vec::new());
    for seed in 0.. {
        if total >= goal {
            break;
        }
        let depth = 1 + random.below(32);
        let changes = json!({"iodepth": depth, "direct": random.below(2)});
        let Some((count, differences)) = run(seed, BLOCK, &Damage::ALL, &changes) else {
            return;
        };
        assert!(count > 0, "seed {seed}: {differences:#?}");
        total += count;
        failed.extend(
            differences
                .into_iter()
                .map(|text| format!("seed {seed}: {text}")),
        );
    }
    eprintln!("{total} injected, {} wrong", failed.len());
    assert!(
        failed.is_empty(),
        "{} of {total}: {:#?}",
        failed.len(),
        &failed[..failed.len().min(20)]
    );
}

#[test]
fn verify_fatal_stops_at_the_first_bad_block() {
    let Some(storage) = FaultyStorage::new(LENGTH as usize, BLOCK as usize, 3) else {
        return;
    };
    storage.inject(&[Damage::Flipped], 50);
    let outcome = Outcome::of(&job(&storage.file(), json!({"verify_fatal": 1})), &[]);
    let injected = storage.state().injected.clone();
    assert!(injected.len() > 10);
    assert_eq!(outcome.exit, Some(1), "{}", outcome.summary());
    assert_eq!(outcome.failures().len(), 1, "{}", outcome.summary());
    let (offset, _) = outcome.failures().pop_first().unwrap();
    assert_eq!(Some(&offset), injected.keys().next());
    assert!(outcome.number("checked_blocks") < LENGTH / BLOCK);
}

#[test]
fn text_report_shows_count_file_and_first_offset() {
    let Some(storage) = FaultyStorage::new(LENGTH as usize, BLOCK as usize, 4) else {
        return;
    };
    storage.inject(&[Damage::Zeroed], 20);
    let output = super::scratch::program::run(&job(&storage.file(), json!({})), &[]);
    let injected = storage.state().injected.clone();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8_lossy(&text).replace(',', "");
    let first = injected.keys().next().unwrap().to_string();
    assert_eq!(output.status.code(), Some(1), "{text}");
    for part in [
        &injected.len().to_string(),
        &first,
        storage.file().to_str().unwrap(),
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}
