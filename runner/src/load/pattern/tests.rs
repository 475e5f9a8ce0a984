//! Compares generated I/Os with lists from fio, checks their statistical properties, and tests
//! invariants.

pub(crate) mod distribution;
pub(crate) mod draw_cost;
mod sizes;

use crate::{
    load::pattern::*,
    plan::fixture::{resolved, same, target},
};
use leadline_protocol::job::rw::RwKind;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};

const K: u64 = 1024;
/// Offset of the region in the target.
const BEGIN: u64 = 64 * K;

/// All of worker 0's I/Os.
fn list(job: &ResolvedJob) -> Vec<Io> {
    first(job, 0, usize::MAX)
}

/// A worker's first I/Os, drawn in small batches whose size is not a power of two.
fn first(job: &ResolvedJob, worker: u32, max: usize) -> Vec<Io> {
    let mut pattern = Pattern::new(job, worker);
    let mut batch = [Io::default(); 13];
    let mut ios = Vec::new();
    while ios.len() < max {
        let filled = pattern.draw(&mut batch);
        ios.extend_from_slice(&batch[..filled]);
        if filled == 0 {
            assert_eq!(
                pattern.draw(&mut batch),
                0,
                "a finished list stays finished"
            );
            break;
        }
    }
    ios.truncate(max);
    ios
}

/// A job that makes one pass over a region of this size.
fn region(kib: u64, options: Value) -> ResolvedJob {
    let mut all = json!({"targets": [target(BEGIN, kib * K)], "size": kib * K, "io_size": kib * K});
    let Value::Object(options) = options else {
        unreachable!()
    };
    all["is_io_size_requested"] = json!(options.contains_key("io_size"));
    for (name, value) in options {
        all[name] = value;
    }
    resolved(all)
}

fn sizes(min: u64, max: u64, split: Value) -> Value {
    same(&json!({"min": min, "max": max, "split": split}))
}

/// Offsets in blocks of 4 KiB from the start of the region.
fn blocks(ios: &[Io]) -> Vec<u64> {
    ios.iter().map(|io| (io.offset - BEGIN) / 4096).collect()
}

fn count(ios: &[Io], kind: Kind) -> usize {
    ios.iter().filter(|io| io.kind == kind).count()
}

#[test]
fn sequential_lists_match_fio() {
    let check = |kib, options, expected: &[u64]| {
        assert_eq!(blocks(&list(&region(kib, options))), expected);
    };
    check(16, json!({"rw": "read"}), &[0, 1, 2, 3]);
    check(18, json!({"rw": "write"}), &[0, 1, 2, 3]);
    let two_passes = json!({"rw": "read", "io_size": 28 * K});
    check(12, two_passes, &[0, 1, 2, 0, 1, 2, 0]);
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
    let backward = json!({"rw": "write", "rw_modifier": -12288, "io_size": 12 * K});
    check(16, backward, &[3, 1, 3]);
    check(16, json!({"rw": "read", "number_ios": 3}), &[0, 1, 2]);
    check(16, json!({"rw": "trim"}), &[0, 1, 2, 3]);
}

#[test]
fn each_direction_in_a_mix_is_sequential() {
    let ios = list(&region(400, json!({"rw": "rw", "rwmixread": 50})));
    for kind in [Kind::Read, Kind::Write] {
        let of_kind: Vec<Io> = ios.iter().copied().filter(|io| io.kind == kind).collect();
        assert_eq!(blocks(&of_kind), (0..50).collect::<Vec<u64>>());
    }
}

#[test]
fn time_based_lists_are_limited_only_by_number_ios() {
    let job = region(16, json!({"rw": "randread", "time_based": true}));
    assert_eq!(first(&job, 0, 1000).len(), 1000);
    let limited = json!({"rw": "randread", "time_based": true, "number_ios": 777});
    assert_eq!(list(&region(16, limited)).len(), 777);
}

#[test]
fn syncs_follow_n_writes_on_the_last_written_target() {
    let kinds = |options| {
        let ios = list(&region(40, options));
        ios.iter().map(|io| io.kind as u8).collect::<Vec<u8>>()
    };
    assert_eq!(
        kinds(json!({"rw": "write", "fsync": 4})),
        [1, 1, 1, 1, 3, 1, 1, 1, 1, 3, 1, 1]
    );
    assert_eq!(
        kinds(json!({"rw": "write", "fdatasync": 5})),
        [1, 1, 1, 1, 1, 4, 1, 1, 1, 1, 1]
    );
    assert_eq!(
        kinds(json!({"rw": "write", "fsync": 8, "fdatasync": 4})),
        [1, 1, 1, 1, 4, 1, 1, 1, 1, 3, 1, 1]
    );
    let mix = json!({"rw": "randrw", "rwmixread": 70, "fsync": 10});
    let mix = list(&region(4000, mix));
    assert_eq!(count(&mix, Kind::Read), 700);
    assert_eq!(count(&mix, Kind::Write), 300);
    assert_eq!(count(&mix, Kind::Sync), 30);
    let targets = [target(0, 16 * K), target(0, 16 * K)];
    let ios = list(&region(
        32,
        json!({"rw": "write", "fsync": 1, "targets": targets}),
    ));
    for pair in ios.chunks_exact(2) {
        assert_eq!(pair[0].target, pair[1].target);
        assert_eq!(pair[1].kind, Kind::Sync);
    }
}

#[test]
fn targets_alternate_and_are_covered_equally() {
    let targets = [target(0, 8 * K), target(0, 16 * K)];
    let ios = list(&region(24, json!({"rw": "read", "targets": targets})));
    let order: Vec<(u16, u64)> = ios.iter().map(|io| (io.target, io.offset / 4096)).collect();
    assert_eq!(order, [(0, 0), (1, 0), (0, 1), (1, 1), (1, 2), (1, 3)]);
}

#[test]
fn random_lists_with_a_modifier_have_sequential_runs() {
    let ios = list(&region(4000, json!({"rw": "randread", "rw_modifier": 4})));
    let blocks = blocks(&ios);
    let is_sequential = |pair: &[u64]| pair[1] == pair[0] + 1;
    let mut runs = blocks.chunks(4);
    assert!(runs.all(|run| run.windows(2).all(is_sequential) || run.contains(&999)));
    let jumps = blocks
        .windows(2)
        .filter(|pair| !is_sequential(pair))
        .count();
    assert!(
        (240..=250).contains(&jumps),
        "{jumps} jumps between 250 runs"
    );
}

#[test]
fn percentage_random_is_exact() {
    let options = json!({"rw": "randread", "percentage_random": same(&json!(30))});
    let blocks = blocks(&first(&region(400_000, options), 0, 50_000));
    let sequential = blocks.windows(2).filter(|pair| pair[1] == pair[0] + 1);
    let share = sequential.count() as f64 / 50_000.0;
    assert!((share - 0.70).abs() < 0.005, "{share} are sequential");
}

#[test]
fn bulk_generation_does_not_change_the_list() {
    for options in [
        json!({}),
        json!({"norandommap": true}),
        json!({"number_ios": 5}),
        json!({"time_based": true}),
        json!({"io_size": 30 * K}),
        json!({"random_distribution": same(&json!({"kind": "zipf", "theta": 1.1}))}),
        json!({"fsync": 1}),
        json!({"fsync": 32, "time_based": true}),
        json!({"fsync": 10, "fdatasync": 4, "number_ios": 60}),
        json!({"fdatasync": 7, "io_size": 140 * K}),
    ] {
        for rw in ["randread", "randwrite", "randtrim", "randrw"] {
            let mut options = options.clone();
            options["rw"] = json!(rw);
            options["rwmixread"] = json!((rw == "randrw").then_some(70));
            let job = region(400, options);
            assert_bulk_matches_single_draws(&job);
        }
    }
}

#[test]
fn sequential_bulk_generation_does_not_change_the_list() {
    for options in [
        json!({}),
        json!({"io_size": 1100 * K}),
        json!({"io_size": 1098 * K}),
        json!({"number_ios": 5}),
        json!({"number_ios": 205}),
        json!({"time_based": true}),
        json!({"time_based": true, "rw_modifier": 4096}),
        json!({"time_based": true, "rw_modifier": 5000}),
        json!({"time_based": true, "rw_modifier": 1 << 20}),
    ] {
        for (rw, kib) in [("read", 400), ("write", 402), ("trim", 4), ("read", 7)] {
            let mut options = options.clone();
            options["rw"] = json!(rw);
            assert_bulk_matches_single_draws(&region(kib, options));
        }
    }
}

fn assert_bulk_matches_single_draws(job: &ResolvedJob) {
    let mut one_by_one = Pattern::new(job, 0);
    assert!(one_by_one.bulk.take().is_some(), "{job:?}");
    let mut ios = [Io::default(); 300];
    let filled = one_by_one.draw(&mut ios);
    assert_eq!(&ios[..filled], &first(job, 0, 300)[..], "{job:?}");
}

#[test]
fn sizes_match_their_shares() {
    let split = json!([
        {"bytes": 4096, "percent": 70},
        {"bytes": 65536, "percent": 25},
        {"bytes": 8192, "percent": 5},
    ]);
    let options = json!({"rw": "randwrite", "bs": sizes(4096, 65536, split), "time_based": true, "norandommap": true});
    let ios = first(&region(400_000, options), 0, 10_000);
    let count = |len| ios.iter().filter(|io| io.len == len).count();
    assert_eq!((count(4096), count(65536), count(8192)), (7000, 2500, 500));

    let range = sizes(4096, 65536, json!([]));
    let options = json!({"rw": "randread", "bs": range, "time_based": true, "norandommap": true});
    let mut counts = BTreeMap::<u32, u32>::new();
    for io in first(&region(400_000, options), 0, 16_000) {
        *counts.entry(io.len / 4096).or_default() += 1;
    }
    assert!(counts.keys().copied().eq(1..=16), "{counts:?}");
    let is_uniform = counts.values().all(|count| (850..1150).contains(count));
    assert!(is_uniform, "{counts:?}");
}

#[test]
fn random_ios_of_different_sizes_access_each_block_once() {
    let split = json!([{"bytes": 4096, "percent": 50}, {"bytes": 65536, "percent": 50}]);
    for sizes in [sizes(4096, 65536, split), sizes(4096, 32768, json!([]))] {
        let options = json!({"rw": "randwrite", "bs": sizes, "loops": 3, "io_size": 12_000 * K});
        let ios = list(&region(4000, options));
        let mut counts = vec![0; 1000];
        for io in &ios {
            let first = ((io.offset - BEGIN) / 4096) as usize;
            let blocks = io.len as usize / 4096;
            counts[first..first + blocks]
                .iter_mut()
                .for_each(|count| *count += 1);
        }
        assert!(counts.iter().all(|count| *count == 3), "{counts:?}");
    }
}

#[test]
fn rates_determine_the_direction_shares() {
    let rates = |read, write| json!({"read": read, "write": write, "trim": null});
    let blocks = json!({"read": {"min": 4096, "max": 4096, "split": []}, "write": {"min": 8192, "max": 8192, "split": []}, "trim": {"min": 4096, "max": 4096, "split": []}});
    for (option, rate, writes) in [
        ("rate_iops", rates(100, 400), 800),
        ("rate_iops", rates(200, 200), 500),
        ("rate", rates(1 << 20, 2 << 20), 500),
    ] {
        let options = json!({"rw": "randrw", "rwmixread": 70, option: rate, "bs": blocks, "time_based": true});
        let ios = first(&region(4000, options), 0, 1000);
        assert_eq!(count(&ios, Kind::Write), writes, "{option}");
    }
}

#[test]
fn number_ios_applies_to_each_pass() {
    let options = json!({"rw": "write", "number_ios": 7, "loops": 3, "io_size": 12_000 * K});
    assert_eq!(list(&region(4000, options)).len(), 21);
}

#[test]
fn no_sync_is_issued_after_the_last_io() {
    let ios = list(&region(32, json!({"rw": "write", "fsync": 4})));
    assert_eq!(count(&ios, Kind::Sync), 1);
    let ios = list(&region(
        32,
        json!({"rw": "write", "fsync": 3, "number_ios": 6}),
    ));
    assert_eq!(count(&ios, Kind::Sync), 1);
}

#[test]
fn only_norandommap_repeats_blocks() {
    let distinct = |options| {
        let mut blocks = blocks(&list(&region(40_000, options)));
        blocks.sort_unstable();
        blocks.dedup();
        blocks.len()
    };
    assert_eq!(distinct(json!({"rw": "randread"})), 10_000);
    // The same number of independent draws accesses 1 - 1/e of the blocks.
    let repeating = distinct(json!({"rw": "randread", "norandommap": true}));
    assert!((6200..6450).contains(&repeating));
}

#[test]
fn workers_have_separate_targets_and_lists() {
    let mut targets = [target(0, 16 * K), target(16 * K, 16 * K)];
    targets[0].worker = Some(0);
    targets[1].worker = Some(1);
    let job = region(
        16,
        json!({"rw": "randread", "targets": targets, "numjobs": 2}),
    );
    assert!(first(&job, 0, 99).iter().all(|io| io.offset < 16 * K));
    let second = first(&job, 1, 99);
    assert!(
        second
            .iter()
            .all(|io| io.offset >= 16 * K && io.target == 0)
    );

    let shared = region(4000, json!({"rw": "randread", "numjobs": 2}));
    let same = first(&shared, 0, 1000)
        .iter()
        .zip(first(&shared, 1, 1000))
        .filter(|(a, b)| **a == *b)
        .count();
    assert!(
        same < 10,
        "{same} of 1000 I/Os are the same in both workers"
    );
}

/// Share of accesses to each slot.
fn shares(slots: usize, distribution: Value) -> Vec<f64> {
    const DRAWS: usize = 200_000;
    let distribution = same(&distribution);
    let options =
        json!({"rw": "randread", "random_distribution": distribution, "time_based": true});
    let mut shares = vec![0f64; slots];
    for block in blocks(&first(&region(4 * slots as u64, options), 0, DRAWS)) {
        shares[block as usize] += 1.0 / DRAWS as f64;
    }
    shares
}

#[test]
fn distributions_match_their_formulas() {
    const SLOTS: usize = 1000;
    let check = |name: &str, actual: f64, expected: f64| {
        let error = (actual - expected).abs();
        assert!(error < 0.005, "{name}: {actual}, expected {expected}");
    };
    let top = |mut shares: Vec<f64>, slots: usize| {
        shares.sort_by(|a, b| b.total_cmp(a));
        shares[..slots].iter().sum::<f64>()
    };
    for theta in [0.8f64, 1.2, 2.0] {
        let weight = |rank: usize| (rank as f64).powf(-theta);
        let expected = (1..=10).map(weight).sum::<f64>() / (1..=SLOTS).map(weight).sum::<f64>();
        let zipf = shares(SLOTS, json!({"kind": "zipf", "theta": theta}));
        check("zipf", top(zipf, 10), expected);
    }
    // h = 0.2: 80 % of the I/Os access 20 % of the slots.
    let pareto = shares(SLOTS, json!({"kind": "pareto", "power": 0.2}));
    check("pareto", top(pareto, 200), 0.8);

    let normal = shares(SLOTS, json!({"kind": "normal", "deviation_percent": 10.0}));
    check("normal, 1σ", normal[400..600].iter().sum(), 0.6827);
    check("normal, 2σ", normal[300..700].iter().sum(), 0.9545);

    let zones = json!([
        {"access_percent": 60, "size_percent": 10},
        {"access_percent": 30, "size_percent": 20},
        {"access_percent": 10, "size_percent": 70},
    ]);
    let zoned = shares(SLOTS, json!({"kind": "zoned", "zones": zones}));
    check("first zone", zoned[..100].iter().sum(), 0.6);
    check("second zone", zoned[100..300].iter().sum(), 0.3);
    check("third zone", zoned[300..].iter().sum(), 0.1);
}

#[test]
fn frequent_slots_are_scattered() {
    let shares = shares(1000, json!({"kind": "zipf", "theta": 1.5}));
    let mut slots: Vec<usize> = (0..shares.len()).collect();
    slots.sort_by(|a, b| shares[*b].total_cmp(&shares[*a]));
    let is_adjacent = |pair: &[usize]| pair[0].abs_diff(pair[1]) <= 1;
    assert!(!slots[..3].windows(2).any(is_adjacent), "{:?}", &slots[..3]);
}

/// A job with its smallest and largest block sizes.
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
    let zones = json!([
        {"access_percent": 90, "size_percent": 1},
        {"access_percent": 10, "size_percent": 99},
    ]);
    let distribution = prop::sample::select(vec![
        json!({"kind": "random"}),
        json!({"kind": "zipf", "theta": 1.1}),
        json!({"kind": "pareto", "power": 0.3}),
        json!({"kind": "normal", "deviation_percent": 30.0}),
        json!({"kind": "zoned", "zones": zones}),
    ]);
    let sizes_and_files = (0u32..4, 1u64..9, 0u64..1000, 1u64..4);
    let modifier = -40_000i64..40_000;
    let percent = 0u8..=100;
    let seed = any::<u64>();
    let repeats = any::<bool>();
    let inputs = (
        rw,
        distribution,
        sizes_and_files,
        modifier,
        percent,
        seed,
        repeats,
    );
    inputs.prop_map(
        |(rw, distribution, (power, factor, extra, files), modifier, percent, seed, repeats)| {
            let min = 512u64 << power;
            let max = min * factor;
            let len = max + extra * 100;
            let kind: RwKind = serde_json::from_value(json!(rw)).unwrap();
            let modifier = if kind.is_random() {
                modifier.abs() % 20 + 1
            } else {
                modifier - modifier % min as i64
            };
            let targets: Vec<_> = (0..files)
                .map(|file| target(file * 4096, len - file.min(extra) * 100))
                .collect();
            let size: u64 = targets.iter().map(|target| target.size).sum();
            let job = resolved(json!({
                "rw": rw,
                "rw_modifier": (percent % 3 == 0).then_some(modifier),
                "rwmixread": (kind.reads() && kind.writes()).then_some(percent),
                "bs": sizes(min, max, json!([])),
                "blockalign": same(&json!(min)),
                "random_distribution": same(&distribution),
                "percentage_random": same(&json!(percent)),
                "randseed": seed,
                "norandommap": repeats,
                "targets": targets,
                "size": size,
                "io_size": size,
            }));
            (job, min, max)
        },
    )
}

proptest! {
    #[test]
    fn ios_are_aligned_and_inside_their_region((job, min, max) in any_job()) {
        for io in first(&job, 0, 2000) {
            let target = &job.targets[usize::from(io.target)];
            let len = u64::from(io.len);
            prop_assert!(io.offset >= target.offset, "{io:?} {target:?}");
            prop_assert!(io.offset + len <= target.offset + target.size, "{io:?} {target:?}");
            prop_assert_eq!(((io.offset - target.offset) % min, len % min), (0, 0));
            prop_assert!((min..=max).contains(&len));
        }
    }

    #[test]
    fn lists_transfer_io_size_bytes((job, min, _) in any_job()) {
        let bytes: u64 = list(&job).iter().map(|io| u64::from(io.len)).sum();
        let io_size = job.io_size_of(0);
        prop_assert!(bytes <= io_size && io_size - bytes < min, "{bytes} of {io_size}");
    }

    #[test]
    fn lists_with_the_same_seed_are_equal((job, ..) in any_job()) {
        prop_assert_eq!(first(&job, 3, 500), first(&job, 3, 500));
    }

    #[test]
    fn a_random_pass_accesses_every_block_once(
        rw in prop::sample::select(vec!["randread", "randwrite", "randtrim", "randrw"]),
        n in 1u64..3000,
        passes in 1u64..4,
        seed: u64,
        percent in 0u8..=100,
    ) {
        let rwmixread = (rw == "randrw").then_some(percent);
        let job = region(4 * n, json!({
            "rw": rw, "rwmixread": rwmixread, "randseed": seed, "loops": passes,
            "io_size": 4 * K * n * passes,
        }));
        for pass in blocks(&list(&job)).chunks(n as usize) {
            let mut pass = pass.to_vec();
            pass.sort_unstable();
            prop_assert!(pass.into_iter().eq(0..n));
        }
    }

    #[test]
    fn a_mix_is_exact_within_every_hundred_ios(percent in 0u8..=100, seed: u64) {
        let options = json!({"rw": "randrw", "rwmixread": percent, "randseed": seed});
        let ios = first(&region(4000, options), 0, 1000);
        for hundred in ios.chunks(100) {
            prop_assert_eq!(count(hundred, Kind::Read), usize::from(percent));
        }
    }
}

/// Targets of the I/Os in a job whose three files have 4, 8 and 4 blocks.
fn files(changes: Value) -> Vec<u16> {
    let files = [4, 8, 4].map(|blocks| json!(target(0, blocks * 4096)));
    let mut options = json!({"targets": files, "size": 16 * 4096, "io_size": 16 * 4096});
    for (name, value) in changes.as_object().unwrap() {
        options[name] = value.clone();
    }
    list(&resolved(options))
        .iter()
        .map(|io| io.target)
        .collect()
}

#[test]
fn file_service_type_determines_the_order_of_the_files() {
    let order =
        |order: &str, ios: u32| files(json!({"file_service": {"order": order, "ios": ios}}));
    let robin = [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 1, 1, 1, 1];
    assert_eq!(order("roundrobin", 1), robin);
    // As soon as one file is finished, the next one follows.
    let threes = [0, 0, 0, 1, 1, 1, 2, 2, 2, 0, 1, 1, 1, 2, 1, 1];
    assert_eq!(order("roundrobin", 3), threes);
    let sequential = [0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 2, 2, 2, 2];
    assert_eq!(order("sequential", 1), sequential);
    let passes = files(json!({
        "file_service": {"order": "sequential", "ios": 1}, "io_size": 32 * 4096,
        "is_io_size_requested": true,
    }));
    assert_eq!(passes, [sequential, sequential].concat());
    let random = order("random", 1);
    let count = |file| random.iter().filter(|target| **target == file).count();
    assert_eq!([count(0), count(1), count(2)], [4, 8, 4]);
    assert!(random != robin && random != sequential);
    let pairs = order("random", 2);
    assert!(pairs.chunks(2).all(|pair| pair[0] == pair[1]), "{pairs:?}");
}

#[test]
fn identical_offsets_repeat_each_random_offset() {
    let job = region(
        256,
        json!({
            "rw": "randread", "rw_modifier": 4, "rw_sequencer": "identical", "norandommap": true,
        }),
    );
    let ios = list(&job);
    let groups: Vec<u64> = ios.chunks(4).map(|group| group[0].offset).collect();
    assert_eq!(ios.len(), 64);
    let is_same = |group: &[Io]| group.iter().all(|io| io.offset == group[0].offset);
    assert!(ios.chunks(4).all(is_same), "{ios:?}");
    let distinct: HashSet<u64> = groups.iter().copied().collect();
    assert!(distinct.len() > 8, "{groups:?}");
}

#[test]
fn each_trimmed_block_is_written() {
    for (rw, blocks) in [("trimwrite", 64), ("randtrimwrite", 64)] {
        let ios = list(&region(256, json!({"rw": rw})));
        assert_eq!(ios.len(), 2 * blocks, "{rw}");
        let mut offsets = HashSet::new();
        for pair in ios.chunks(2) {
            assert_eq!((pair[0].kind, pair[1].kind), (Kind::Trim, Kind::Write));
            assert_eq!((pair[0].offset, pair[0].len), (pair[1].offset, pair[1].len));
            offsets.insert(pair[0].offset);
        }
        assert_eq!(offsets.len(), blocks, "{rw}");
    }
    let counted = list(&region(
        256,
        json!({"rw": "trimwrite", "number_ios": 5, "fsync": 2}),
    ));
    let kinds: Vec<Kind> = counted.iter().map(|io| io.kind).collect();
    let pair = [Kind::Trim, Kind::Write];
    let four = [pair, pair].concat();
    let expected = [&four[..], &[Kind::Sync], &four, &[Kind::Sync], &pair].concat();
    assert_eq!(kinds, expected);
}
