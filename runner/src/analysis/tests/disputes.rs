//! Tests of samples and counters that contradict each other.

use crate::analysis::tests::{
    limits::{assert_class, assert_contains, assert_share, reads, share_of, with_all_ios_from},
    *,
};
use StorageLayer::{Device, PageCache, Unknown, Unwritten};

#[test]
fn direct_reads_missing_from_all_counters_are_disputed() {
    for (process_kib, device_kib) in [(0, 0), (20_000, 20_000), (0, 40_000)] {
        let verdict = assert_class(
            &with_all_ios_from(reads(true, process_kib, device_kib), Device),
            VerdictClass::Unknown,
        );
        assert!(verdict.shares.is_empty());
        assert!(
            verdict.sentence.contains("10,000 sampled reads")
                && verdict.sentence.contains("39.1 MiB issued"),
            "{}",
            verdict.sentence
        );
    }
}

/// The process counters and the sample agree, but the device counted no reads.
#[test]
fn direct_reads_that_the_device_did_not_count_are_disputed() {
    let verdict = assert_class(
        &with_all_ios_from(reads(true, 40_000, 0), Device),
        VerdictClass::Unknown,
    );
    assert_contains(&verdict, "vda transferred 0 B for 39.1 MiB issued");
}

#[test]
fn the_process_counter_is_named_if_it_contradicts_the_sample() {
    for (layer, direct, process_kib, numbers) in [
        (
            Device,
            true,
            0,
            "100.0 % of the bytes were not in the page cache, and the process read 0 B from storage for 39.1 MiB",
        ),
        (
            PageCache,
            false,
            40_000,
            "0.0 % of the bytes were not in the page cache, and the process read 39.1 MiB from storage",
        ),
    ] {
        let run = with_job(
            reads(direct, process_kib, 40_000),
            json!({"fadvise_hint": "random"}),
        );
        let verdict = assert_class(&with_all_ios_from(run, layer), VerdictClass::Unknown);
        assert_contains(&verdict, numbers);
    }
}

#[test]
fn a_small_contradiction_becomes_an_unknown_share() {
    let verdict = assert_class(
        &with_all_ios_from(reads(true, 38_000, 38_000), Device),
        VerdictClass::Device,
    );
    assert_share(&verdict, Device, 0.95);
    assert_share(&verdict, Unknown, 0.05);
}

/// The process counters include all issued bytes; the I/O is direct.
#[test]
fn counted_reads_of_sampled_holes_are_disputed() {
    assert_class(
        &with_all_ios_from(reads(true, 40_000, 40_000), Unwritten),
        VerdictClass::Unknown,
    );
}

/// Without readahead, each page that the process read from the device corresponds to one of its
/// I/Os.
#[test]
fn counted_reads_of_sampled_cached_pages_are_disputed() {
    let run = with_job(
        reads(false, 40_000, 40_000),
        json!({"fadvise_hint": "random"}),
    );
    assert_class(&with_all_ios_from(run, PageCache), VerdictClass::Unknown);
}

/// Another program evicted the file repeatedly, so pages were gone when they were read shortly
/// after their lookup: 11.8 % of the reads reached the device, but only 4.7 % of those that were
/// looked up.
#[test]
fn the_unknown_share_is_the_difference_between_sample_and_counter() {
    let run = with_job(
        reads(false, 4_720, 4_720),
        json!({"fadvise_hint": "random"}),
    );
    let layers = sampled(&[
        (Device, share(0.033, 0.047, 0.066)),
        (PageCache, share(0.934, 0.953, 0.967)),
    ]);
    let verdict = verdict_of(&with_layers(run, layers));
    let [device, unknown] = [Device, Unknown].map(|layer| share_of(&verdict, layer));
    assert!(
        device <= 0.118 && device + unknown >= 0.118,
        "{device} + {unknown}"
    );
}

#[test]
fn charged_bytes_beyond_device_bytes_are_a_contradiction() {
    for (direction, run) in [
        (true, reads(true, 40_000, 40_000)),
        (
            false,
            one_direction("randwrite", true, (10_000, 4), (10_000, 40_000)),
        ),
    ] {
        let charged = |kib: u64| {
            let run = (run.0.clone(), run.1.clone());
            verdict_of(&with(run, |report| {
                charge(report, direction, &[("vda", kib * KIB)])
            }))
        };
        assert_share(&charged(40_000), Device, 1.0);
        assert_share(&charged(41_000), Device, 1.0);
        assert_eq!(charged(60_000).class, VerdictClass::Unknown, "{direction}");
    }
}
