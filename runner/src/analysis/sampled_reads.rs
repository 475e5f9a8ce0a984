//! Derives the layers that served a window's reads from sampled lookups. Unlike device bytes,
//! lookups exclude readahead.

use crate::analysis::layer_shares::{
    FEW_SAMPLES, LayerShares, MIN_SAMPLES, NOT_FOUND, SharesOrReason,
};
use leadline_protocol::verdict::StorageLayer;
use std::array;

/// Maximum share of I/Os whose layer is unknown (0-1).
const MAX_UNKNOWN: f64 = 0.5;

/// Sums of lookups. The default value contains none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SampledReads {
    /// Number of lookups.
    pub samples: u64,
    /// I/Os that the lookups represent, by layer.
    pub ios: [u64; StorageLayer::COUNT],
}

impl SampledReads {
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            samples: self.samples.saturating_sub(before.samples),
            ios: array::from_fn(|layer| self.ios[layer].saturating_sub(before.ios[layer])),
        }
    }

    /// The shares of the reads whose layer is known.
    pub(crate) fn shares(&self) -> SharesOrReason {
        let of = |layer: StorageLayer| self.ios[layer as usize] as f64;
        let unknown = of(StorageLayer::Unknown);
        let known: f64 = StorageLayer::TOP_DOWN.into_iter().map(of).sum::<f64>() - unknown;
        if self.samples < MIN_SAMPLES {
            return Err(FEW_SAMPLES);
        }
        if known <= 0.0 || unknown > MAX_UNKNOWN * (known + unknown) {
            return Err(NOT_FOUND);
        }
        Ok(LayerShares {
            page_cache: of(StorageLayer::PageCache) / known,
            filesystem: (of(StorageLayer::LowerCache) + of(StorageLayer::Unwritten)) / known,
            device: of(StorageLayer::Device) / known,
            unknown: 0.0,
        })
    }
}
