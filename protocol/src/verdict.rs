//! Words of what follows from a report: where the I/O went, how to check it, and what a reader must know. The rules
//! stand in the room `verdict`.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Where the I/O went; null for a direction in which nothing was done.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
pub struct Verdicts {
    /// Of the reads.
    pub read: Option<Verdict>,
    /// Of the writes.
    pub write: Option<Verdict>,
}

/// Where the I/O of one direction went.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Verdict {
    /// The one word for it.
    pub class: VerdictClass,
    /// One plain sentence.
    pub sentence: String,
    /// Share of the issued bytes by where they were answered, from 0 to 1; together 1. `device`, `page_cache`, `unwritten`
    /// (the filesystem made zeros of extents without data), `filesystem` (it answered otherwise: compressed, inline) and
    /// `no_device`. Empty when unknown.
    pub shares: BTreeMap<String, f64>,
    /// How far each share may be off, from 0 to 1: I/Os in flight at the borders of the window, and bytes of the device that
    /// may be anybody's.
    #[serde(default)]
    #[schema(required = true)]
    pub uncertainty: f64,
    /// When a direction that began on the device went over to memory, in ms since the run began; null where it did not.
    #[serde(default)]
    pub transition_ms: Option<f64>,
    /// The numbers behind it.
    pub evidence: BTreeMap<String, u64>,
    /// The same numbers before and after, each with the command that shows it.
    #[serde(default)]
    #[schema(required = true)]
    pub proof: Vec<Proof>,
}

/// One number behind a verdict, and how to read it without us.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Proof {
    /// The layer that counted it.
    pub layer: Layer,
    /// What was counted, such as `reads completed by vda`.
    pub name: String,
    /// Unit of the three numbers: `I/Os` or `bytes`.
    pub unit: String,
    /// At the beginning of the measured window; null where only the difference is known.
    pub before: Option<u64>,
    /// At its end; null likewise.
    pub after: Option<u64>,
    /// What came on top in the window.
    pub difference: i64,
    /// The shell command that shows it, to be called before and after; null where only the runner counts it.
    pub command: Option<String>,
}

/// The layers that an I/O falls through, from top to bottom.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// The job: what it issued.
    Application,
    /// The kernel's copy of files and devices in memory.
    PageCache,
    /// The filesystem and the block layer: what went past the page cache.
    Filesystem,
    /// The device.
    Device,
}

/// Where the I/O of one direction went, in one word.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerdictClass {
    /// The device answered.
    Device,
    /// The device answered in few large I/Os, ahead of the job.
    Readahead,
    /// The page cache answered.
    PageCache,
    /// Writes were accepted into memory and had not reached the device.
    DeferredWrite,
    /// The device answered all bytes in fewer I/Os than were issued: neighbours were merged on the way.
    Merged,
    /// The filesystem answered from extents that hold no data.
    Unwritten,
    /// The device did more than was asked.
    Amplified,
    /// The device answered, and somebody else's I/O kept it busy beside.
    Foreign,
    /// Parts went to different places.
    Mixed,
    /// No I/O was asked of any device.
    NoDevice,
    /// Too little is known.
    Unknown,
}
