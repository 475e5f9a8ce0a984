//! File contents after a run: the compressible and duplicate shares are within 2 percentage points
//! of the requested ones.

use super::scratch::{
    self,
    program::{report, with},
};
use flate2::{Compression, write::DeflateEncoder};
use serde_json::{Value, json};
use std::{collections::HashSet, io::Write};

const BLOCK: usize = 4096;
const BYTES: usize = 16 << 20;

/// Contents of a file that a run has written completely.
fn written(changes: Value) -> Vec<u8> {
    let directory = scratch::directory();
    let file = directory.path().join("t1");
    let job = json!({"name": "data", "filename": file, "size": BYTES, "rw": "randwrite", "bs": "4k", "iodepth": 8, "direct": 1});
    assert_eq!(
        report(&with(&job, changes))["report"]["write"]["bytes"],
        BYTES
    );
    std::fs::read(&file).unwrap()
}

/// Percentage of bytes saved by compressing 64 KiB at a time.
fn compressible_percent(bytes: &[u8]) -> f64 {
    let compressed = |chunk: &[u8]| {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(chunk).unwrap();
        encoder.finish().unwrap().len()
    };
    100.0
        - bytes.chunks(16 * BLOCK).map(compressed).sum::<usize>() as f64 * 100.0
            / bytes.len() as f64
}

/// Percentage of blocks that duplicate an earlier one.
fn duplicate_percent(bytes: &[u8]) -> f64 {
    let distinct = bytes.chunks(BLOCK).collect::<HashSet<_>>().len();
    100.0 - distinct as f64 * 100.0 / (bytes.len() / BLOCK) as f64
}

#[test]
fn decisions_include_the_cost_of_new_data() {
    let directory = scratch::directory();
    let job = json!({"name": "cost", "filename": directory.path().join("t1"), "size": "1m", "rw": "write", "bs": "64k", "direct": 1});
    let decision = |changes: Value, name: &str| {
        let result = report(&with(&job, changes));
        let decisions = result["report"]["jobs"][0]["decisions"]
            .as_array()
            .unwrap()
            .clone();
        decisions
            .into_iter()
            .find(|decision| decision["name"] == name)
            .unwrap()
    };
    let refill = decision(json!({"buffer_compress_percentage": 50}), "refill_buffers");
    let reason = refill["reason"].as_str().unwrap();
    let ns: f64 = reason
        .split(" ns per 4 KiB")
        .next()
        .unwrap()
        .rsplit(' ')
        .next()
        .unwrap()
        .parse()
        .unwrap();
    assert!(
        refill["used"] == true && (10.0..100_000.0).contains(&ns),
        "{reason}"
    );
    let scramble = decision(json!({}), "scramble_buffers");
    assert_eq!(scramble["used"], true);
    let scramble = decision(json!({"scramble_buffers": 0}), "scramble_buffers");
    assert_eq!(scramble["used"], false);
}

#[test]
fn files_contain_the_requested_data() {
    let cases = [
        // As in fio, every I/O in flight has one buffer. Stamps make the blocks differ, but they
        // are still compressible.
        (json!({}), f64::NAN, 0.0),
        (json!({"refill_buffers": 1}), 0.0, 0.0),
        (json!({"zero_buffers": 1}), 99.0, 100.0),
        (json!({"buffer_compress_percentage": 30}), 30.0, 0.0),
        (json!({"buffer_compress_percentage": 75}), 75.0, 0.0),
        (json!({"dedupe_percentage": 40}), f64::NAN, 40.0),
        (
            json!({"dedupe_percentage": 25, "buffer_compress_percentage": 50, "numjobs": 1}),
            f64::NAN,
            25.0,
        ),
    ];
    for (changes, compressible, duplicate) in cases {
        let bytes = written(changes.clone());
        let actual = compressible_percent(&bytes);
        // NaN skips the check, because duplicates within 64 KiB are also compressible.
        assert!(
            compressible.is_nan() || (actual - compressible).abs() < 2.0,
            "{changes}: {actual:.1} % compressible"
        );
        let actual = duplicate_percent(&bytes);
        assert!(
            (actual - duplicate).abs() < 2.0,
            "{changes}: {actual:.1} % duplicates"
        );
    }
}
