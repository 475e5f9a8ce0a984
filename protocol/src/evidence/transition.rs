//! Changes in the layer that serves a direction.

use crate::plan::job::ResolvedJob;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

#[derive(
    Clone, Copy, Debug, Deserialize, Eq, Hash, Ord, PartialEq, PartialOrd, Serialize, ToSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    Read,
    Write,
}

impl Direction {
    /// `reads` or `writes`.
    pub fn noun(self) -> &'static str {
        self.select("reads", "writes")
    }

    pub fn select<T>(self, read: T, write: T) -> T {
        match self {
            Self::Read => read,
            Self::Write => write,
        }
    }

    pub fn is_used_by(self, job: &ResolvedJob) -> bool {
        self.select(job.reads(), job.pattern.rw.writes())
    }
}

/// What served the I/Os, derived from the samples.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServedBy {
    /// The device served at least 50 % of the I/Os.
    Device,
    /// The device served at most 5 % of the I/Os.
    Memory,
}

/// A change between device and memory in one direction.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Transition {
    /// Start of the first sample after the change, in milliseconds since the start of the run.
    pub t_ms: f64,
    pub direction: Direction,
    pub from: ServedBy,
    pub to: ServedBy,
}
