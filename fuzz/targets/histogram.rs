//! Fuzzes latency histograms: merged counts and percentiles.
#![no_main]

use leadline_fuzz::mutate_json;
use leadline_protocol::histogram::{
    BUCKETS, Buckets, bucket_of, deserialize, is_valid, merge, midpoint_of, percentiles,
};
use libfuzzer_sys::{fuzz_mutator, fuzz_target};
use serde::Deserialize;

#[derive(Deserialize)]
struct Histogram(#[serde(deserialize_with = "deserialize")] Buckets);

const PERCENTS: [f64; 6] = [0.0, 1.0, 50.0, 99.0, 99.99, 100.0];

fuzz_target!(|text: &[u8]| {
    let Ok((Histogram(one), Histogram(other))) = serde_json::from_slice(text) else {
        return;
    };
    let merged = merge([&one, &other]);
    assert!(is_valid(&merged));
    assert_eq!(merged, merge([&other, &one]));
    for buckets in [&one, &other, &merged] {
        let found = percentiles(buckets, &PERCENTS);
        assert!(found.is_sorted() && (found.is_empty() || found.len() == PERCENTS.len()));
        let exists = |ns: &u64| {
            buckets
                .iter()
                .any(|(bucket, _)| midpoint_of(*bucket as usize) == *ns)
        };
        assert!(found.iter().all(exists));
        for &(bucket, count) in buckets {
            assert_eq!(bucket_of(midpoint_of(bucket as usize)), bucket as usize);
            assert!(bucket_of(count) < BUCKETS);
        }
    }
});

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutate_json(data, size, max_size, seed)
});
