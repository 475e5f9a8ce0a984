//! Tests of verdict modifiers.

use crate::analysis::tests::*;
use leadline_protocol::verdict::Modifier;

type Run = (Report, Vec<ResolvedJob>);

fn modifier(run: &Run, kind: ModifierKind) -> Modifier {
    let verdict = verdict_of(run);
    let mut found = verdict.modifiers.iter();
    *found
        .find(|modifier| modifier.kind == kind)
        .unwrap_or_else(|| panic!("no {kind:?}: {}", verdict.sentence))
}

/// One run per modifier kind, with its factor and KiB.
fn table() -> Vec<(ModifierKind, Run, Option<f64>, Option<u64>)> {
    let foreign = with(
        one_direction("randread", true, (10_000, 4), (30_000, 120_000)),
        |report| report.storage.as_mut().unwrap().read_bytes = 40_000 * KIB,
    );
    vec![
        (
            ModifierKind::Readahead,
            one_direction("read", false, (10_000, 4), (400, 40_000)),
            Some(25.0),
            None,
        ),
        (
            ModifierKind::Merged,
            one_direction("write", true, (10_000, 4), (1250, 40_000)),
            Some(8.0),
            None,
        ),
        (
            ModifierKind::Split,
            one_direction("read", true, (1000, 1024), (4000, 1_024_000)),
            Some(4.0),
            None,
        ),
        (
            ModifierKind::Amplified,
            one_direction("randread", false, (10_000, 4), (10_000, 320_000)),
            Some(8.0),
            Some(280_000),
        ),
        (
            ModifierKind::Deferred,
            one_direction("randwrite", false, (10_000, 4), (2500, 10_000)),
            None,
            Some(30_000),
        ),
        (ModifierKind::Foreign, foreign, None, Some(80_000)),
    ]
}

#[test]
fn factors_and_bytes() {
    for (kind, run, factor, kib) in table() {
        let found = modifier(&run, kind);
        assert_eq!(found.bytes, kib.map(|kib| kib * KIB), "{kind:?}");
        let difference = found
            .factor
            .zip(factor)
            .map(|(found, factor)| found - factor);
        assert_eq!(found.factor.is_some(), factor.is_some(), "{kind:?}");
        assert!(difference.is_none_or(|by| by.abs() < 1e-9), "{found:?}");
    }
}

/// Index of a kind. The match fails to compile if a kind is missing.
fn index_of(kind: ModifierKind) -> usize {
    match kind {
        ModifierKind::Readahead => 0,
        ModifierKind::Merged => 1,
        ModifierKind::Split => 2,
        ModifierKind::Amplified => 3,
        ModifierKind::Deferred => 4,
        ModifierKind::Foreign => 5,
    }
}

#[test]
fn every_kind_has_a_run() {
    let indices: Vec<usize> = table().iter().map(|(kind, ..)| index_of(*kind)).collect();
    assert_eq!(indices, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn modifiers_do_not_change_shares() {
    let plain = verdict_of(&one_direction(
        "randread",
        true,
        (10_000, 4),
        (10_000, 40_000),
    ));
    assert_eq!(kinds(&plain), []);
    for (kind, counted, process_kib) in [
        (ModifierKind::Merged, (1000, 40_000), 40_000),
        (ModifierKind::Split, (80_000, 40_000), 40_000),
        (ModifierKind::Foreign, (30_000, 120_000), 40_000),
    ] {
        let run = one_direction("randread", true, (10_000, 4), counted);
        let verdict = verdict_of(&with(run, |report| {
            report.storage.as_mut().unwrap().read_bytes = process_kib * KIB
        }));
        assert_eq!(kinds(&verdict), [kind]);
        assert_eq!(
            (verdict.class, verdict.shares, verdict.uncertainty),
            (plain.class, plain.shares.clone(), plain.uncertainty),
            "{kind:?}"
        );
    }
}

#[test]
fn excess_below_the_noise_floor_is_not_reported() {
    let kinds_of = |device_kib: u64, process_kib: u64| {
        let run = one_direction("randread", false, (1000, 4), (1000, device_kib));
        kinds(&verdict_of(&with(run, |report| {
            report.storage.as_mut().unwrap().read_bytes = process_kib * KIB
        })))
    };
    assert_eq!(kinds_of(8000, 8000), [], "3.9 MiB more than needed");
    assert_eq!(kinds_of(8200, 8200), [ModifierKind::Amplified]);
    assert_eq!(kinds_of(8000, 4000), [], "3.9 MiB by other programs");
    assert_eq!(kinds_of(8200, 4000), [ModifierKind::Foreign]);
}

#[test]
fn merging_is_detected_despite_foreign_io() {
    let run = one_direction("read", true, (10_000, 4), (1250, 40_000));
    let shared = with(run, |report| {
        report.device.as_mut().unwrap().counts.read_bytes = 80_000 * KIB
    });
    let expected = [ModifierKind::Foreign, ModifierKind::Merged];
    assert_eq!(kinds(&verdict_of(&shared)), expected);
}

#[test]
fn cached_reads_have_no_device_modifiers() {
    let run = one_direction("read", false, (100_000, 4), (10, 1000));
    assert_eq!(kinds(&verdict_of(&run)), []);
}

#[test]
fn the_control_group_separates_foreign_io() {
    let story = |direct: bool, storage: bool, charged_kib: u64| {
        let run = one_direction("randwrite", direct, (10_000, 4), (30_000, 120_000));
        kinds(&verdict_of(&with(run, |report| {
            if !storage {
                report.storage = None;
            }
            charge(report, false, &[("vda", charged_kib * KIB)]);
        })))
    };
    let foreign = [ModifierKind::Foreign];
    assert_eq!(story(true, true, 40_000), foreign);
    assert_eq!(story(true, false, 40_000), foreign, "without /proc/self/io");
    assert!(
        !story(true, true, 120_000).contains(&foreign[0]),
        "workers of the run"
    );
    assert!(
        !story(false, false, 40_000).contains(&foreign[0]),
        "a lower bound"
    );
}
