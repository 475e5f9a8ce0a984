//! Who answered how much: the issued bytes of one direction, divided among the layers, and how far that may be off.
//!
//! The device's part is the least of three counts: what was issued, what this process had storage move, and what the
//! devices down to the physical ones moved. What a neighbour did can so never be taken for ours. The rest is divided by
//! what the filesystem and the page cache told about themselves.

use crate::analysis::verdict::evidence::Evidence;
use crate::analysis::verdict::threshold::NOTHING;
use leadline_protocol::evidence::Direction;
use std::collections::BTreeMap;

/// Shares of the issued bytes, together 1, and bytes that were moved beside.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Shares {
    /// The device answered.
    pub device: f64,
    /// Memory answered, or took it.
    pub page_cache: f64,
    /// The filesystem made zeros of extents without data.
    pub unwritten: f64,
    /// The filesystem answered otherwise: inline, compressed.
    pub filesystem: f64,
    /// Went to targets without a block device.
    pub no_device: f64,
    /// How far each may be off.
    pub uncertainty: f64,
    /// Bytes that the device moved for this process.
    pub ours: u64,
    /// Bytes that it moved for this process and its filesystem beyond what was issued.
    pub excess: u64,
    /// Bytes that it moved for others.
    pub others: u64,
}

impl Shares {
    /// The shares; all 0 where nobody counted.
    pub fn of(evidence: &Evidence) -> Self {
        let (asked, counted) = (
            evidence.asked(),
            evidence.device.as_ref().ok().map(|device| device.bytes),
        );
        let Some(ours) = least(counted, evidence.own.as_ref().ok().copied()) else {
            return Self::default();
        };
        // What did not reach the target's device, and what stopped in a layer beneath it.
        let sent = ours.min(asked);
        let beneath = evidence
            .beneath
            .as_ref()
            .map_or(u64::MAX, |beneath| beneath.bytes);
        let landed = sent
            .min(beneath)
            .min(evidence.past_backing.unwrap_or(u64::MAX));
        let (above, below) = (asked - sent, sent - landed);
        let empty = if evidence.direction == Direction::Read {
            part(evidence.empty, asked).min(above)
        } else {
            0
        };
        let filesystem = filesystem(evidence, sent, above - empty);
        let by_itself = if evidence.is_loop_cached { 0 } else { below };
        let (excess, others) = beyond(evidence, ours, counted.unwrap_or(ours));
        let share = |bytes: u64| bytes as f64 / evidence.bytes as f64;
        Self {
            device: share(landed),
            page_cache: share(asked - landed - empty - filesystem - by_itself),
            unwritten: share(empty),
            filesystem: share(filesystem + by_itself),
            no_device: share(evidence.bytes_elsewhere),
            uncertainty: share(unsure(evidence, ours, landed)).min(1.0),
            ours,
            excess,
            others,
        }
    }

    /// By name, for the report; empty shares are left out, the device's never.
    pub fn by_name(&self) -> BTreeMap<String, f64> {
        let all = [
            ("page_cache", self.page_cache),
            ("unwritten", self.unwritten),
            ("filesystem", self.filesystem),
            ("no_device", self.no_device),
        ];
        let others = all.into_iter().filter(|(_, share)| *share > 0.0);
        others
            .chain([("device", self.device)])
            .map(|(name, share)| (name.to_owned(), share))
            .collect()
    }
}

fn least(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

fn part(share: Option<f64>, of: u64) -> u64 {
    share.map_or(0, |share| (share * of as f64).round() as u64)
}

/// Bytes that the filesystem answered by itself, of those that no device and no empty extent did: direct I/O that did
/// not fall back to the page cache, and data that is stored smaller than it is read or written.
fn filesystem(evidence: &Evidence, sent: u64, rest: u64) -> u64 {
    let is_encoded = evidence.encoded >= NOTHING.value;
    match (evidence.direction, &evidence.own) {
        (Direction::Write, Ok(own)) if is_encoded => own.saturating_sub(sent).min(rest),
        (Direction::Write, _) => 0,
        (Direction::Read, _) if is_encoded => rest - from_cache(evidence).min(rest),
        (Direction::Read, _) if evidence.direct && !evidence.falls_back => rest,
        (Direction::Read, _) => 0,
    }
}

/// The most bytes that the page cache can have answered: what lay there when the window began, and every byte that was
/// asked for again.
fn from_cache(evidence: &Evidence) -> u64 {
    let cached = evidence
        .residency
        .map_or(0, |(start, _)| start.cached.min(evidence.region));
    evidence.asked().saturating_sub(evidence.region - cached)
}

/// What the device moved beyond the issued bytes: for this process or its filesystem, and for others.
fn beyond(evidence: &Evidence, ours: u64, counted: u64) -> (u64, u64) {
    let excess = ours.saturating_sub(evidence.asked());
    let unclaimed = counted - ours.min(counted);
    match (evidence.direction, evidence.metadata) {
        // The filesystem writes in threads of its own: nobody can tell its bytes from a neighbour's.
        (Direction::Write, Some(_)) => (excess + unclaimed, 0),
        _ => (excess, unclaimed),
    }
}

/// Bytes that may belong to another share. Without the process's own counters, all that the device moved may be others'; the
/// same goes for the physical device under a loop through a page cache that was not seen: the kernel does that I/O in threads
/// of its own.
fn unsure(evidence: &Evidence, ours: u64, landed: u64) -> u64 {
    let unseen = match evidence.own {
        Err(_) => landed,
        Ok(_) if evidence.is_loop_cached && evidence.past_backing.is_none() => landed,
        Ok(own) if evidence.direction == Direction::Read && evidence.device.is_ok() => {
            own.saturating_sub(ours)
        }
        Ok(_) => 0,
    };
    evidence.in_flight + unseen
}
