//! Tests the goodness of fit of the offset distributions with χ² across all slots or ranks.

use crate::load::{
    goodness_of_fit::chi_square_excess, pattern::offset_distribution::OffsetDistribution,
};
use leadline_protocol::job::distribution::{AbsoluteZone, Distribution, Zone};
use rand::{SeedableRng, rngs::Xoshiro256PlusPlus};

const DRAWS: usize = 1_000_000;
/// Slot size in bytes.
const ALIGN: u64 = 4096;
/// See `chi_square_excess`.
const MAX_EXCESS: f64 = 5.5;

type Rng = Xoshiro256PlusPlus;

/// Number of draws per slot.
fn counts(distribution: &mut OffsetDistribution, n: usize, rng: &mut Rng) -> Vec<f64> {
    let mut counts = vec![0.0; n];
    (0..DRAWS).for_each(|_| counts[distribution.next(rng) as usize] += 1.0);
    counts
}

/// Checks that draws are proportional to `weights`, by slot or, for scattered ranks, by rank.
fn check(name: &str, distribution: &Distribution, repeats: bool, weights: &[f64]) {
    let n = weights.len();
    for seed in [1, 2, 3] {
        let mut rng = Rng::seed_from_u64(seed);
        let mut offsets = OffsetDistribution::new(distribution, n as u64, ALIGN, repeats, &mut rng);
        let mut counts = counts(&mut offsets, n, &mut rng);
        if let OffsetDistribution::Zipf(_, slots) | OffsetDistribution::Pareto(_, _, slots) =
            &offsets
        {
            counts = (0..n as u64)
                .map(|rank| counts[slots.get(rank) as usize])
                .collect();
        }
        let sum: f64 = weights.iter().sum();
        let expected: Vec<f64> = weights
            .iter()
            .map(|weight| weight / sum * DRAWS as f64)
            .collect();
        let excess = chi_square_excess(&counts, &expected);
        assert!(
            excess < MAX_EXCESS,
            "{name}, seed {seed}: excess {excess:.1}"
        );
    }
}

#[test]
fn norandommap_is_uniform() {
    for n in [2, 3, 100, 1000, 4096] {
        check("norandommap", &Distribution::Random, true, &vec![1.0; n]);
    }
}

#[test]
fn zipf_ranks_match_the_formula() {
    for theta in [0.5f64, 0.9, 1.2, 2.0, 3.0] {
        let weights: Vec<f64> = (1..=500).map(|rank| f64::from(rank).powf(-theta)).collect();
        let zipf = Distribution::Zipf {
            theta,
            center: None,
        };
        check(&format!("zipf:{theta}"), &zipf, false, &weights);
    }
}

#[test]
fn pareto_ranks_match_the_formula() {
    for power in [0.1f64, 0.2, 0.4] {
        // The slot is n × u^p, so the share of draws below rank r is (r / n)^(1 / p).
        let exponent = (1.0 - power).ln() / power.ln();
        let below = |rank: u32| (f64::from(rank) / 300.0).powf(exponent);
        let weights: Vec<f64> = (0..300).map(|rank| below(rank + 1) - below(rank)).collect();
        let pareto = Distribution::Pareto {
            power,
            center: Some(0.7),
        };
        check(&format!("pareto:{power}"), &pareto, false, &weights);
    }
}

#[test]
fn normal_is_truncated_at_both_ends() {
    const SLOTS: i32 = 200;
    const STEPS: i32 = 64;
    for deviation_percent in [5.0, 10.0, 50.0] {
        let density = |at: f64| (-0.5 * ((at - 100.0) / (2.0 * deviation_percent)).powi(2)).exp();
        // Uses the midpoint rule, whose error is far below the sampling error of a million draws.
        let weight = |slot: i32| {
            let midpoint = |step: i32| (f64::from(step) + 0.5) / f64::from(STEPS);
            (0..STEPS)
                .map(|step| density(f64::from(slot) + midpoint(step)))
                .sum()
        };
        let weights: Vec<f64> = (0..SLOTS).map(weight).collect();
        let normal = Distribution::Normal {
            deviation_percent,
            center: None,
        };
        check(
            &format!("normal:{deviation_percent}"),
            &normal,
            false,
            &weights,
        );
    }
}

#[test]
fn each_zone_is_uniform() {
    let zones = [(60, 10), (30, 20), (8, 30), (2, 40)].map(|(access_percent, size_percent)| Zone {
        access_percent,
        size_percent,
    });
    let mut weights = Vec::new();
    for zone in &zones {
        let weight = f64::from(zone.access_percent) / f64::from(zone.size_percent);
        weights.extend(vec![weight; 10 * usize::from(zone.size_percent)]);
    }
    let zoned = Distribution::Zoned {
        zones: zones.into(),
    };
    check("zoned", &zoned, false, &weights);
}

#[test]
fn absolute_zones_are_uniform_and_cover_only_their_bytes() {
    let zone = |access_percent, slots: u64| AbsoluteZone {
        access_percent,
        size: slots * ALIGN,
    };
    let zoned = Distribution::ZonedAbs {
        zones: vec![zone(60, 20), zone(30, 100), zone(10, 40)],
    };
    let mut weights = vec![3.0; 20];
    weights.extend([0.3; 100]);
    weights.extend([0.25; 40]);
    check("zoned_abs", &zoned, false, &weights);
    // The rest of a larger region is never accessed.
    let mut rng = Rng::seed_from_u64(1);
    let mut offsets = OffsetDistribution::new(&zoned, 1000, ALIGN, false, &mut rng);
    assert!((0..10_000).all(|_| offsets.next(&mut rng) < 160));
}

/// The blocks that fio's examples/sequence-distribution.fio lists for its two jobs.
#[test]
fn sequences_repeat_with_and_without_a_stride() {
    let slots = |is_strided, n| {
        let sequence = Distribution::Sequence {
            blocks: vec![2, 0, 1],
            is_strided,
        };
        let mut rng = Rng::seed_from_u64(1);
        let mut offsets = OffsetDistribution::new(&sequence, n, ALIGN, false, &mut rng);
        (0..9).map(|_| offsets.next(&mut rng)).collect::<Vec<_>>()
    };
    assert_eq!(slots(false, 12), [2, 0, 1, 2, 0, 1, 2, 0, 1]);
    assert_eq!(slots(true, 12), [2, 0, 1, 5, 3, 4, 8, 6, 7]);
    // The region ends within the second repetition.
    assert_eq!(slots(true, 5), [2, 0, 1, 2, 0, 1, 2, 0, 1]);
    assert_eq!(slots(true, 6), [2, 0, 1, 5, 3, 4, 2, 0, 1]);
}

#[test]
fn the_most_probable_block_is_at_the_center() {
    const N: usize = 1000;
    for (center, expected) in [(0.0, 0), (0.25, 250), (0.5, 500), (1.0, 999)] {
        let zipf = Distribution::Zipf {
            theta: 1.2,
            center: Some(center),
        };
        let pareto = Distribution::Pareto {
            power: 0.1,
            center: Some(center),
        };
        for distribution in [zipf, pareto] {
            let mut rng = Rng::seed_from_u64(7);
            let mut offsets =
                OffsetDistribution::new(&distribution, N as u64, ALIGN, false, &mut rng);
            let counts = counts(&mut offsets, N, &mut rng);
            let hottest = (0..N).max_by(|a, b| counts[*a].total_cmp(&counts[*b]));
            assert_eq!(hottest, Some(expected), "{distribution:?}");
        }
    }
    let normal = Distribution::Normal {
        deviation_percent: 5.0,
        center: Some(0.25),
    };
    let mut rng = Rng::seed_from_u64(7);
    let mut offsets = OffsetDistribution::new(&normal, N as u64, ALIGN, false, &mut rng);
    let counts = counts(&mut offsets, N, &mut rng);
    let slots = counts.iter().enumerate();
    let mean = slots.map(|(slot, count)| slot as f64 * count).sum::<f64>() / DRAWS as f64;
    assert!((mean - 250.0).abs() < 1.0, "{mean}");
}

#[test]
fn every_slot_is_equally_likely_at_every_position_in_a_pass() {
    const N: usize = 64;
    const PASSES: usize = DRAWS / N;
    for seed in 0..10 {
        let mut rng = Rng::seed_from_u64(seed);
        let mut offsets =
            OffsetDistribution::new(&Distribution::Random, N as u64, ALIGN, false, &mut rng);
        let mut counts = vec![0.0; N * N];
        for draw in 0..PASSES * N {
            counts[draw % N * N + offsets.next(&mut rng) as usize] += 1.0;
        }
        let expected = vec![(PASSES / N) as f64; N * N];
        let excess = chi_square_excess(&counts, &expected);
        assert!(excess < MAX_EXCESS, "seed {seed}: excess {excess:.1}");
    }
}

#[test]
fn a_pass_over_a_terabyte_has_no_repetitions() {
    let mut rng = Rng::seed_from_u64(5);
    let n = (1 << 40) / 4096 - 12_345;
    let mut offsets = OffsetDistribution::new(&Distribution::Random, n, ALIGN, false, &mut rng);
    let mut slots: Vec<u64> = (0..3_000_000).map(|_| offsets.next(&mut rng)).collect();
    slots.sort_unstable();
    assert!(slots.windows(2).all(|pair| pair[0] < pair[1]));
}
