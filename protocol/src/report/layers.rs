//! Which storage layers served a job's I/Os, estimated from a sample of them.

use crate::{evidence::transition::Direction, verdict::StorageLayer};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Estimates by direction; null for a direction without I/O or lookups.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct JobLayers {
    /// Memory page size on the host.
    pub page_bytes: u64,
    /// Smallest part of a page that the targets can read into the page cache, in bytes: their
    /// filesystem's block size, or a page. Null in reports from earlier versions.
    #[serde(default)]
    pub cache_block_bytes: Option<u64>,
    pub read: Option<LayerEstimate>,
    pub write: Option<LayerEstimate>,
}

impl JobLayers {
    pub fn of(&self, direction: Direction) -> Option<&LayerEstimate> {
        direction.select(self.read.as_ref(), self.write.as_ref())
    }
}

/// An estimate for one direction of a job.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct LayerEstimate {
    /// Number of I/Os that were looked up.
    pub samples: u64,
    /// One entry per layer, from top to bottom.
    pub layers: Vec<LayerShare>,
    /// Writes to pages that were already dirty, whose previous data therefore did not reach the
    /// device. Null for reads.
    pub overwritten: Option<Share>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct LayerShare {
    pub layer: StorageLayer,
    /// Share of the I/Os. Each I/O is attributed to exactly one layer.
    pub ios: Share,
    /// Share of the bytes (0-1).
    pub bytes: f64,
}

/// A share (0-1) with its 99.9 % confidence interval.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Share {
    pub share: f64,
    pub low: f64,
    pub high: f64,
}

impl Share {
    pub const UNKNOWN: Self = Self {
        share: 0.0,
        low: 0.0,
        high: 1.0,
    };

    pub fn exact(share: f64) -> Self {
        Self {
            share,
            low: share,
            high: share,
        }
    }

    /// Largest distance from the share to a bound of the interval.
    pub fn error(&self) -> f64 {
        (self.high - self.share).max(self.share - self.low)
    }
}

impl LayerEstimate {
    pub fn of(&self, layer: StorageLayer) -> Option<&LayerShare> {
        self.layers.iter().find(|share| share.layer == layer)
    }
}
