//! Verdicts: where the I/O went. The rules are in the runner's `analysis::verdict`.

use crate::named_enum::named_enum;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// Verdicts by direction; null for a direction without I/O.
#[derive(Clone, Debug, Default, Deserialize, Serialize, ToSchema)]
pub struct Verdicts {
    pub read: Option<Verdict>,
    pub write: Option<Verdict>,
}

impl Verdicts {
    /// Whether all shares are between 0 and 1 and add up to at most 1, apart from rounding.
    pub fn has_valid_shares(&self) -> bool {
        let verdicts = self.read.iter().chain(&self.write);
        let mut shares = verdicts.flat_map(|verdict| [&verdict.shares, &verdict.byte_shares]);
        shares.all(|shares| {
            let is_share = |share: &f64| (0.0..=MAX_SHARE).contains(share);
            shares.values().all(is_share) && is_share(&shares.values().sum())
        })
    }
}

/// Maximum sum of the shares: 1, plus rounding errors.
const MAX_SHARE: f64 = 1.001;

/// Verdict for one direction.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Verdict {
    pub class: VerdictClass,
    pub sentence: String,
    /// Shares of the I/Os by the layer that served them ([`StorageLayer`]). They add up to 1. Empty
    /// if unknown. Runs recorded before I/Os were sampled have shares of the bytes instead,
    /// including `filesystem` and `no_device`.
    pub shares: BTreeMap<String, f64>,
    /// Shares of the bytes; absent if unknown, and in runs recorded before I/Os were sampled.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub byte_shares: BTreeMap<String, f64>,
    /// Other effects on the I/Os on the way to the device; absent if there were none. A modifier
    /// never changes a share.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modifiers: Vec<Modifier>,
    /// Error bound of each I/O share (0-1).
    #[serde(default)]
    #[schema(required = true)]
    pub uncertainty: f64,
    /// First change from device to memory, in ms since the start of the run; null if there was
    /// none.
    #[serde(default)]
    pub transition_ms: Option<f64>,
    /// Numbers that support the verdict.
    pub evidence: BTreeMap<String, u64>,
    /// The same numbers at the start and end, with commands to verify them.
    #[serde(default)]
    #[schema(required = true)]
    pub proof: Vec<Proof>,
}

/// An effect on the I/Os on the way to the device.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Modifier {
    pub kind: ModifierKind,
    /// Size of the effect; see [`ModifierKind`]. Null if there is no ratio.
    pub factor: Option<f64>,
    /// Number of bytes affected; null if they are not counted.
    pub bytes: Option<u64>,
}

named_enum! {
    names: "snake_case";
    pub enum ModifierKind {
        /// The kernel read ahead: `factor` reads of the run per device I/O.
        Readahead,
        /// Adjacent I/Os were merged: `factor` I/Os of the run per device I/O.
        Merged,
        /// I/Os were split: `factor` device I/Os per I/O of the run.
        Split,
        /// Metadata, journaling, read-modify-write or unused readahead: `factor` bytes transferred
        /// per byte of the run.
        Amplified,
        /// `bytes` were still only in memory at the end.
        Deferred,
        /// Other programs transferred `bytes` on the same device.
        Foreign,
    }
}

/// A number that supports a verdict, with a command to check it independently.
#[derive(Clone, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct Proof {
    /// Layer of the counter.
    pub layer: Layer,
    /// For example, `reads completed by vda`.
    pub name: String,
    /// `I/Os` or `bytes`.
    pub unit: String,
    /// Value at the start of the measured window; null if only the difference is known.
    pub before: Option<u64>,
    /// Value at the end of the measured window; null if only the difference is known.
    pub after: Option<u64>,
    pub difference: i64,
    /// Shell command to run before and after; null if only the runner counts the value.
    pub command: Option<String>,
}

named_enum! {
    names: "snake_case";
    /// What served an I/O, from top to bottom. Each I/O is attributed to the lowest layer that it
    /// needed.
    pub enum StorageLayer {
        /// Memory of this host: the target's page cache, or a filesystem in memory.
        PageCache,
        /// Memory below a block device: the page cache of a loop device's backing file, zram, or a
        /// RAM disk.
        LowerCache,
        /// No storage: zeros from holes and unwritten extents.
        Unwritten,
        Device,
        /// The layer could not be determined.
        Unknown,
    }
}

impl StorageLayer {
    pub const COUNT: usize = Self::TOP_DOWN.len();
    pub const TOP_DOWN: [Self; 5] = [
        Self::PageCache,
        Self::LowerCache,
        Self::Unwritten,
        Self::Device,
        Self::Unknown,
    ];
}

/// I/O layers, from top to bottom.
#[derive(Clone, Copy, Debug, Deserialize, Eq, Ord, PartialEq, PartialOrd, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// I/Os issued by the job.
    Application,
    PageCache,
    /// Filesystem and block layer.
    Filesystem,
    Device,
}

named_enum! {
    names: "snake_case";
    pub enum VerdictClass {
        Device,
        /// Only in old runs; now a modifier of `device`, like `merged`, `amplified` and `foreign`.
        Readahead,
        PageCache,
        /// Served from memory below a block device.
        LowerCache,
        /// Writes stayed in memory and did not reach the device.
        DeferredWrite,
        /// Served by the device with fewer I/Os, because adjacent I/Os were merged.
        Merged,
        /// Extents without data.
        Unwritten,
        /// The device transferred more than was issued.
        Amplified,
        /// Device, with concurrent foreign I/O.
        Foreign,
        /// More than one source.
        Mixed,
        /// No I/O to a device.
        NoDevice,
        /// Insufficient data.
        Unknown,
    }
}
