//! Rows of sample events.

use crate::rollups::chunk::TimedSample;
use anyhow::Result;

/// Position of a sample in its run. Positions are ordered by time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SamplePosition {
    /// End of the sample's window, relative to the start of the run.
    pub t_ms: f64,
    pub seq: u64,
}

/// Parses rows of `seq`, `t_ms` and `line`.
pub(super) fn parse(rows: &[(i64, f64, String)]) -> Result<Vec<TimedSample>> {
    let parse = |(_, t_ms, line): &(i64, f64, String)| Ok((*t_ms, serde_json::from_str(line)?));
    rows.iter().map(parse).collect()
}
