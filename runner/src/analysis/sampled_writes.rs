//! Derives the layers that served a window's writes from the lookups just before each sampled
//! write, and from the target's dirty pages at the start and end of the window. Unlike device
//! bytes, these include neither metadata nor other programs' I/O, and a partly written page is not
//! counted as a whole page.
//!
//! A write is served by the device once the pages that it dirtied have been written back. The
//! number of pages written back in a window is: dirty pages at the start + newly dirtied pages −
//! dirty pages at the end. Older pages, which were dirty when the phase started, are assumed to be
//! written first in earlier windows. If the remaining ones make a window's shares ambiguous, they
//! are unknown.

#[cfg(test)]
mod tests;

use crate::analysis::layer_shares::{
    FEW_SAMPLES, LayerShares, MIN_SAMPLES, NOT_FOUND, SharesOrReason,
};
use leadline_protocol::verdict::StorageLayer;
use std::array;

/// Maximum ratio of dirtied bytes to the bytes that the lookups found. Above it, the kernel marked
/// whole folios as dirty.
const LARGE_FOLIOS: f64 = 1.5;
/// Number of bytes that the process may write to other files.
const OTHER_BYTES: f64 = (1 << 20) as f64;
/// Maximum difference between the bounds of the share that was written back (0-1).
const MAX_OLDER: f64 = 0.1;

/// Maximum share of unknown layers in a window (0-1).
const MAX_UNKNOWN: f64 = 0.05;

const NOT_COUNTED: &str = "dirty pages cannot be counted";
const OLDER_PAGES: &str = "pages from before this phase are being written back";
const WHOLE_FOLIOS: &str = "the kernel marks more than the written pages as dirty";

/// Sums of lookups. The default value contains none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SampledWrites {
    /// Number of lookups.
    pub samples: u64,
    /// I/Os whose layer was known when they were submitted, by layer.
    pub known: [u64; StorageLayer::COUNT],
    /// I/Os that dirtied pages, by the layer that their data reaches when it is written back.
    pub dirtying: [u64; StorageLayer::COUNT],
    pub dirtied_bytes: u64,
    pub direct_bytes: u64,
}

/// The targets' dirty bytes, and bytes that the process dirtied or wrote directly.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DirtyPages {
    pub before: u64,
    pub now: u64,
    /// Part of `before` that was dirty when the phase started.
    pub older: u64,
    /// `None` if unknown.
    pub by_process: Option<u64>,
}

impl SampledWrites {
    pub(crate) fn since(&self, before: &Self) -> Self {
        let since = |now: [u64; StorageLayer::COUNT], before: [u64; StorageLayer::COUNT]| {
            array::from_fn(|layer| now[layer].saturating_sub(before[layer]))
        };
        Self {
            samples: self.samples.saturating_sub(before.samples),
            known: since(self.known, before.known),
            dirtying: since(self.dirtying, before.dirtying),
            dirtied_bytes: self.dirtied_bytes.saturating_sub(before.dirtied_bytes),
            direct_bytes: self.direct_bytes.saturating_sub(before.direct_bytes),
        }
    }

    /// Number of I/Os that the lookups represent.
    pub(crate) fn ios(&self) -> u64 {
        self.known.iter().chain(&self.dirtying).sum()
    }

    pub(crate) fn shares(&self, pages: Option<DirtyPages>) -> SharesOrReason {
        if self.samples < MIN_SAMPLES || self.ios() == 0 {
            return Err(FEW_SAMPLES);
        }
        let written_back = match pages {
            _ if self.dirtying.iter().all(|ios| *ios == 0) => 0.0,
            None => return Err(NOT_COUNTED),
            Some(pages) => self.written_back(pages)?,
        };
        let ios = self.ios() as f64;
        let below = |layer: StorageLayer| {
            let layer = layer as usize;
            (self.known[layer] as f64 + self.dirtying[layer] as f64 * written_back) / ios
        };
        let dirtying: u64 = self.dirtying.iter().sum();
        let dirty = dirtying as f64 * (1.0 - written_back) / ios;
        let shares = LayerShares {
            page_cache: below(StorageLayer::PageCache) + dirty,
            filesystem: below(StorageLayer::LowerCache) + below(StorageLayer::Unwritten),
            device: below(StorageLayer::Device),
            unknown: below(StorageLayer::Unknown),
        };
        let most = shares.page_cache.max(shares.filesystem).max(shares.device);
        if shares.unknown >= most {
            return Err(NOT_FOUND);
        }
        Ok(shares)
    }

    /// Share of the newly dirtied pages that was written back (0-1).
    fn written_back(&self, pages: DirtyPages) -> Result<f64, &'static str> {
        let dirtied = self.dirtied_bytes as f64;
        let grown = pages.now as f64 - pages.before as f64;
        let by_process = pages.by_process.unwrap_or(0) as f64;
        let is_excess = |bytes: f64, of: f64| bytes > of * LARGE_FOLIOS + OTHER_BYTES;
        if is_excess(grown, dirtied) || is_excess(by_process, dirtied + self.direct_bytes as f64) {
            return Err(WHOLE_FOLIOS);
        }
        let cleaned = (dirtied - grown).max(0.0);
        let share = |bytes: f64| (bytes.max(0.0) / dirtied.max(1.0)).min(1.0);
        let high = share(cleaned);
        let low = share(cleaned - pages.older as f64);
        if high - low > MAX_OLDER {
            return Err(OLDER_PAGES);
        }
        Ok((high + low) / 2.0)
    }
}

/// The shares of one window, which ends when dirty pages are counted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteWindow {
    /// Start and end, in ms since the start of the run.
    pub begin_ms: f64,
    pub end_ms: f64,
    pub ios: u64,
    /// Share that the device served (0-1); `None` if unknown.
    pub device_share: Option<f64>,
}

/// Counts at one point in a phase.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WriteReading {
    pub at_ms: f64,
    pub sampled: SampledWrites,
    /// The targets' dirty bytes; `None` if they were not counted.
    pub dirty_bytes: Option<u64>,
    /// Bytes that the process dirtied or wrote directly in this phase; `None` if unknown.
    pub by_process: Option<u64>,
}

/// Follows the writes of one phase.
#[derive(Debug)]
pub(crate) struct PhaseWrites {
    start: WriteReading,
    last: WriteReading,
    so_far: Option<SharesOrReason>,
}

impl PhaseWrites {
    pub(crate) fn new(start: WriteReading) -> Self {
        Self {
            start,
            last: start,
            so_far: None,
        }
    }

    /// The shares from the start of the phase to the last reading that counted dirty pages; `None`
    /// before the first such reading, or if there were no writes.
    pub(crate) fn so_far(&self) -> Option<SharesOrReason> {
        self.so_far
    }

    /// Adds a reading. Returns the window since the last reading that counted dirty pages.
    pub(crate) fn push(&mut self, now: WriteReading) -> Option<WriteWindow> {
        let makes_dirty = now.sampled.dirtying.iter().any(|ios| *ios > 0);
        if now.sampled.samples == 0 || (makes_dirty && now.dirty_bytes.is_none()) {
            return None;
        }
        let so_far = now.sampled.shares(pages(&self.start, &self.start, &now));
        let window = now.sampled.since(&self.last.sampled);
        let shares = window.shares(pages(&self.start, &self.last, &now));
        let begin_ms = self.last.at_ms;
        self.so_far = Some(so_far);
        self.last = now;
        let known = shares.ok().filter(|shares| shares.unknown < MAX_UNKNOWN);
        Some(WriteWindow {
            begin_ms,
            end_ms: now.at_ms,
            ios: window.ios(),
            device_share: known.map(|shares| shares.device),
        })
    }
}

fn pages(start: &WriteReading, before: &WriteReading, now: &WriteReading) -> Option<DirtyPages> {
    let older = start.dirty_bytes?;
    let dirty_before = before.dirty_bytes?;
    let dirtied = before.sampled.dirtied_bytes - start.sampled.dirtied_bytes;
    let cleaned = (older + dirtied).saturating_sub(dirty_before);
    Some(DirtyPages {
        before: dirty_before,
        now: now.dirty_bytes?,
        older: older.saturating_sub(cleaned),
        by_process: now
            .by_process
            .map(|bytes| bytes.saturating_sub(before.by_process.unwrap_or(0))),
    })
}
