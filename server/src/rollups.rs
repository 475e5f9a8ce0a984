//! Aggregates of the samples of a run, so that series of long runs do not read every sample. Pure.

pub(crate) mod aggregate;
pub(crate) mod builder;
pub(crate) mod chunk;
pub(crate) mod columns;

/// Lengths of rollups in sampling intervals: 2 s and 20 s by default. With 600 points, a series of
/// one hour reads 1,800 rollups, and one of a day 4,320.
pub(crate) const LEVELS: [u32; 2] = [20, 200];
