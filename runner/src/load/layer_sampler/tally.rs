//! Sums of the lookups in one direction. Updated by one worker without locks.

use crate::{load::histogram::Counter, system::layers::LayerBytes};
use leadline_protocol::verdict::StorageLayer;

#[derive(Debug, Default)]
pub(crate) struct LayerTally {
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

impl LayerTally {
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
