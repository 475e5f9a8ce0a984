//! Which layers served the reads of a window, by the sampled lookups of its I/Os. Unlike bytes of
//! the device, they do not include what the kernel read ahead.

use leadline_protocol::verdict::StorageLayer;
use std::array;

/// Fewer lookups say nothing about a window.
const MIN_SAMPLES: u64 = 8;
/// Maximum share of I/Os whose layer is unknown (0-1).
const MAX_UNKNOWN: f64 = 0.5;

/// Sums of lookups. A default value has none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SampledReads {
    /// Number of lookups.
    pub samples: u64,
    /// I/Os that the lookups represent, by layer.
    pub ios: [u64; StorageLayer::COUNT],
}

/// Shares of the reads whose layer is known; they add up to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ReadShares {
    pub page_cache: f64,
    /// Below the page cache but not on the device: holes, and memory below a loop device.
    pub filesystem: f64,
    pub device: f64,
}

impl SampledReads {
    pub(crate) fn since(&self, before: &Self) -> Self {
        Self {
            samples: self.samples.saturating_sub(before.samples),
            ios: array::from_fn(|layer| self.ios[layer].saturating_sub(before.ios[layer])),
        }
    }

    /// `None` with too few lookups, or if too many of them found nothing.
    pub(crate) fn shares(&self) -> Option<ReadShares> {
        let of = |layer: StorageLayer| self.ios[layer as usize] as f64;
        let unknown = of(StorageLayer::Unknown);
        let known: f64 = StorageLayer::TOP_DOWN.into_iter().map(of).sum::<f64>() - unknown;
        let is_known = known > 0.0 && unknown <= MAX_UNKNOWN * (known + unknown);
        if self.samples < MIN_SAMPLES || !is_known {
            return None;
        }
        Some(ReadShares {
            page_cache: of(StorageLayer::PageCache) / known,
            filesystem: (of(StorageLayer::LowerCache) + of(StorageLayer::Unwritten)) / known,
            device: of(StorageLayer::Device) / known,
        })
    }
}
