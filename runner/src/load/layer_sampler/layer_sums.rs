//! Sums of the read and write lookups. Updated by one worker without locks.

use crate::{load::histogram::Counter, system::layers::LayerBytes};
use leadline_protocol::verdict::StorageLayer;

#[derive(Debug, Default)]
pub(crate) struct LayerSums {
    /// Number of lookups.
    pub samples: Counter,
    /// I/Os that the lookups represent, by layer.
    pub ios: [Counter; StorageLayer::COUNT],
    /// Bytes that the lookups represent, by layer.
    pub bytes: [Counter; StorageLayer::COUNT],
    /// Sum of w × (w − 1), where w is the number of I/Os that a lookup represents. The variance of
    /// a share p is p (1 − p) × `spread` / (sum of w)², and 0 if every I/O was looked up.
    pub spread: Counter,
}

impl LayerSums {
    /// `weight`: length of the I/O group. `ios`: number of the group's I/Os that this lookup
    /// represents.
    pub(super) fn add(&self, weight: u64, ios: u64, found: LayerBytes) {
        self.samples.add(1);
        self.ios[found.lowest() as usize].add(weight * ios);
        for layer in StorageLayer::TOP_DOWN {
            let bytes = found.of(layer);
            if bytes > 0 {
                self.bytes[layer as usize].add(weight * ios * bytes);
            }
        }
        self.spread.add(weight * ios * (weight * ios - 1));
    }
}

/// Lookups of writes, just before they are submitted. I/O counts are the numbers of I/Os that the
/// lookups represent, by layer.
#[derive(Debug, Default)]
pub(crate) struct WriteSums {
    /// Number of lookups.
    pub samples: Counter,
    /// I/Os whose layer is known immediately: direct I/O, overwritten dirty pages, and memory.
    pub known: [Counter; StorageLayer::COUNT],
    /// I/Os that dirty pages, by the layer that their data reaches when it is written back.
    pub dirtying: [Counter; StorageLayer::COUNT],
    /// Bytes in the pages dirtied by these I/Os.
    pub dirtied_bytes: Counter,
    /// Bytes of direct I/Os.
    pub direct_bytes: Counter,
}

impl WriteSums {
    pub(super) fn add_known(&self, weight: u64, layer: StorageLayer) {
        self.samples.add(1);
        self.known[layer as usize].add(weight);
    }

    pub(super) fn add_direct(&self, weight: u64, layer: StorageLayer, bytes: u64) {
        self.add_known(weight, layer);
        self.direct_bytes.add(weight * bytes);
    }

    /// `below`: layer that the data reaches when it is written back.
    pub(super) fn add_dirtying(&self, weight: u64, below: StorageLayer, bytes: u64) {
        self.samples.add(1);
        self.dirtying[below as usize].add(weight);
        self.dirtied_bytes.add(weight * bytes);
    }
}
