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
fn every_modifier_kind_has_a_test_run() {
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

/// 4,000 reads of 4 KiB, 40 of which needed the device. The device read `device_kib`, and
/// `cached_share` of the region was in memory at the start.
fn verdict_for_reads_cached_after_start(device_kib: u64, cached_share: f64) -> Verdict {
    let run = one_direction("randread", false, (4000, 4), (100, device_kib));
    let layers = exact(&[
        (StorageLayer::Device, 0.01),
        (StorageLayer::PageCache, 0.99),
    ]);
    let run = with_target(with_layers(run, layers), |target| {
        let start = target.residency.start.as_mut().unwrap();
        start.cached = (target.region_bytes as f64 * cached_share) as u64;
    });
    verdict_of(&run)
}

#[test]
fn reads_of_pages_that_were_read_ahead_are_not_amplified() {
    let verdict = verdict_for_reads_cached_after_start(16_000, 0.0);
    assert_eq!(verdict.class, VerdictClass::PageCache);
    assert_eq!(kinds(&verdict), [ModifierKind::Readahead]);
    let factor = verdict.modifiers[0].factor.unwrap();
    assert!((factor - 40.0).abs() < 0.01, "{factor}");
    let text = "Readahead had fetched the pages: vda read 15.6 MiB in 100 I/Os.";
    assert!(verdict.sentence.ends_with(text), "{}", verdict.sentence);
}

#[test]
fn readahead_that_no_read_used_is_amplification() {
    let kinds = |device_kib, cached_share| {
        kinds(&verdict_for_reads_cached_after_start(
            device_kib,
            cached_share,
        ))
    };
    let used_in_part = [ModifierKind::Amplified, ModifierKind::Readahead];
    assert_eq!(kinds(64_000, 0.0), used_in_part);
    let unused = [ModifierKind::Amplified];
    assert_eq!(
        kinds(16_000, 1.0),
        unused,
        "pages that were cached at the start"
    );
}

/// In a container, an overlay's layers are not visible.
fn on_hidden_overlay(run: Run) -> Run {
    let run = with(run, |report| {
        report.device = None;
        report.targets[0].device = None;
        report.targets[0].filesystem = Some("overlay".into());
    });
    let mut targets = serde_json::to_value(&run.1[0]).unwrap()["targets"].clone();
    targets[0]["device"] = Value::Null;
    targets[0]["filesystem"] = json!("overlay");
    with_job(run, json!({"targets": targets}))
}

#[test]
fn an_overlay_without_a_visible_device_is_not_amplified() {
    for rw in ["randread", "randwrite"] {
        let run = one_direction(rw, true, (10_000, 4), (10_000, 40_000));
        let (report, jobs) = on_hidden_overlay(run);
        let verdict = verdict_of(&(report.clone(), jobs.clone()));
        assert_eq!(verdict.class, VerdictClass::Device, "{}", verdict.sentence);
        assert_eq!(kinds(&verdict), [], "{}", verdict.sentence);
        assert!(!codes(&report, &jobs).contains(&"amplification".into()));
    }
}

#[test]
fn the_control_group_separates_foreign_io() {
    let estimate_of = |direct: bool, storage: bool, charged_kib: u64| {
        let run = one_direction("randwrite", direct, (10_000, 4), (30_000, 120_000));
        kinds(&verdict_of(&with(run, |report| {
            if !storage {
                report.storage = None;
            }
            charge(report, false, &[("vda", charged_kib * KIB)]);
        })))
    };
    let foreign = [ModifierKind::Foreign];
    assert_eq!(estimate_of(true, true, 40_000), foreign);
    assert_eq!(
        estimate_of(true, false, 40_000),
        foreign,
        "without /proc/self/io"
    );
    assert!(
        !estimate_of(true, true, 120_000).contains(&foreign[0]),
        "the run's workers"
    );
    assert!(
        !estimate_of(false, false, 40_000).contains(&foreign[0]),
        "a lower bound"
    );
}
