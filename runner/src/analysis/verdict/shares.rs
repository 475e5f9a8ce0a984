//! Shares of the issued bytes of one direction by the layer that served them, with their error
//! bound.
//!
//! The device's share is the minimum of three counts: bytes issued, bytes moved by this process,
//! and bytes moved by the devices down to the physical ones. This excludes the I/O of other
//! programs. The rest is divided according to extents and page cache residency.

use crate::analysis::verdict::{evidence::Evidence, threshold::NEGLIGIBLE};
use leadline_protocol::evidence::transition::Direction;
use std::collections::BTreeMap;

/// Shares add up to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Shares {
    pub device: f64,
    /// Served from memory, or accepted into memory.
    pub page_cache: f64,
    /// Zeros of extents without data.
    pub unwritten: f64,
    /// Served by the filesystem from inline or compressed data.
    pub filesystem: f64,
    /// Issued to targets without a block device.
    pub no_device: f64,
    /// Error bound of each share (0-1).
    pub uncertainty: f64,
    /// Device bytes transferred for this process.
    pub own_bytes: u64,
    /// Device bytes moved for this process and its filesystem beyond the issued bytes.
    pub excess_bytes: u64,
    /// Device bytes transferred for other programs.
    pub foreign_bytes: u64,
}

impl Shares {
    /// All 0 if there are neither device nor process counters.
    pub(crate) fn of(evidence: &Evidence) -> Self {
        let issued = evidence.issued_to_devices();
        let counted = evidence.device.as_ref().ok().map(|device| device.bytes);
        let process = evidence.own_bytes.as_ref().ok().copied();
        let Some(own_bytes) = counted.into_iter().chain(process).min() else {
            return Self::default();
        };
        let sent = own_bytes.min(issued);
        let limits = [
            evidence.lower_devices.as_ref().map(|lower| lower.bytes),
            evidence.backing_storage_bytes,
        ];
        let reached_bytes = limits.into_iter().flatten().fold(sent, u64::min);
        let above_device = issued - sent;
        let below_device = if evidence.is_loop_cached {
            0
        } else {
            sent - reached_bytes
        };
        let unwritten = match (evidence.direction, evidence.unwritten_share) {
            (Direction::Read, Some(share)) => {
                ((share * issued as f64).round() as u64).min(above_device)
            }
            _ => 0,
        };
        let filesystem = filesystem_bytes(evidence, sent, above_device - unwritten);
        let served_by_filesystem = filesystem + below_device;
        let (excess_bytes, foreign_bytes) = excess_and_foreign_bytes(evidence, own_bytes, counted);
        let uncertain = evidence.in_flight_bytes + unattributed(evidence, own_bytes, reached_bytes);
        let share = |bytes: u64| bytes as f64 / evidence.bytes as f64;
        Self {
            device: share(reached_bytes),
            page_cache: share(issued - reached_bytes - unwritten - served_by_filesystem),
            unwritten: share(unwritten),
            filesystem: share(served_by_filesystem),
            no_device: share(evidence.bytes_without_device),
            uncertainty: share(uncertain).min(1.0),
            own_bytes,
            excess_bytes,
            foreign_bytes,
        }
    }

    /// Shares for the report, by name. Shares of 0 are omitted, except that of the device.
    pub(crate) fn by_name(&self) -> BTreeMap<String, f64> {
        let shares = [
            ("page_cache", self.page_cache),
            ("unwritten", self.unwritten),
            ("filesystem", self.filesystem),
            ("no_device", self.no_device),
            ("device", self.device),
        ];
        let is_reported = |(name, share): &(&str, f64)| *share > 0.0 || *name == "device";
        let named = shares.into_iter().filter(is_reported);
        named
            .map(|(name, share)| (name.to_owned(), share))
            .collect()
    }
}

/// Bytes that the filesystem served, out of the `rest` that neither a device nor an unwritten
/// extent served: direct I/O that did not fall back to the page cache, and data that is stored in
/// fewer bytes.
fn filesystem_bytes(evidence: &Evidence, sent: u64, rest: u64) -> u64 {
    let is_encoded = evidence.encoded_share >= NEGLIGIBLE.value;
    match (evidence.direction, &evidence.own_bytes) {
        (Direction::Write, Ok(own)) if is_encoded => own.saturating_sub(sent).min(rest),
        (Direction::Write, _) => 0,
        (Direction::Read, _) if is_encoded => rest - max_cached_bytes(evidence).min(rest),
        (Direction::Read, _) if evidence.direct && !evidence.falls_back => rest,
        (Direction::Read, _) => 0,
    }
}

/// Upper bound of the bytes that the page cache served: its content at the start of the window, and
/// every byte that was read more than once.
fn max_cached_bytes(evidence: &Evidence) -> u64 {
    let start = evidence.residency.map_or(0, |(start, _)| start.cached);
    let cached = start.min(evidence.region_bytes);
    let uncached = evidence.region_bytes - cached;
    evidence.issued_to_devices().saturating_sub(uncached)
}

/// Returns the device bytes beyond the issued bytes: those of this process or its filesystem, and
/// those of other programs.
fn excess_and_foreign_bytes(
    evidence: &Evidence,
    own_bytes: u64,
    counted: Option<u64>,
) -> (u64, u64) {
    let excess = own_bytes.saturating_sub(evidence.issued_to_devices());
    let unclaimed = counted.unwrap_or(own_bytes).saturating_sub(own_bytes);
    match (evidence.direction, evidence.metadata_reason) {
        // Kernel threads of the filesystem write; they cannot be distinguished from other programs.
        (Direction::Write, Some(_)) => (excess + unclaimed, 0),
        _ => (excess, unclaimed),
    }
}

/// Bytes that may belong to another share. Without process counters, all device bytes may be
/// foreign. Below a cached loop device with unknown residency, kernel threads do the I/O.
fn unattributed(evidence: &Evidence, own_bytes: u64, reached_bytes: u64) -> u64 {
    let is_loop_unknown = evidence.is_loop_cached && evidence.backing_storage_bytes.is_none();
    match evidence.own_bytes {
        Err(_) => reached_bytes,
        Ok(_) if is_loop_unknown => reached_bytes,
        Ok(own) if evidence.direction == Direction::Read && evidence.device.is_ok() => {
            own.saturating_sub(own_bytes)
        }
        Ok(_) => 0,
    }
}
