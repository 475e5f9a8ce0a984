//! Effects on I/Os on their way to the device: readahead, merging, splitting, amplification,
//! deferred writes and foreign I/O. Derived from byte and device I/O counters. A modifier never
//! changes a share.

use crate::analysis::verdict::{
    evidence::Evidence,
    shares::Shares,
    threshold::{MAX_ERROR, MAX_UNKNOWN, MERGE_RATIO, NEGLIGIBLE, NOISE_FLOOR, is_excess},
};
use leadline_protocol::{
    evidence::transition::Direction,
    verdict::{Modifier, ModifierKind, StorageLayer},
};

/// Device bytes transferred for the run and for other programs.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Transfers {
    /// Bytes transferred for this process.
    pub own_bytes: u64,
    /// Bytes transferred for this process and its filesystem in excess of the bytes that needed the
    /// device.
    pub excess_bytes: u64,
    /// Bytes transferred for other programs.
    pub foreign_bytes: u64,
    /// Bytes of the I/Os that got past the page cache, plus `read_ahead_bytes`.
    pub needed_bytes: u64,
    /// Bytes of the reads that were served from pages that readahead had fetched for other reads of
    /// this process.
    pub read_ahead_bytes: u64,
}

impl Transfers {
    pub(crate) fn of(evidence: &Evidence, shares: &Shares) -> Self {
        let counted = evidence.device.as_ref().ok().map(|device| device.bytes);
        let process = evidence.own_bytes.as_ref().ok().copied();
        let charged = evidence.charged.map(|charged| charged.device);
        // The kernel may charge some of the run's I/O to another group, but never foreign I/O to
        // the run's group.
        let own = process.max(charged);
        let own_bytes = counted.into_iter().chain(own).min().unwrap_or(0);
        // Includes holes: holes in a loop device's image are read through the device.
        let past_cache = (1.0 - shares.of_bytes(StorageLayer::PageCache)) * evidence.bytes as f64;
        let past_cache = (past_cache.round() as u64).min(evidence.issued_to_devices());
        let cached = evidence.issued_to_devices().saturating_sub(past_cache);
        let unexplained = own_bytes.saturating_sub(past_cache);
        let read_ahead_bytes = unexplained.min(bytes_cached_after_start(evidence, cached));
        let needed_bytes = past_cache + read_ahead_bytes;
        let older_bytes = evidence.direction.select(0, evidence.dirty_start_bytes());
        let excess = own_bytes.saturating_sub(needed_bytes + older_bytes);
        let unclaimed = counted.unwrap_or(own_bytes).saturating_sub(own_bytes);
        let is_exact = evidence.direction == Direction::Read || evidence.direct;
        let is_attributed = process.is_some() || (charged.is_some() && is_exact);
        let (excess_bytes, foreign_bytes) = match (evidence.direction, evidence.metadata_reason) {
            // The filesystem's kernel threads also write. Their I/O is charged to the root control
            // group, so it cannot be distinguished from other programs' I/O.
            (Direction::Write, Some(_)) => (excess + unclaimed, 0),
            _ if is_attributed => (excess, unclaimed),
            _ => (0, 0),
        };
        Self {
            own_bytes,
            excess_bytes,
            foreign_bytes,
            needed_bytes,
            read_ahead_bytes,
        }
    }
}

/// Bytes read from pages in the page cache (`cached` in total) that were not cached at the start.
/// Readahead may have fetched these pages, if no partial pages were read.
fn bytes_cached_after_start(evidence: &Evidence, cached: u64) -> u64 {
    // The counters cannot distinguish buffered jobs' readahead from direct jobs' reads.
    let is_buffered_read = evidence.direction == Direction::Read && !evidence.has_direct_jobs;
    let has_whole_pages = evidence.smallest_block >= evidence.page_bytes;
    let start = evidence.residency.map(|(start, _)| start.cached);
    match start {
        Some(start) if is_buffered_read && has_whole_pages => {
            let share = start as f64 / evidence.region_bytes.max(1) as f64;
            cached.saturating_sub((share * evidence.issued_to_devices() as f64) as u64)
        }
        _ => 0,
    }
}

pub(crate) fn modifiers(
    evidence: &Evidence,
    shares: &Shares,
    transfers: &Transfers,
) -> Vec<Modifier> {
    if evidence.no_device.is_some() {
        return Vec::new();
    }
    // If the shares are unknown, device I/Os cannot be compared with the run's I/Os.
    if shares.unknown >= MAX_UNKNOWN.value || shares.uncertainty > MAX_ERROR.value {
        return foreign(transfers).into_iter().collect();
    }
    let found = [
        foreign(transfers),
        amplified(transfers),
        merged(evidence, shares, transfers),
        split(evidence, shares, transfers),
        deferred(evidence, shares),
    ];
    found.into_iter().flatten().collect()
}

fn foreign(transfers: &Transfers) -> Option<Modifier> {
    let Transfers {
        own_bytes,
        foreign_bytes,
        ..
    } = *transfers;
    is_excess(own_bytes + foreign_bytes, own_bytes).then_some(Modifier {
        kind: ModifierKind::Foreign,
        factor: None,
        bytes: Some(foreign_bytes),
    })
}

fn amplified(transfers: &Transfers) -> Option<Modifier> {
    let needed = transfers.needed_bytes;
    let moved = needed + transfers.excess_bytes;
    is_excess(moved, needed).then(|| Modifier {
        kind: ModifierKind::Amplified,
        factor: (needed > 0).then(|| moved as f64 / needed as f64),
        bytes: Some(transfers.excess_bytes),
    })
}

/// Number of the run's I/Os that used data from the device, per device I/O; a lower bound if other
/// programs used the device.
fn ios_per_device_io(evidence: &Evidence, shares: &Shares, transfers: &Transfers) -> Option<f64> {
    let device = evidence.device.as_ref().ok()?;
    let read_ahead = transfers.read_ahead_bytes as f64 / evidence.bytes.max(1) as f64;
    let zeros = if evidence.are_zeros_counted(shares.unwritten) {
        shares.unwritten
    } else {
        0.0
    };
    let used = shares.device + shares.lower_cache + zeros + read_ahead;
    let is_used = used >= NEGLIGIBLE.value && device.ios > 0;
    is_used.then(|| evidence.ios as f64 * used / device.ios as f64)
}

fn merged(evidence: &Evidence, shares: &Shares, transfers: &Transfers) -> Option<Modifier> {
    let factor = ios_per_device_io(evidence, shares, transfers)?;
    let is_buffered_read = evidence.direction == Direction::Read && !evidence.has_direct_jobs;
    (factor * MERGE_RATIO.value >= 1.0).then_some(Modifier {
        kind: if is_buffered_read {
            ModifierKind::Readahead
        } else {
            ModifierKind::Merged
        },
        factor: Some(factor),
        bytes: None,
    })
}

fn split(evidence: &Evidence, shares: &Shares, transfers: &Transfers) -> Option<Modifier> {
    let factor = ios_per_device_io(evidence, shares, transfers)?;
    // Metadata and journals cause additional I/Os.
    let device_bytes = evidence.device.as_ref().map_or(0, |device| device.bytes);
    let is_own = evidence.own_bytes.is_ok() && transfers.foreign_bytes <= NOISE_FLOOR.as_u64();
    let has_others = !is_own
        || is_excess(device_bytes, transfers.needed_bytes)
        || amplified(transfers).is_some()
        || evidence.metadata_reason.is_some();
    (factor <= MERGE_RATIO.value && !has_others).then(|| Modifier {
        kind: ModifierKind::Split,
        factor: Some(1.0 / factor),
        bytes: None,
    })
}

fn deferred(evidence: &Evidence, shares: &Shares) -> Option<Modifier> {
    let in_loop_cache = if evidence.is_loop_cached {
        shares.lower_cache
    } else {
        0.0
    };
    let in_memory = shares.page_cache + in_loop_cache;
    let is_deferred = evidence.direction == Direction::Write && in_memory >= NEGLIGIBLE.value;
    is_deferred.then(|| Modifier {
        kind: ModifierKind::Deferred,
        factor: None,
        bytes: Some((in_memory * evidence.bytes as f64).round() as u64),
    })
}
