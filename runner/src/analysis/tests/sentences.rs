//! Sentences, shares and evidence.

use crate::analysis::tests::{check as check_class, *};
use leadline_protocol::{
    evidence::transition::{Direction, ServedBy, Transition},
    phase::Phase,
    report::PhaseTime,
};

#[test]
fn sentences() {
    let check = |rw, direct, issued, counted, want: &str| {
        assert_eq!(
            verdict_of(&one_direction(rw, direct, issued, counted)).sentence,
            want
        )
    };
    check(
        "randread",
        false,
        (25_600_000, 4),
        (0, 0),
        "853,333 IOPS from memory: 0 of 25,600,000 reads reached vda.",
    );
    check(
        "randread",
        true,
        (300_000, 4),
        (300_012, 1_200_048),
        "All 10,000 IOPS reached vda: 300,000 reads issued, 300,012 seen by the device.",
    );
    check(
        "randread",
        false,
        (2560, 4),
        (1121, 4484),
        "56.2 % of the reads from memory, 43.8 % from vda: 1,121 of 2,560 reads reached vda.",
    );
    check(
        "read",
        false,
        (262_144, 4),
        (4156, 1_048_576),
        "8,738 IOPS through readahead: vda served 4,156 reads of 252 KiB for 262,144 issued.",
    );
    check(
        "randwrite",
        false,
        (3_000_000, 4),
        (100, 120_000),
        "100,000 IOPS into memory: only 1.0 % of the 11.4 GiB reached vda before the measurement ended.",
    );
    check(
        "randwrite",
        false,
        (3_000_000, 4),
        (0, 0),
        "100,000 IOPS into memory: none of the 11.4 GiB reached vda before the measurement ended.",
    );
    check(
        "randwrite",
        false,
        (3_000_000, 4),
        (10, 1200),
        "100,000 IOPS into memory: under 0.1 % of the 11.4 GiB reached vda before the measurement ended.",
    );
}

#[test]
fn partly_cached_read_has_expected_shares_and_evidence() {
    let verdict = verdict_of(&one_direction("randread", false, (2560, 4), (1121, 4484)));
    for shares in [&verdict.shares, &verdict.byte_shares] {
        assert!((shares["device"] - 0.4379).abs() < 0.0001, "{shares:?}");
        assert!((shares["page_cache"] - 0.5621).abs() < 0.0001, "{shares:?}");
    }
    assert_eq!(verdict.uncertainty, 0.0, "every I/O was looked up");
    let number = |name: &str| verdict.evidence[name];
    assert_eq!(
        [
            number("issued_ios"),
            number("device_ios"),
            number("own_bytes"),
            number("sampled_ios"),
        ],
        [2560, 1121, 4484 * KIB, 10_000]
    );
}

#[test]
fn error_bound_is_shown() {
    let run = one_direction("randread", false, (10_000, 4), (6000, 24_000));
    let half = [
        (StorageLayer::PageCache, share(0.45, 0.5, 0.55)),
        (StorageLayer::Device, share(0.45, 0.5, 0.55)),
    ];
    let verdict = verdict_of(&with_layers(run, sampled(&half)));
    assert!((verdict.uncertainty - 0.05).abs() < 1e-9);
    assert_eq!(
        verdict.sentence,
        "50.0 % of the reads from vda, 50.0 % from memory: about 5,000 of 10,000 reads (±5.0 %) reached vda."
    );
}

/// Readahead combines adjacent reads.
#[test]
fn device_ios_are_named_if_they_are_fewer() {
    let run = one_direction("randread", false, (10_000, 4), (100, 4000));
    let parts = [
        (StorageLayer::PageCache, share(0.9, 0.9, 0.9)),
        (StorageLayer::Device, share(0.1, 0.1, 0.1)),
    ];
    let sentence = verdict_of(&with_layers(run, sampled(&parts))).sentence;
    assert!(
        sentence.ends_with("1,000 of 10,000 reads reached vda in 100 I/Os."),
        "{sentence}"
    );
}

#[test]
fn sentences_with_modifiers() {
    let check = |rw, direct, issued, counted, want: &str| {
        assert_eq!(
            verdict_of(&one_direction(rw, direct, issued, counted)).sentence,
            want
        )
    };
    check(
        "write",
        false,
        (30_000, 4),
        (300, 120_000),
        "1,000 IOPS reached vda in larger I/Os: 300 writes of 400 KiB for 30,000 issued.",
    );
    check(
        "read",
        true,
        (3000, 1024),
        (12_000, 3_072_000),
        "100 IOPS reached vda in smaller I/Os: 12,000 reads of 256 KiB for 3,000 issued.",
    );
    check(
        "randwrite",
        true,
        (30_000, 4),
        (60_000, 240_000),
        "1,000 IOPS reached vda, which also transferred 117 MiB for other programs: 30,000 writes issued, 60,000 seen by the device.",
    );
    check(
        "randread",
        false,
        (30_000, 4),
        (30_000, 240_000),
        "vda read 2.0 × the issued bytes: 234 MiB for 117 MiB.",
    );
}

#[test]
fn transition_to_memory() {
    let run = with(
        one_direction("randread", false, (1_000_000, 4), (10_000, 40_000)),
        |report| {
            report.phases = vec![PhaseTime {
                phase: Phase::Measure,
                start_ms: 500.0,
                duration_ms: 30_000.0,
                bytes: None,
            }];
            report.transitions = vec![Transition {
                t_ms: 3_700.0,
                direction: Direction::Read,
                from: ServedBy::Device,
                to: ServedBy::Memory,
            }];
        },
    );
    check_class(
        "transition",
        &run,
        VerdictClass::PageCache,
        &[],
        "Served from memory after 3.2 s.",
    );
    assert_eq!(verdict_of(&run).transition_ms, Some(3_700.0));
}
