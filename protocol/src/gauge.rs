//! The depth gauge: how much of the issued I/O crossed each layer boundary. The runner computes it
//! (`analysis::gauge`); the terminal report and the web UI display it. `docs/measurement.md`
//! defines every number.

use crate::verdict::Layer;
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, ops::Add};
use utoipa::ToSchema;

/// I/Os and bytes that crossed a layer boundary.
#[derive(Clone, Copy, Debug, Default, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct LayerFlow {
    pub ios: u64,
    pub bytes: u64,
}

impl LayerFlow {
    pub fn new(ios: u64, bytes: u64) -> Self {
        Self { ios, bytes }
    }
}

impl Add for LayerFlow {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self::new(
            self.ios.saturating_add(other.ios),
            self.bytes.saturating_add(other.bytes),
        )
    }
}

/// The gauge for one direction, or for all directions combined.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Gauge {
    pub issued: LayerFlow,
    /// I/O that went below the page cache; null if device I/O was not counted.
    pub past_cache: Option<LayerFlow>,
    /// I/O that reached the physical devices, excluding foreign I/O; null if it was not counted.
    pub reached: Option<LayerFlow>,
    /// Whether this is direct I/O of which at most 2 % was served from memory.
    pub bypassed: bool,
    /// Device I/O that is not attributed to this run; null if negligible or unknown.
    pub foreign: Option<ForeignIo>,
    /// The layer that served the most I/Os; null if unknown.
    pub served_by: Option<Layer>,
    /// Why `served_by` is null; null otherwise.
    #[serde(default)]
    pub served_by_unknown: Option<String>,
    /// Error bound of the shares (0-1).
    pub uncertainty: f64,
    /// Short description of each layer's effect.
    #[schema(value_type = BTreeMap<String, String>)]
    pub notes: BTreeMap<Layer, String>,
}

/// Device I/O that is not attributed to this run.
#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
pub struct ForeignIo {
    /// Estimated in proportion to the bytes.
    pub ios: u64,
    pub bytes: u64,
    pub source: ForeignSource,
}

#[derive(Clone, Copy, Debug, Deserialize, Eq, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ForeignSource {
    OtherPrograms,
    /// For writes: the filesystem's kernel threads cannot be distinguished from other programs.
    OtherProgramsOrFilesystem,
}

impl ForeignSource {
    pub fn label(self) -> &'static str {
        match self {
            Self::OtherPrograms => "other programs",
            Self::OtherProgramsOrFilesystem => "other programs or the filesystem",
        }
    }
}

/// The gauges in a report; null for a direction without I/O.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct GaugeReport {
    pub read: Option<Gauge>,
    pub write: Option<Gauge>,
    pub trim: Option<Gauge>,
    /// All directions. Foreign I/O includes directions that the run did not use.
    pub total: Gauge,
}
