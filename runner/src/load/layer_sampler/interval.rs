//! Chooses which I/Os to look up.

use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

/// Maximum share of time spent on lookups.
const BUDGET: f64 = 0.005;
/// At the start of a phase, every I/O is looked up until lookups have taken this long, in ns.
const INITIAL_NS: f64 = 1e6;
/// Weight of the latest lookup in the moving averages.
const SMOOTHING: f64 = 1.0 / 32.0;
/// A group contains at most 1/256 of the I/Os so far, so no group dominates the estimate in a short
/// run.
const GROUP_DIVISOR: u64 = 256;

/// Chooses one random I/O from each group of consecutive I/Os.
pub(super) struct Interval {
    rng: Xoshiro256PlusPlus,
    /// Number of I/Os in the current group.
    length: u64,
    /// Number of I/Os in the current group after the chosen one.
    rest: u64,
    initial_ns: f64,
    /// Time of the last lookup, and number of I/Os since then.
    last_ns: u64,
    skipped: u64,
    /// Number of I/Os in this phase.
    seen: u64,
    /// Smoothed times per lookup and per I/O, in ns.
    lookup_ns: f64,
    io_ns: f64,
}

impl Interval {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            rng: Xoshiro256PlusPlus::seed_from_u64(seed),
            length: 1,
            rest: 0,
            initial_ns: INITIAL_NS,
            last_ns: 0,
            skipped: 1,
            seen: 0,
            lookup_ns: 0.0,
            io_ns: 0.0,
        }
    }

    /// Starts a phase.
    pub(super) fn begin(&mut self, now_ns: u64) {
        self.initial_ns = INITIAL_NS;
        self.last_ns = now_ns;
        self.length = 1;
        self.rest = 0;
        self.skipped = 1;
        self.seen = 0;
    }

    pub(super) fn length(&self) -> u64 {
        self.length
    }

    /// Chooses the next I/O after a lookup, and returns how many I/Os to skip.
    pub(super) fn next(&mut self, begin_ns: u64, end_ns: u64) -> usize {
        let lookup_ns = end_ns.saturating_sub(begin_ns) as f64;
        let io_ns = begin_ns.saturating_sub(self.last_ns) as f64 / self.skipped as f64;
        smooth(&mut self.lookup_ns, lookup_ns);
        smooth(&mut self.io_ns, io_ns);
        self.initial_ns -= lookup_ns;
        self.last_ns = end_ns;
        self.seen += self.skipped;
        let rest = self.rest;
        self.length = if self.initial_ns > 0.0 {
            1
        } else {
            let wanted = self.lookup_ns / (BUDGET * self.io_ns.max(1.0));
            (wanted.ceil() as u64).min(self.seen / GROUP_DIVISOR).max(1)
        };
        let chosen = self.rng.random_range(0..self.length);
        self.rest = self.length - 1 - chosen;
        self.skipped = rest + chosen + 1;
        (rest + chosen) as usize
    }
}

fn smooth(average: &mut f64, value: f64) {
    *average += SMOOTHING * (value - *average);
}
