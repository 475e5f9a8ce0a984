//! Tests which I/Os are looked up.

use crate::load::layer_sampler::tests::*;

/// A run with a clock that advances only for I/Os and lookups.
struct Run {
    ios: u64,
    io_ns: fn(u64) -> u64,
    lookup_ns: u64,
}

/// An I/O that was looked up, and its weight.
type Sample = (u64, u64);

impl Run {
    /// The samples, and the share of time spent on lookups.
    fn samples(&self, seed: u64) -> (Vec<Sample>, f64) {
        let mut interval = Interval::new(seed);
        interval.begin(0);
        let mut samples = Vec::new();
        let mut now_ns = 0;
        let mut next = 0;
        for io in 0..self.ios {
            if io == next {
                samples.push((io, interval.length()));
                let end_ns = now_ns + self.lookup_ns;
                next += 1 + interval.next(now_ns, end_ns) as u64;
                now_ns = end_ns;
            }
            now_ns += (self.io_ns)(io);
        }
        let lookups_ns = samples.len() as u64 * self.lookup_ns;
        (samples, lookups_ns as f64 / now_ns as f64)
    }

    /// Checks, across many seeds, that the mean estimate of how many I/Os have a property equals
    /// the actual number.
    fn assert_unbiased(&self, name: &str, has_property: impl Fn(u64) -> bool) {
        const SEEDS: u64 = 400;
        let truth = (0..self.ios).filter(|io| has_property(*io)).count() as f64;
        let estimate = |seed| {
            let samples = self.samples(seed).0;
            let found = samples.iter().filter(|(io, _)| has_property(*io));
            found.map(|(_, weight)| *weight as f64).sum::<f64>()
        };
        let estimates: Vec<f64> = (0..SEEDS).map(estimate).collect();
        let mean = estimates.iter().sum::<f64>() / SEEDS as f64;
        let squares = estimates.iter().map(|found| (found - mean).powi(2));
        let error = (squares.sum::<f64>() / (SEEDS - 1) as f64 / SEEDS as f64).sqrt();
        assert!(
            (mean - truth).abs() <= 4.5 * error + 1e-6,
            "{name}: {mean} ±{error}, not {truth}"
        );
    }
}

/// I/Os of 1 µs each.
const FAST: Run = Run {
    ios: 100_000,
    io_ns: |_| 1000,
    lookup_ns: 2000,
};

/// The I/Os in the middle are slower, so the groups get shorter and then longer again.
const CHANGING: Run = Run {
    ios: 60_000,
    io_ns: |io| {
        if (20_000..40_000).contains(&io) {
            50_000
        } else {
            500
        }
    },
    lookup_ns: 2000,
};

#[test]
fn samples_are_unbiased() {
    for (name, run) in [("constant", FAST), ("changing", CHANGING)] {
        run.assert_unbiased(name, |_| true);
        run.assert_unbiased(name, |io| io.is_multiple_of(2));
        run.assert_unbiased(name, |io| io.is_multiple_of(400));
        run.assert_unbiased(name, |io| io % 256 < 3);
        run.assert_unbiased(name, |io| io >= run.ios * 9 / 10);
    }
    CHANGING.assert_unbiased("the slow part", |io| (20_000..40_000).contains(&io));
}

#[test]
fn group_lengths_adapt_to_the_speed() {
    let samples = CHANGING.samples(3).0;
    let longest = |range: std::ops::Range<u64>| {
        let of_range = samples.iter().filter(|(io, _)| range.contains(io));
        of_range.map(|(_, weight)| *weight).max().unwrap()
    };
    let slow = longest(38_000..40_000);
    assert!(slow <= 16, "{slow}");
    assert!(longest(55_000..60_000) > 4 * slow);
}

#[test]
fn lookups_stay_within_their_time_budget() {
    let long = Run {
        ios: 2_000_000,
        ..FAST
    };
    // Lookups take 0.5 % of the time, plus 1 ms at the start of the 2-second run.
    let share = long.samples(1).1;
    assert!((0.002..0.008).contains(&share), "{share}");
}

#[test]
fn all_ios_are_looked_up_at_first() {
    let samples = FAST.samples(9).0;
    let all = samples
        .iter()
        .zip(0..)
        .take_while(|(sample, io)| **sample == (*io, 1))
        .count();
    // Every I/O is looked up until lookups have taken 1 ms.
    assert!((400..=600).contains(&all), "{all}");
}

#[test]
fn all_slow_ios_are_looked_up() {
    let slow = Run {
        ios: 5000,
        io_ns: |_| 1_000_000,
        lookup_ns: 3000,
    };
    let all: Vec<Sample> = (0..5000).map(|io| (io, 1)).collect();
    assert_eq!(slow.samples(1).0, all);
}

#[test]
fn no_lookup_dominates_a_short_run() {
    for seed in 0..20 {
        for (io, weight) in FAST.samples(seed).0 {
            assert!(weight <= (io / 256).max(1), "I/O {io}: {weight}");
        }
    }
}
