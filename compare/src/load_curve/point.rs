//! Classifies a run at one rate.

use leadline_protocol::{
    report::arrivals::{Growth, growth},
    study::load_curve::PointClass,
};

/// Minimum share of the arrivals that complete at a sustained rate.
const MIN_RATIO: f64 = 0.98;
/// If I/Os are due, but the runner keeps a smaller share of its queue depth in flight, the runner
/// itself is the bottleneck.
const MIN_DEPTH_SHARE: f64 = 0.9;
/// If the runner is the bottleneck, an I/O spends more than this share of its latency (from the
/// intended start) waiting to be submitted. With a slow device, I/Os wait in the device until the
/// queue depth is full.
const MIN_WAIT_SHARE: f64 = 0.5;

/// A run at one rate.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Point {
    /// One-based step of the study.
    pub step: u32,
    /// Nominal arrivals per second.
    pub offered: f64,
    pub is_missing: bool,
    pub is_disturbed: bool,
    /// Length of the measured window in seconds; 0 if unknown.
    pub seconds: f64,
    /// Arrivals in the measured window.
    pub due: u64,
    pub completed: u64,
    /// Whether the run ended early, because its backlog grew without bound.
    pub is_cut_short: bool,
    /// Backlog: number of I/Os that were due but not complete, at the start of the window and after
    /// each quarter.
    pub backlog: Vec<u64>,
    /// Mean number of I/Os in flight and queue depth, both per worker.
    pub in_flight: Option<(f64, f64)>,
    /// Mean latencies from the submission and from the intended start, in ns.
    pub latencies: Option<(f64, f64)>,
    pub p99_ms: Option<f64>,
}

impl Point {
    /// Classifies the run by the backlog's growth, which is the number of arrivals minus the number
    /// of completed I/Os. The nominal rate is not used, because the number of arrivals is random.
    /// Growth of up to 2 % of the arrivals is tolerated, and up to two standard deviations are
    /// noise.
    pub(crate) fn class(&self) -> PointClass {
        if self.is_missing {
            return PointClass::Missing;
        }
        if self.is_disturbed {
            return PointClass::Disturbed;
        }
        let Some((growth, shape)) = growth(self.due, &self.backlog) else {
            return PointClass::Inconsistent;
        };
        let signed = u64::cast_signed;
        if self.due == 0 || signed(self.completed) != signed(self.due) - growth {
            return PointClass::Inconsistent;
        }
        match shape {
            _ if self.is_cut_short => PointClass::Overloaded,
            Growth::Continuous => PointClass::Overloaded,
            Growth::Other => PointClass::Disturbed,
            Growth::Insignificant if 1.0 - growth as f64 / self.due as f64 >= MIN_RATIO => {
                PointClass::Sustained
            }
            Growth::Insignificant => PointClass::Uncertain,
        }
    }

    /// Whether the runner, not the storage, was overloaded: it submitted I/Os late, although it did
    /// not use its full queue depth.
    pub(crate) fn is_limited_by_generator(&self) -> bool {
        let has_room = self
            .in_flight
            .is_some_and(|(mean, depth)| mean < MIN_DEPTH_SHARE * depth);
        let is_late = self
            .latencies
            .is_none_or(|(submitted, intended)| intended - submitted > MIN_WAIT_SHARE * intended);
        has_room && is_late
    }

    /// The rate that the storage sustained: at most the nominal rate, and less if fewer Poisson
    /// arrivals were due.
    pub(crate) fn sustained_rate(&self) -> f64 {
        self.per_second(self.completed)
            .map_or(self.offered, |rate| rate.min(self.offered))
    }

    /// The rate that the storage did not sustain: at least the nominal rate, and more if more
    /// Poisson arrivals were due.
    pub(crate) fn overloading_rate(&self) -> f64 {
        self.per_second(self.due)
            .map_or(self.offered, |rate| rate.max(self.offered))
    }

    fn per_second(&self, count: u64) -> Option<f64> {
        (self.seconds > 0.0).then(|| count as f64 / self.seconds)
    }
}
