//! Which slots random I/Os take, held against the law that they should follow: χ² of every slot or rank.

use crate::load::pattern::chooser::Chooser;
use crate::load::pattern::*;
use crate::load::theory::chi_square_excess;
use leadline_protocol::job::value::{Distribution, Zone};
use rand::SeedableRng;

const DRAWS: usize = 1_000_000;
/// As `chi_square_excess` says: one right generator in a million is further away.
const BOUND: f64 = 5.5;

type Rng = Xoshiro256PlusPlus;

/// How often each of `n` slots is taken.
fn counts(chooser: &mut Chooser, n: usize, rng: &mut Rng) -> Vec<f64> {
    let mut counts = vec![0.0; n];
    (0..DRAWS).for_each(|_| counts[chooser.next(rng) as usize] += 1.0);
    counts
}

/// Draws by this law are as frequent as `weights` say, by slot; for scattered ranks, by rank.
fn check(name: &str, distribution: &Distribution, repeats: bool, weights: &[f64]) {
    for seed in [1, 2, 3] {
        let mut rng = Rng::seed_from_u64(seed);
        let mut chooser = Chooser::new(distribution, weights.len() as u64, repeats, &mut rng);
        let slots = counts(&mut chooser, weights.len(), &mut rng);
        let counts = match &chooser {
            Chooser::Zipf(_, places) | Chooser::Pareto(_, _, places) => (0..slots.len() as u64)
                .map(|rank| slots[places.place(rank) as usize])
                .collect(),
            _ => slots,
        };
        let sum: f64 = weights.iter().sum();
        let expected: Vec<f64> = weights
            .iter()
            .map(|weight| weight / sum * DRAWS as f64)
            .collect();
        let excess = chi_square_excess(&counts, &expected);
        assert!(
            excess < BOUND,
            "{name}, seed {seed}: χ² is {excess:.1} deviations too large"
        );
    }
}

#[test]
fn slots_that_may_repeat_are_taken_alike() {
    for n in [2, 3, 100, 1000, 4096] {
        check("norandommap", &Distribution::Random, true, &vec![1.0; n]);
    }
}

#[test]
fn ranks_follow_zipfs_law() {
    for theta in [0.5f64, 0.9, 1.2, 2.0, 3.0] {
        let weights: Vec<f64> = (1..=500).map(|rank| f64::from(rank).powf(-theta)).collect();
        check(
            &format!("zipf:{theta}"),
            &Distribution::Zipf { theta },
            false,
            &weights,
        );
    }
}

#[test]
fn ranks_follow_paretos_law() {
    for power in [0.1f64, 0.2, 0.4] {
        // Slot n × u^p: a share (r / n)^(1 / p) of the draws lies below rank r.
        let exponent = (1.0 - power).ln() / power.ln();
        let below = |rank: u32| (f64::from(rank) / 300.0).powf(exponent);
        let weights: Vec<f64> = (0..300).map(|rank| below(rank + 1) - below(rank)).collect();
        check(
            &format!("pareto:{power}"),
            &Distribution::Pareto { power },
            false,
            &weights,
        );
    }
}

#[test]
fn slots_follow_a_bell_that_is_cut_at_both_ends() {
    for deviation_percent in [5.0, 10.0, 50.0] {
        let (slots, steps) = (200, 64);
        let density = |at: f64| (-0.5 * ((at - 100.0) / (2.0 * deviation_percent)).powi(2)).exp();
        // Midpoints: their error is far below that of a million draws.
        let weight = |slot: i32| {
            (0..steps)
                .map(|step| density(f64::from(slot) + (f64::from(step) + 0.5) / 64.0))
                .sum()
        };
        let weights: Vec<f64> = (0..slots).map(weight).collect();
        check(
            &format!("normal:{deviation_percent}"),
            &Distribution::Normal { deviation_percent },
            false,
            &weights,
        );
    }
}

#[test]
fn slots_of_a_zone_are_taken_alike() {
    let zones: [(u8, u8); 4] = [(60, 10), (30, 20), (8, 30), (2, 40)];
    let weights: Vec<f64> = zones
        .iter()
        .flat_map(|(access, size)| {
            vec![f64::from(*access) / f64::from(*size); 10 * usize::from(*size)]
        })
        .collect();
    let zone = |(access_percent, size_percent)| Zone {
        access_percent,
        size_percent,
    };
    check(
        "zoned",
        &Distribution::Zoned {
            zones: zones.map(zone).into(),
        },
        false,
        &weights,
    );
}

#[test]
fn every_slot_comes_at_every_turn_of_a_pass() {
    const N: usize = 64;
    for seed in 0..10 {
        let mut rng = Rng::seed_from_u64(seed);
        let mut chooser = Chooser::new(&Distribution::Random, N as u64, false, &mut rng);
        let mut seen = vec![0.0; N * N];
        for draw in 0..DRAWS / N * N {
            seen[draw % N * N + chooser.next(&mut rng) as usize] += 1.0;
        }
        let excess = chi_square_excess(&seen, &vec![(DRAWS / N * N / (N * N)) as f64; N * N]);
        assert!(
            excess < BOUND,
            "seed {seed}: χ² is {excess:.1} deviations too large"
        );
    }
}

#[test]
fn a_pass_over_a_terabyte_repeats_nothing() {
    let mut rng = Rng::seed_from_u64(5);
    let mut chooser = Chooser::new(
        &Distribution::Random,
        (1 << 40) / 4096 - 12_345,
        false,
        &mut rng,
    );
    let mut slots: Vec<u64> = (0..3_000_000).map(|_| chooser.next(&mut rng)).collect();
    slots.sort_unstable();
    assert!(slots.windows(2).all(|pair| pair[0] < pair[1]));
}
