//! Compares the statistics of known latency distributions with those from an exact sort, for
//! different assignments of latencies to workers.

use crate::{load::histogram::Histogram, run::direction_stats::latency};
use leadline_protocol::{
    histogram::ERROR,
    report::stats::{LatencyStats, PERCENTILES},
};
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus, seq::SliceRandom};
use rand_distr::{Exp, LogNormal, Normal, Pareto, Weibull};

const DRAWS: usize = 20_000;
const US: f64 = 1e3;
const MS: f64 = 1e6;
const MINUTE: f64 = 60e9;

type Rng = Xoshiro256PlusPlus;
/// A name, and a function that returns the nth latency in ns.
type Distribution = (&'static str, fn(&mut Rng, usize) -> f64);

const DISTRIBUTIONS: &[Distribution] = &[
    ("only zeros", |_, _| 0.0),
    ("one nanosecond", |_, _| 1.0),
    ("the last linear bucket", |_, _| 127.0),
    ("the first wide bucket", |_, _| 128.0),
    ("a constant", |_, _| 83.0 * US),
    ("uniform, linear buckets", |rng, _| {
        rng.random_range(0.0..128.0)
    }),
    ("uniform up to 1 µs", |rng, _| rng.random_range(0.0..US)),
    ("uniform up to 1 s", |rng, _| rng.random_range(0.0..1e9)),
    ("exponential, 10 µs", |rng, _| {
        rng.sample(Exp::new(1.0 / (10.0 * US)).unwrap())
    }),
    ("exponential, 100 ms", |rng, _| {
        rng.sample(Exp::new(1.0 / (100.0 * MS)).unwrap())
    }),
    ("normal, 1 ms", |rng, _| {
        rng.sample(Normal::new(MS, 50.0 * US).unwrap())
    }),
    ("lognormal, narrow", |rng, _| {
        rng.sample(LogNormal::new(10.0, 0.5).unwrap())
    }),
    ("lognormal, wide", |rng, _| {
        rng.sample(LogNormal::new(10.0, 2.0).unwrap())
    }),
    ("pareto, heavy tail", |rng, _| {
        rng.sample(Pareto::new(US, 1.1).unwrap()).min(17.0 * MINUTE)
    }),
    ("weibull, heavy tail", |rng, _| {
        rng.sample(Weibull::new(20.0 * US, 0.5).unwrap())
    }),
    ("cache and disk", |rng, _| {
        if rng.random_bool(0.99) { US } else { 8.0 * MS }
    }),
    ("flash with garbage collection", |rng, n| {
        if n % 1000 < 5 {
            20.0 * MS
        } else {
            rng.random_range(60.0..90.0) * US
        }
    }),
    ("powers of two", |_, n| (1u64 << (n % 39)) as f64),
    ("just below powers of two", |_, n| {
        ((1u64 << (n % 39)) - 1) as f64
    }),
    ("one outlier of 17 minutes", |_, n| {
        if n == 7 { 17.0 * MINUTE } else { US }
    }),
    ("log-uniform up to 18 minutes", |rng, _| {
        rng.random_range(0.0f64..40.0).exp2().min(18.0 * MINUTE)
    }),
    ("ascending", |_, n| n as f64 * 17.0),
];

fn draws(distribution: &Distribution) -> Vec<u64> {
    let mut rng = Rng::seed_from_u64(7);
    (0..DRAWS)
        .map(|n| (distribution.1)(&mut rng, n).round() as u64)
        .collect()
}

/// Records latencies in one histogram per worker, and merges the histograms in the given order.
fn merged_histograms(
    latencies: &[u64],
    order: &[usize],
    worker_of: impl Fn(usize) -> usize,
) -> LatencyStats {
    let workers: Vec<Histogram> = order.iter().map(|_| Histogram::default()).collect();
    for (n, ns) in latencies.iter().enumerate() {
        workers[worker_of(n)].record(*ns, 1);
    }
    latency(order.iter().map(|worker| &workers[*worker]), 0, &[])
}

fn check(name: &str, mut exact: Vec<u64>) {
    let lat = merged_histograms(&exact, &[0], |_| 0);
    exact.sort_unstable();
    let n = exact.len() as f64;
    assert_eq!(lat.count, exact.len() as u64, "{name}");
    assert_eq!(lat.min, exact.first().copied(), "{name}");
    assert_eq!(lat.max, exact.last().copied(), "{name}");
    let mean = exact.iter().map(|ns| u128::from(*ns)).sum::<u128>() as f64 / n;
    assert_eq!(lat.mean, Some(mean), "{name}");
    for percentile in PERCENTILES {
        let percent_10_000 = (percentile * 1e4).round() as usize;
        let rank = (percent_10_000 * exact.len()).div_ceil(1_000_000).max(1);
        let expected = exact[rank - 1] as f64;
        let actual = lat.percentiles[&percentile.to_string()] as f64;
        assert!(
            (actual - expected).abs() <= expected * ERROR,
            "{name}, p{percentile}: {actual}, expected {expected}"
        );
    }
    let root_mean = |f: &dyn Fn(f64) -> f64| {
        let sum: f64 = exact.iter().map(|ns| f(*ns as f64)).sum();
        (sum / n).sqrt()
    };
    let deviation = root_mean(&|ns| (ns - mean).powi(2));
    let magnitude = root_mean(&|ns| ns * ns);
    let stddev = lat.stddev.unwrap();
    assert!(
        (stddev - deviation).abs() <= magnitude * ERROR + 1e-6,
        "{name}: {stddev}, expected {deviation}"
    );
}

#[test]
fn percentiles_match_an_exact_sort() {
    assert!(DISTRIBUTIONS.len() >= 20);
    for distribution in DISTRIBUTIONS {
        check(distribution.0, draws(distribution));
    }
}

#[test]
fn assignment_to_workers_does_not_matter() {
    const WORKERS: usize = 7;
    let mut rng = Rng::seed_from_u64(1);
    let mut order: Vec<usize> = (0..WORKERS).collect();
    for distribution in DISTRIBUTIONS {
        let name = distribution.0;
        let latencies = draws(distribution);
        let one = merged_histograms(&latencies, &[0], |_| 0);
        for _ in 0..3 {
            order.shuffle(&mut rng);
            let alternating = merged_histograms(&latencies, &order, |n| n % WORKERS);
            assert_eq!(alternating, one, "{name}: alternating");
            let blocks = merged_histograms(&latencies, &order, |n| n * WORKERS / DRAWS);
            assert_eq!(blocks, one, "{name}: in blocks");
            let skewed = merged_histograms(&latencies, &order, |n| usize::from(n == 0));
            assert_eq!(skewed, one, "{name}: nearly all on one worker");
        }
    }
}
