//! Aggregates a run's samples. The series of long runs are read from these aggregates instead of
//! every sample. Pure.

pub(crate) mod aggregate;
pub(crate) mod builder;
pub(crate) mod chunk;
pub(crate) mod columns;

/// Rollup lengths in sampling intervals: 2 s and 20 s by default. With 600 points, a one-hour
/// series reads 1,800 rollups, and a one-day series reads 4,320.
pub(crate) const LEVELS: [u32; 2] = [20, 200];
