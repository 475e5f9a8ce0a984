//! What lies in the file after a run: as compressible and as repetitive as asked, within two percent.

use std::collections::HashSet;
use std::io::Write;

use flate2::Compression;
use flate2::write::DeflateEncoder;
use serde_json::{Value, json};

use super::scratch;
use super::scratch::program::{report, with};

const BLOCK: usize = 4096;
const BYTES: usize = 16 << 20;

/// What a run over the whole file wrote.
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

/// Percent of the bytes that a compressor leaves out, 64 KiB at a time.
fn compressed_away(bytes: &[u8]) -> f64 {
    let left = |chunk: &[u8]| {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(chunk).unwrap();
        encoder.finish().unwrap().len()
    };
    100.0 - bytes.chunks(16 * BLOCK).map(left).sum::<usize>() as f64 * 100.0 / bytes.len() as f64
}

/// Percent of the blocks that are like an earlier one.
fn repeated(bytes: &[u8]) -> f64 {
    let distinct = bytes.chunks(BLOCK).collect::<HashSet<_>>().len();
    100.0 - distinct as f64 * 100.0 / (bytes.len() / BLOCK) as f64
}

#[test]
fn a_report_says_what_fresh_data_costs() {
    let directory = scratch::directory();
    let job = json!({"name": "cost", "filename": directory.path().join("t1"), "size": "1m", "rw": "write", "bs": "64k", "direct": 1});
    let choice = |changes: Value| {
        let told = report(&with(&job, changes));
        let decisions = told["report"]["jobs"][0]["decisions"]
            .as_array()
            .unwrap()
            .clone();
        decisions
            .into_iter()
            .find(|choice| choice["name"] == "fresh_data")
            .unwrap()
    };
    let fresh = choice(json!({"buffer_compress_percentage": 50}));
    let reason = fresh["reason"].as_str().unwrap();
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
        fresh["used"] == true && (10.0..100_000.0).contains(&ns),
        "{reason}"
    );
    assert_eq!(choice(json!({}))["used"], false);
}

#[test]
fn files_hold_the_data_that_was_asked_for() {
    // One prepared buffer for each I/O in flight is written over and over where nothing else is asked, as in fio.
    let cases = [
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
    for (changes, compresses, repeats) in cases {
        let bytes = written(changes.clone());
        let (away, same) = (compressed_away(&bytes), repeated(&bytes));
        // Repeats inside 64 KiB compress too: the share is told for data without any.
        assert!(
            compresses.is_nan() || (away - compresses).abs() < 2.0,
            "{changes}: {away:.1} % compress away"
        );
        assert!(
            (same - repeats).abs() < 2.0,
            "{changes}: {same:.1} % repeat"
        );
    }
}
