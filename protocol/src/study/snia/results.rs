//! Results of a test: its rounds, the measurement window, and the deviations from the
//! specification.

use crate::{named_enum::named_enum, study::snia::SniaTestName};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SniaResults {
    pub test: SniaTestName,
    /// Does not claim compliance with the specification.
    pub label: String,
    pub state: SniaState,
    /// The state, in one sentence.
    pub sentence: String,
    /// Null if the window is not steady, or if memory served its I/Os.
    pub badge: Option<String>,
    /// Rounds of the measurement window, or of the last five rounds if there is none.
    pub window: Option<RoundRange>,
    pub rounds: Vec<SniaRound>,
    /// The variables that determine whether the state is steady.
    pub tracking: Vec<TrackingVariable>,
    /// Means of the rounds in `window`, in the order of the test.
    pub cells: Vec<SniaCell>,
    /// Differences from the specification.
    pub deviations: Vec<Deviation>,
}

named_enum! {
    names: "snake_case";
    /// State of a test.
    pub enum SniaState {
        /// Purge and preconditioning.
        Preparing,
        Running,
        /// The measurement window is steady.
        Steady,
        /// The maximum number of rounds was reached without a steady window.
        NotReached,
        /// The test ended early.
        Incomplete,
        /// A write saturation test, which has no rounds, is complete.
        Complete,
    }
}

/// One-based, inclusive.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct RoundRange {
    pub first: u32,
    pub last: u32,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SniaRound {
    /// One-based.
    pub round: u32,
    /// Why neither this round nor any earlier round is part of a window; null if nothing
    /// interrupted it.
    pub interruption: Option<String>,
    /// One per cell, in the order of the test; null if it has no result.
    pub values: Vec<Option<CellValue>>,
}

/// Result of a cell in one round.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct CellValue {
    /// Reads and writes.
    pub iops: f64,
    pub bytes_per_second: f64,
    pub lat_mean_ns: Option<f64>,
    /// 99.999th percentile ("five nines"); null with fewer than 1,000,000 I/Os.
    pub lat_p99999_ns: Option<f64>,
    pub lat_max_ns: Option<f64>,
    pub ios: u64,
}

/// A cell: a mix and a block size.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SniaCell {
    /// Percentage of reads.
    pub mix: u8,
    /// In bytes.
    pub block: u64,
    /// Means of the round values, and the largest maximum; null if there is no window.
    pub value: Option<CellValue>,
}

/// A variable that determines whether the state is steady.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct TrackingVariable {
    /// For example, `RW0 4k IOPS`.
    pub name: String,
    /// By round; null if the round has no value.
    pub values: Vec<Option<f64>>,
    /// Null until five consecutive rounds have a value.
    pub window: Option<SteadyStateData>,
}

/// Steady state determination data.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SteadyStateData {
    pub average: f64,
    /// Largest value − smallest value.
    pub excursion: f64,
    /// 20 % of the average.
    pub allowed_excursion: f64,
    /// Slope of the least-squares line, per round.
    pub slope: f64,
    /// Intercept of the least-squares line `slope * round + intercept`, with one-based rounds.
    pub intercept: f64,
    /// Range of that line within the window.
    pub slope_excursion: f64,
    /// 10 % of the average.
    pub allowed_slope_excursion: f64,
    pub is_steady: bool,
}

/// A difference from the specification.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Deviation {
    /// Stable identifier, such as `no_purge`.
    pub code: String,
    pub sentence: String,
}
