//! What every list of I/Os keeps to, whatever the job: tables for the shapes, properties for the rest.

use crate::load::pattern::*;
use crate::plan::fixture::{resolved, same, target};
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const K: u64 = 1024;

/// The whole list of clone 0, in batches of an odd size so that borders fall anywhere.
fn list(job: &ResolvedJob) -> Vec<Io> {
    some(job, 0, usize::MAX)
}

fn some(job: &ResolvedJob, clone: u32, most: usize) -> Vec<Io> {
    let mut pattern = Pattern::new(job, clone);
    let mut batch = [Io {
        offset: 0,
        len: 0,
        target: 0,
        kind: Kind::Read,
    }; 13];
    let mut ios = Vec::new();
    while ios.len() < most {
        let filled = pattern.draw(&mut batch);
        ios.extend_from_slice(&batch[..filled]);
        if filled == 0 {
            assert_eq!(pattern.draw(&mut batch), 0, "what is done stays done");
            break;
        }
    }
    ios.truncate(most);
    ios
}

/// A region of so many KiB at 64 KiB, worked through once.
fn region(kib: u64, mut different: Value) -> ResolvedJob {
    let defaults =
        json!({"targets": [target(64 * K, kib * K)], "size": kib * K, "io_size": kib * K});
    let Value::Object(defaults) = defaults else {
        unreachable!()
    };
    defaults
        .into_iter()
        .for_each(|(name, value)| different[name] = different.get(&name).cloned().unwrap_or(value));
    resolved(different)
}

fn sizes(min: u64, max: u64, split: Value) -> Value {
    same(&json!({"min": min, "max": max, "split": split}))
}

/// Offsets in blocks of 4 KiB from the beginning of the region.
fn blocks(ios: &[Io]) -> Vec<u64> {
    ios.iter().map(|io| (io.offset - 64 * K) / 4096).collect()
}

#[test]
fn sequential_lists_are_those_of_fio() {
    let check =
        |kib, different, want: &[u64]| assert_eq!(blocks(&list(&region(kib, different))), want);
    check(16, json!({"rw": "read"}), &[0, 1, 2, 3]);
    check(18, json!({"rw": "write"}), &[0, 1, 2, 3]);
    check(
        12,
        json!({"rw": "read", "io_size": 28 * K}),
        &[0, 1, 2, 0, 1, 2, 0],
    );
    check(
        16,
        json!({"rw": "read", "rw_modifier": 4096}),
        &[0, 2, 0, 2],
    );
    check(
        16,
        json!({"rw": "read", "rw_modifier": -8192}),
        &[3, 2, 1, 0],
    );
    check(
        16,
        json!({"rw": "write", "rw_modifier": -12288, "io_size": 12 * K}),
        &[3, 1, 3],
    );
    check(16, json!({"rw": "read", "number_ios": 3}), &[0, 1, 2]);
    check(16, json!({"rw": "trim"}), &[0, 1, 2, 3]);
}

#[test]
fn a_mix_walks_both_ways_by_itself() {
    let ios = list(&region(400, json!({"rw": "rw", "rwmixread": 50})));
    for kind in [Kind::Read, Kind::Write] {
        let of_kind: Vec<Io> = ios.iter().copied().filter(|io| io.kind == kind).collect();
        assert_eq!(blocks(&of_kind), (0..50).collect::<Vec<u64>>());
    }
}

#[test]
fn time_based_lists_do_not_end_and_number_ios_ends_them() {
    assert_eq!(
        some(
            &region(16, json!({"rw": "randread", "time_based": true})),
            0,
            1000
        )
        .len(),
        1000
    );
    assert_eq!(
        list(&region(
            16,
            json!({"rw": "randread", "time_based": true, "number_ios": 777})
        ))
        .len(),
        777
    );
}

#[test]
fn syncs_come_after_so_many_writes_on_the_file_written_last() {
    let kinds = |different| {
        list(&region(40, different))
            .iter()
            .map(|io| io.kind as u8)
            .collect::<Vec<u8>>()
    };
    assert_eq!(
        kinds(json!({"rw": "write", "fsync": 4})),
        [1, 1, 1, 1, 3, 1, 1, 1, 1, 3, 1, 1]
    );
    assert_eq!(
        kinds(json!({"rw": "write", "fdatasync": 5})),
        [1, 1, 1, 1, 1, 4, 1, 1, 1, 1, 1, 4]
    );
    assert_eq!(
        kinds(json!({"rw": "write", "fsync": 8, "fdatasync": 4})),
        [1, 1, 1, 1, 4, 1, 1, 1, 1, 3, 1, 1]
    );
    let mixed = list(&region(
        4000,
        json!({"rw": "randrw", "rwmixread": 70, "fsync": 10}),
    ));
    let count = |kind| mixed.iter().filter(|io| io.kind == kind).count();
    assert_eq!(
        (count(Kind::Read), count(Kind::Write), count(Kind::Sync)),
        (700, 300, 30)
    );
    let two = region(
        32,
        json!({"rw": "write", "fsync": 1, "targets": [target(0, 16 * K), target(0, 16 * K)]}),
    );
    list(&two)
        .chunks(2)
        .for_each(|pair| assert_eq!((pair[0].target, pair[1].kind), (pair[1].target, Kind::Sync)));
}

#[test]
fn files_take_turns_and_are_covered_alike() {
    let targets = [target(0, 8 * K), target(0, 16 * K)];
    let ios = list(&region(24, json!({"rw": "read", "targets": targets})));
    let turns: Vec<(u16, u64)> = ios.iter().map(|io| (io.target, io.offset / 4096)).collect();
    assert_eq!(turns, [(0, 0), (1, 0), (0, 1), (1, 1), (1, 2), (1, 3)]);
}

#[test]
fn runs_of_a_random_list_follow_on() {
    let ios = list(&region(4000, json!({"rw": "randread", "rw_modifier": 4})));
    let blocks = blocks(&ios);
    assert!(
        blocks
            .chunks(4)
            .all(|run| run.windows(2).all(|pair| pair[1] == pair[0] + 1) || run.contains(&999))
    );
    let jumps = blocks
        .windows(2)
        .filter(|pair| pair[1] != pair[0] + 1)
        .count();
    assert!(
        (240..=250).contains(&jumps),
        "{jumps} of 250 runs begin elsewhere"
    );
}

#[test]
fn percentage_random_is_exact() {
    let ios = some(
        &region(
            400_000,
            json!({"rw": "randread", "percentage_random": same(&json!(30))}),
        ),
        0,
        50_000,
    );
    let follows = blocks(&ios)
        .windows(2)
        .filter(|pair| pair[1] == pair[0] + 1)
        .count() as f64
        / 50_000.0;
    assert!((follows - 0.70).abs() < 0.005, "{follows} follow on");
}

#[test]
fn a_list_drawn_many_at_a_time_is_the_same_list() {
    for different in [
        json!({}),
        json!({"norandommap": true}),
        json!({"number_ios": 5}),
        json!({"time_based": true}),
        json!({"io_size": 30 * K}),
        json!({"random_distribution": same(&json!({"kind": "zipf", "theta": 1.1}))}),
    ] {
        for rw in ["randread", "randwrite", "randtrim", "randrw"] {
            let mut different = different.clone();
            different["rw"] = json!(rw);
            different["rwmixread"] = if rw == "randrw" {
                json!(70)
            } else {
                Value::Null
            };
            let job = region(400, different);
            let mut asking = Pattern::new(&job, 0);
            assert!(asking.alike.take().is_some(), "{job:?}");
            let mut ios = [Io {
                offset: 0,
                len: 0,
                target: 0,
                kind: Kind::Read,
            }; 300];
            let filled = asking.draw(&mut ios);
            assert_eq!(&ios[..filled], &some(&job, 0, 300)[..]);
        }
    }
}

#[test]
fn sizes_have_their_shares() {
    let split = json!([{"bytes": 4096, "percent": 70}, {"bytes": 65536, "percent": 25}, {"bytes": 8192, "percent": 5}]);
    let ios = some(
        &region(
            400_000,
            json!({"rw": "randwrite", "bs": sizes(4096, 65536, split), "time_based": true}),
        ),
        0,
        10_000,
    );
    let count = |len| ios.iter().filter(|io| io.len == len).count();
    assert_eq!((count(4096), count(65536), count(8192)), (7000, 2500, 500));
    let ranged = some(
        &region(
            400_000,
            json!({"rw": "randread", "bs": sizes(4096, 65536, json!([])), "time_based": true}),
        ),
        0,
        16_000,
    );
    let mut seen = BTreeMap::<u32, u32>::new();
    ranged
        .iter()
        .for_each(|io| *seen.entry(io.len / 4096).or_default() += 1);
    assert_eq!(
        seen.keys().copied().collect::<Vec<u32>>(),
        (1..=16).collect::<Vec<u32>>()
    );
    assert!(
        seen.values().all(|count| (850..1150).contains(count)),
        "{seen:?}"
    );
}

#[test]
fn norandommap_repeats_and_the_default_does_not() {
    let distinct = |different| {
        let mut blocks = blocks(&list(&region(40_000, different)));
        blocks.sort_unstable();
        blocks.dedup();
        blocks.len()
    };
    assert_eq!(distinct(json!({"rw": "randread"})), 10_000);
    // 1 - 1/e of the blocks are met by as many independent draws.
    assert!((6200..6450).contains(&distinct(json!({"rw": "randread", "norandommap": true}))));
}

#[test]
fn clones_work_on_their_own_targets_with_lists_of_their_own() {
    let mut targets = [target(0, 16 * K), target(16 * K, 16 * K)];
    targets
        .iter_mut()
        .zip(0..)
        .for_each(|(target, clone)| target.worker = Some(clone));
    let job = region(
        16,
        json!({"rw": "randread", "targets": targets, "numjobs": 2}),
    );
    assert!(some(&job, 0, 99).iter().all(|io| io.offset < 16 * K));
    assert!(
        some(&job, 1, 99)
            .iter()
            .all(|io| io.offset >= 16 * K && io.target == 0)
    );
    let shared = region(4000, json!({"rw": "randread", "numjobs": 2}));
    let same_turns = some(&shared, 0, 1000)
        .iter()
        .zip(some(&shared, 1, 1000))
        .filter(|(a, b)| **a == *b)
        .count();
    assert!(
        same_turns < 10,
        "{same_turns} of 1000 I/Os are the same in both clones"
    );
}

/// Shares of the I/Os that the most used slots take, beside theory.
#[test]
fn distributions_follow_theory() {
    const SLOTS: usize = 1000;
    const DRAWS: usize = 200_000;
    let counts = |distribution: Value| {
        let job = region(
            4 * SLOTS as u64,
            json!({"rw": "randread", "random_distribution": same(&distribution), "time_based": true}),
        );
        let mut counts = vec![0f64; SLOTS];
        blocks(&some(&job, 0, DRAWS))
            .iter()
            .for_each(|block| counts[*block as usize] += 1.0 / DRAWS as f64);
        counts
    };
    let check = |name: &str, got: f64, want: f64| {
        assert!(
            (got - want).abs() < 0.005,
            "{name}: {got}, theory says {want}"
        )
    };
    let top = |mut counts: Vec<f64>, slots: usize| {
        counts.sort_by(|a, b| b.total_cmp(a));
        counts[..slots].iter().sum::<f64>()
    };
    for theta in [0.8f64, 1.2, 2.0] {
        let weight = |rank: usize| (rank as f64).powf(-theta);
        let want = (1..=10).map(weight).sum::<f64>() / (1..=SLOTS).map(weight).sum::<f64>();
        check(
            "zipf",
            top(counts(json!({"kind": "zipf", "theta": theta})), 10),
            want,
        );
    }
    // h = 0.2: 80 % of the I/Os on 20 % of the slots.
    check(
        "pareto",
        top(counts(json!({"kind": "pareto", "power": 0.2})), 200),
        0.8,
    );
    let bell = counts(json!({"kind": "normal", "deviation_percent": 10.0}));
    check("normal, one deviation", bell[400..600].iter().sum(), 0.6827);
    check(
        "normal, two deviations",
        bell[300..700].iter().sum(),
        0.9545,
    );
    let zones = json!([{"access_percent": 60, "size_percent": 10}, {"access_percent": 30, "size_percent": 20},
        {"access_percent": 10, "size_percent": 70}]);
    let zoned = counts(json!({"kind": "zoned", "zones": zones}));
    check("first zone", zoned[..100].iter().sum(), 0.6);
    check("second zone", zoned[100..300].iter().sum(), 0.3);
    check("third zone", zoned[300..].iter().sum(), 0.1);
}

#[test]
fn liked_slots_are_scattered() {
    let job = region(
        4000,
        json!({"rw": "randread", "random_distribution": same(&json!({"kind": "zipf", "theta": 1.5})), "time_based": true}),
    );
    let mut counts = BTreeMap::<u64, u32>::new();
    blocks(&some(&job, 0, 20_000))
        .into_iter()
        .for_each(|block| *counts.entry(block).or_default() += 1);
    let mut liked: Vec<(u32, u64)> = counts
        .into_iter()
        .map(|(block, count)| (count, block))
        .collect();
    liked.sort_unstable_by(|a, b| b.cmp(a));
    assert!(
        liked[0].1.abs_diff(liked[1].1) > 1 && liked[1].1.abs_diff(liked[2].1) > 1,
        "{:?}",
        &liked[..3]
    );
}

fn any_job() -> impl Strategy<Value = (ResolvedJob, u64, u64)> {
    let rw = prop::sample::select(vec![
        "read",
        "write",
        "trim",
        "randread",
        "randwrite",
        "randtrim",
        "rw",
        "randrw",
    ]);
    let liked = prop::sample::select(vec![
        json!({"kind": "random"}),
        json!({"kind": "zipf", "theta": 1.1}),
        json!({"kind": "pareto", "power": 0.3}),
        json!({"kind": "normal", "deviation_percent": 30.0}),
        json!({"kind": "zoned", "zones": [{"access_percent": 90, "size_percent": 1}, {"access_percent": 10, "size_percent": 99}]}),
    ]);
    let bytes = (0u32..4, 1u64..9, 0u64..1000, 1u64..4);
    (rw, liked, bytes, -40_000i64..40_000, 0u8..=100, any::<u64>(), any::<bool>()).prop_map(
        |(rw, liked, (power, times, extra, files), modifier, percent, seed, repeats)| {
            let min = 512u64 << power;
            let max = min * times;
            let len = max + extra * 100;
            let kind: leadline_protocol::job::value::RwKind = serde_json::from_value(json!(rw)).unwrap();
            let modifier = if kind.is_random() { modifier.abs() % 20 + 1 } else { modifier - modifier % min as i64 };
            let targets: Vec<_> = (0..files).map(|file| target(file * 4096, len - file.min(extra) * 100)).collect();
            let size: u64 = targets.iter().map(|target| target.size).sum();
            let job = resolved(json!({"rw": rw, "rw_modifier": if percent % 3 == 0 { Some(modifier) } else { None },
                "rwmixread": if kind.reads() && kind.writes() { Some(percent) } else { None }, "bs": sizes(min, max, json!([])),
                "blockalign": same(&json!(min)), "random_distribution": same(&liked), "percentage_random": same(&json!(percent)),
                "randseed": seed, "norandommap": repeats, "targets": targets, "size": size, "io_size": size}));
            (job, min, max)
        },
    )
}

proptest! {
    #[test]
    fn no_io_leaves_its_region_and_all_are_aligned((job, min, max) in any_job()) {
        for io in some(&job, 0, 2000) {
            let target = &job.targets[usize::from(io.target)];
            prop_assert!(io.offset >= target.offset && io.offset + u64::from(io.len) <= target.offset + target.size, "{io:?} {target:?}");
            prop_assert_eq!(((io.offset - target.offset) % min, u64::from(io.len) % min), (0, 0));
            prop_assert!((min..=max).contains(&u64::from(io.len)));
        }
    }

    #[test]
    fn the_bytes_asked_for_are_moved((job, min, _) in any_job()) {
        let moved: u64 = list(&job).iter().map(|io| u64::from(io.len)).sum();
        prop_assert!(moved <= job.timing.io_size && job.timing.io_size - moved < min, "{moved} of {}", job.timing.io_size);
    }

    #[test]
    fn the_same_seed_gives_the_same_list((job, ..) in any_job()) {
        prop_assert_eq!(some(&job, 3, 500), some(&job, 3, 500));
    }

    #[test]
    fn a_random_pass_takes_every_block_once(rw in prop::sample::select(vec!["randread", "randwrite", "randtrim", "randrw"]),
        number in 1u64..3000, passes in 1u64..4, seed: u64, percent in 0u8..=100) {
        let mix = (rw == "randrw").then_some(percent);
        let job = region(4 * number, json!({"rw": rw, "rwmixread": mix, "randseed": seed, "loops": passes, "io_size": 4 * K * number * passes}));
        for pass in blocks(&list(&job)).chunks(number as usize) {
            let mut pass = pass.to_vec();
            pass.sort_unstable();
            prop_assert!(pass.into_iter().eq(0..number));
        }
    }

    #[test]
    fn a_mix_is_exact_in_every_hundred(percent in 0u8..=100, seed: u64) {
        let ios = some(&region(4000, json!({"rw": "randrw", "rwmixread": percent, "randseed": seed})), 0, 1000);
        for hundred in ios.chunks(100) {
            prop_assert_eq!(hundred.iter().filter(|io| io.kind == Kind::Read).count(), usize::from(percent));
        }
    }
}
