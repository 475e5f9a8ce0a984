//! Shares of one direction's I/Os, by the layer that served them, with an error bound.
//!
//! The shares come from a sample of the I/Os. Process and device counters limit them: the I/Os that
//! needed the device cannot have more bytes than it transferred. If the sample and the counters
//! disagree beyond their errors, the difference is `unknown`.

use crate::analysis::verdict::{
    evidence::Evidence,
    limits::{BelowCache, CounterSource, Limits},
    threshold::MAX_UNKNOWN,
};
use leadline_protocol::{
    evidence::transition::Direction,
    report::layers::{LayerEstimate, Share},
    verdict::StorageLayer,
};
use std::collections::BTreeMap;

/// Shares of the I/Os by layer; they add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Shares {
    /// Served from memory, or accepted into memory.
    pub page_cache: f64,
    /// Served from memory below a block device.
    pub lower_cache: f64,
    /// Zeros returned for holes and unwritten extents.
    pub unwritten: f64,
    pub device: f64,
    pub unknown: f64,
    /// Error bound of each share (0-1).
    pub uncertainty: f64,
    /// Shares of the bytes, by layer.
    pub bytes: [f64; StorageLayer::COUNT],
    /// The counter that contradicts the sample; `None` if they agree.
    pub disputed_by: Option<CounterSource>,
}

impl Shares {
    pub(crate) fn of(evidence: &Evidence) -> Self {
        let Some(estimate) = &evidence.estimate else {
            return Self::all_unknown();
        };
        let sampled = |layer| estimate.of(layer).map_or(Share::UNKNOWN, |share| share.ios);
        if evidence.no_device.is_some() {
            return Self::sampled(estimate);
        }
        let limits = Limits::of(evidence);
        let unknown = sampled(StorageLayer::Unknown);
        let sampled_below = sum(
            sampled(StorageLayer::Device),
            sampled(StorageLayer::LowerCache),
        );
        let bytes = |layer| estimate.of(layer).map_or(0.0, |share| share.bytes);
        let below_bytes = bytes(StorageLayer::Device) + bytes(StorageLayer::LowerCache);
        let below = match evidence.direction {
            // Counters cannot replace lookups, because they do not distinguish the device from
            // memory below it.
            Direction::Read if unknown.share >= MAX_UNKNOWN.value => {
                BelowCache::undisputed(sampled_below)
            }
            Direction::Read => {
                limits.read(sampled_below, below_bytes, bytes(StorageLayer::Unwritten))
            }
            Direction::Write => limits.write(
                sampled(StorageLayer::PageCache),
                estimate.overwritten.unwrap_or_default(),
                unknown,
                below_bytes,
            ),
        };
        let mut parts = Parts {
            page_cache: sampled(StorageLayer::PageCache),
            lower_cache: sampled(StorageLayer::LowerCache),
            unwritten: sampled(StorageLayer::Unwritten),
            device: sampled(StorageLayer::Device),
            unknown,
        };
        if evidence.direction == Direction::Write {
            // Data that did not reach the device is in memory, even if its pages cannot be looked
            // up.
            parts.page_cache.share += parts.unknown.share;
            parts.unknown = Share::exact(0.0);
        }
        let shares = parts.with_below(below, limits.lower_device_share);
        let shares = match evidence.direction {
            Direction::Read => shares,
            Direction::Write => shares.with_lower_dirty_limit(&limits),
        };
        Self {
            bytes: if (shares.page_cache - parts.page_cache.share).abs() < 0.01 {
                StorageLayer::TOP_DOWN.map(bytes)
            } else {
                shares.by_layer()
            },
            ..shares
        }
    }

    /// The sampled shares. Ignores the device counters, because they count other I/Os.
    fn sampled(estimate: &LayerEstimate) -> Self {
        let of = |layer| estimate.of(layer).map_or(Share::UNKNOWN, |share| share.ios);
        let errors = StorageLayer::TOP_DOWN.map(|layer| of(layer).error());
        Self {
            page_cache: of(StorageLayer::PageCache).share,
            lower_cache: of(StorageLayer::LowerCache).share,
            unwritten: of(StorageLayer::Unwritten).share,
            device: of(StorageLayer::Device).share,
            unknown: of(StorageLayer::Unknown).share,
            uncertainty: errors.into_iter().fold(0.0, f64::max),
            bytes: StorageLayer::TOP_DOWN
                .map(|layer| estimate.of(layer).map_or(0.0, |share| share.bytes)),
            disputed_by: None,
        }
    }

    fn all_unknown() -> Self {
        let unknown = Self {
            unknown: 1.0,
            uncertainty: 1.0,
            ..Self::default()
        };
        Self {
            bytes: unknown.by_layer(),
            ..unknown
        }
    }

    /// In memory below a loop device, only the last write to each page is dirty. All earlier writes
    /// to the page were either overwritten in memory or written to the device.
    fn with_lower_dirty_limit(self, limits: &Limits) -> Self {
        let excess = self.lower_cache - limits.max_lower_dirty_share();
        let excess = excess.min(limits.lower_device_share - self.device).max(0.0);
        Self {
            lower_cache: self.lower_cache - excess / 2.0,
            device: self.device + excess / 2.0,
            uncertainty: (self.uncertainty + excess / 2.0).min(1.0),
            ..self
        }
    }

    fn by_layer(&self) -> [f64; StorageLayer::COUNT] {
        StorageLayer::TOP_DOWN.map(|layer| self.of_layer(layer))
    }

    /// Share of the bytes (0-1).
    pub(crate) fn of_bytes(&self, layer: StorageLayer) -> f64 {
        self.bytes[layer as usize]
    }

    pub(crate) fn of_layer(&self, layer: StorageLayer) -> f64 {
        match layer {
            StorageLayer::PageCache => self.page_cache,
            StorageLayer::LowerCache => self.lower_cache,
            StorageLayer::Unwritten => self.unwritten,
            StorageLayer::Device => self.device,
            StorageLayer::Unknown => self.unknown,
        }
    }

    /// Shares for the report, by name. Shares of 0 are omitted, except for the device.
    pub(crate) fn by_name(&self) -> BTreeMap<String, f64> {
        named(self.by_layer())
    }

    pub(crate) fn bytes_by_name(&self) -> BTreeMap<String, f64> {
        named(self.bytes)
    }
}

fn named(shares: [f64; StorageLayer::COUNT]) -> BTreeMap<String, f64> {
    let each = StorageLayer::TOP_DOWN.into_iter().zip(shares);
    each.filter(|(layer, share)| *share > 0.0 || *layer == StorageLayer::Device)
        .map(|(layer, share)| (layer.as_str().to_owned(), share))
        .collect()
}

/// Shares of the sampled I/Os.
#[derive(Clone, Copy)]
struct Parts {
    page_cache: Share,
    lower_cache: Share,
    unwritten: Share,
    device: Share,
    unknown: Share,
}

impl Parts {
    /// Sets the sum of `device` and `lower_cache` to the share in `below`, and scales the other
    /// layers to fill the rest. `lower_device_share`: upper bound on the device's share.
    fn with_below(self, below: BelowCache, lower_device_share: f64) -> Shares {
        let sampled_below = self.device.share + self.lower_cache.share;
        let new_below = below.share.share;
        let scale_below = ratio(new_below, sampled_below);
        let mut device = match scale_below {
            Some(scale) => self.device.share * scale,
            // No sampled I/O was below the page cache; the device is the lowest layer.
            None => new_below,
        };
        let mut lower_cache = new_below - device;
        if device > lower_device_share {
            lower_cache += device - lower_device_share;
            device = lower_device_share;
        }
        let disputed = below.dispute.map_or(0.0, |dispute| dispute.share);
        let rest = (1.0 - new_below - disputed).max(0.0);
        let sampled_above = self.page_cache.share + self.unwritten.share + self.unknown.share;
        let above = |share: f64| ratio(rest, sampled_above).map_or(0.0, |scale| share * scale);
        let page_cache = if sampled_above > 0.0 {
            above(self.page_cache.share)
        } else {
            rest
        };
        let split_errors = [self.unwritten, self.lower_cache].map(|share| {
            // The errors of the other layers bound the share of a layer that was never sampled.
            if share.share > 0.0 {
                share.error()
            } else {
                0.0
            }
        });
        let errors = split_errors.into_iter();
        let uncertainty = errors.fold(below.share.error(), f64::max);
        Shares {
            page_cache,
            lower_cache,
            unwritten: above(self.unwritten.share),
            device,
            unknown: above(self.unknown.share) + disputed,
            uncertainty: uncertainty.min(1.0),
            disputed_by: below.dispute.map(|dispute| dispute.counter),
            ..Shares::default()
        }
    }
}

fn ratio(new: f64, old: f64) -> Option<f64> {
    (old > 0.0).then(|| new / old)
}

fn sum(one: Share, other: Share) -> Share {
    let below = |share: Share| share.share - share.low;
    let above = |share: Share| share.high - share.share;
    let share = (one.share + other.share).min(1.0);
    Share {
        share,
        low: (share - below(one).max(below(other))).max(0.0),
        high: (share + above(one).max(above(other))).min(1.0),
    }
}
