//! Limits that the process and device counters set on the share of I/Os that went below the page
//! cache.

use crate::analysis::verdict::{evidence::Evidence, threshold::is_excess};
use leadline_protocol::{report::layers::Share, verdict::StorageLayer};
use std::ops::RangeInclusive;

/// Allowance for metadata reads by the run itself, in bytes: extent trees and directories.
const METADATA_BYTES: f64 = (1 << 20) as f64;
/// If the ratio of dirtied bytes to written bytes exceeds this value, writes dirtied whole folios.
const LARGE_FOLIOS: f64 = 1.5;
/// Ratio of bytes read from the disks to bytes read from the sparse device above them if all reads
/// reached the disks.
const SPARSE_DEVICE_READS: RangeInclusive<f64> = 0.99..=1.1;
/// Maximum share of the counted bytes that may be metadata.
const METADATA_SHARE: f64 = 0.01;

/// Share of the I/Os that got past the page cache, to storage that contains data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BelowCache {
    pub share: Share,
    pub dispute: Option<Dispute>,
}

/// The sample and a counter disagree beyond their errors.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Dispute {
    /// Share of the I/Os about which they disagree.
    pub share: f64,
    pub counter: CounterSource,
}

/// The counter that contradicts the sample or another counter.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum CounterSource {
    /// Bytes that the process read from storage.
    Process,
    /// Bytes that the targets' device transferred.
    Device,
    /// Bytes that the physical devices below it transferred.
    PhysicalDevices,
    /// Bytes that the run's control group was charged for.
    ControlGroup,
}

impl BelowCache {
    pub(crate) fn undisputed(share: Share) -> Self {
        Self {
            share,
            dispute: None,
        }
    }
}

pub(crate) struct Limits<'a> {
    evidence: &'a Evidence,
    ios: f64,
    bytes: f64,
    /// I/Os in flight at a window boundary, as a share of all I/Os.
    boundary: f64,
    /// Upper bound on the share of I/Os that the physical devices served.
    pub lower_device_share: f64,
}

impl<'a> Limits<'a> {
    pub(crate) fn of(evidence: &'a Evidence) -> Self {
        let ios = evidence.ios as f64;
        let bytes = evidence.bytes as f64;
        let boundary = evidence.in_flight_ios as f64 / ios;
        let lower = evidence.lower_devices.as_ref();
        let has_memory_below = lower.is_some() && evidence.is_loop_cached;
        let lower_share = lower.filter(|_| has_memory_below && evidence.encoded_share == 0.0);
        let lower_device_share = lower_share.map_or(1.0, |lower| {
            (lower.bytes as f64 / evidence.min_transfer() / ios + boundary).min(1.0)
        });
        Self {
            evidence,
            ios,
            bytes,
            boundary,
            lower_device_share,
        }
    }

    /// The share of reads below the page cache. `sampled`: share of the sampled I/Os that were not
    /// cached and have data; `sampled_bytes`: their share of the bytes. `unwritten`: share of
    /// zeros.
    pub(crate) fn read(&self, sampled: Share, sampled_bytes: f64, unwritten: f64) -> BelowCache {
        let evidence = self.evidence;
        let process = evidence
            .process_bytes
            .as_ref()
            .ok()
            .map(|bytes| *bytes as f64);
        let has_whole_blocks = (sampled.share - sampled_bytes).abs() < 0.01;
        let counted = process.and_then(|bytes| self.counted_reads(bytes));
        let is_comparable = has_whole_blocks && !evidence.are_zeros_counted(unwritten);
        let by_process = match counted.filter(|_| is_comparable) {
            // The true share can be anywhere between the sampled and the counted share: metadata
            // that would explain part of the difference may not have been read.
            Some(counted) if counted.low > sampled.high => {
                return disputed(
                    sampled,
                    counted.high - sampled.share,
                    CounterSource::Process,
                );
            }
            Some(counted) if counted.high >= sampled.low => intersection(counted, sampled),
            _ => {
                let at_most = process.map_or(1.0, |bytes| {
                    self.max_share(bytes, sampled.share, sampled_bytes)
                });
                if evidence.direct && at_most < sampled.low {
                    let missing = sampled.share - at_most;
                    return disputed(cap_share(sampled, at_most), missing, CounterSource::Process);
                }
                // Another program read the rest into the page cache before the run read it.
                cap_share(sampled, at_most)
            }
        };
        match &evidence.device {
            Ok(device) if evidence.is_every_device_counted => {
                let contradictory = if self.has_unattributed_sparse_reads() {
                    Some(CounterSource::PhysicalDevices)
                } else {
                    self.is_charge_contradictory()
                        .then_some(CounterSource::ControlGroup)
                };
                if let Some(counter) = contradictory {
                    return disputed(Share::exact(0.0), by_process.share, counter);
                }
                let counted = self.read_by_disks(device.bytes) as f64;
                let at_most = self.max_share(counted, sampled.share, sampled_bytes);
                if at_most < by_process.low {
                    let missing = by_process.share - at_most;
                    let counter = self.device_counter(device.bytes);
                    return disputed(cap_share(by_process, at_most), missing, counter);
                }
                BelowCache::undisputed(cap_share(by_process, at_most))
            }
            _ => BelowCache::undisputed(by_process),
        }
    }

    /// Bytes read from the disks, because a device-mapper device may serve reads itself. Memory
    /// below the device and loop devices' backing files have no such counters.
    fn read_by_disks(&self, device_bytes: u64) -> u64 {
        let evidence = self.evidence;
        let in_memory = evidence
            .estimate
            .as_ref()
            .and_then(|found| found.of(StorageLayer::LowerCache));
        match &evidence.lower_devices {
            _ if evidence.is_mapping_sparse && !self.all_reads_reached_disks() => self
                .charged_factor()
                .map_or(0, |factor| (device_bytes as f64 * factor.min(1.0)) as u64),
            Some(lower)
                if !evidence.is_on_loop && in_memory.is_none_or(|layer| layer.ios.share == 0.0) =>
            {
                device_bytes.min(lower.bytes)
            }
            _ => device_bytes,
        }
    }

    /// Returns the counter that `read_by_disks` used.
    fn device_counter(&self, device_bytes: u64) -> CounterSource {
        if self.evidence.is_mapping_sparse && !self.all_reads_reached_disks() {
            CounterSource::ControlGroup
        } else if self.read_by_disks(device_bytes) < device_bytes {
            CounterSource::PhysicalDevices
        } else {
            CounterSource::Device
        }
    }

    /// A sparse device passes the reads that it does not serve itself to its disks. If the bytes
    /// differ, other processes may also have read from the disks, and only the run's control group
    /// reveals how much the device served.
    fn has_unattributed_sparse_reads(&self) -> bool {
        let is_charged = self
            .charged_factor()
            .is_some_and(|factor| factor <= *SPARSE_DEVICE_READS.end());
        self.evidence.is_mapping_sparse && !self.all_reads_reached_disks() && !is_charged
    }

    fn all_reads_reached_disks(&self) -> bool {
        let evidence = self.evidence;
        let needed = evidence.device.as_ref().map_or(0, |device| device.bytes) as f64;
        let lower = evidence.lower_devices.as_ref();
        let factor = lower.map_or(0.0, |lower| lower.bytes as f64 / needed);
        SPARSE_DEVICE_READS.contains(&factor)
    }

    /// Ratio of the run's bytes on the physical devices to its bytes on the target's device.
    fn charged_factor(&self) -> Option<f64> {
        let charged = self.evidence.charged?;
        (charged.device > 0).then(|| charged.lower as f64 / charged.device as f64)
    }

    /// Whether the control group was charged for more bytes than the device transferred, which is
    /// impossible.
    fn is_charge_contradictory(&self) -> bool {
        let evidence = self.evidence;
        let counted = evidence.device.as_ref().map_or(0, |device| device.bytes);
        let in_flight = self.boundary * self.bytes;
        evidence
            .charged
            .is_some_and(|charged| is_excess(charged.device, counted + in_flight as u64))
    }

    /// Upper bound on the share of I/Os, derived from the transferred bytes.
    fn max_share(&self, counted: f64, sampled: f64, sampled_bytes: f64) -> f64 {
        let evidence = self.evidence;
        let bytes = counted / (self.bytes * evidence.expansion()) + self.boundary;
        let at_most = match sampled * bytes / sampled_bytes {
            // The number of bytes read is unrelated to the number of I/Os if data is compressed.
            _ if evidence.encoded_share > 0.0 && counted > 0.0 => 1.0,
            limit if limit.is_finite() => limit,
            _ => 1.0,
        };
        at_most.min(1.0)
    }

    /// The share of reads derived from the bytes; `None` if the process may have read other data
    /// from the device.
    fn counted_reads(&self, process_bytes: f64) -> Option<Share> {
        let evidence = self.evidence;
        evidence.is_every_read_counted.then(|| {
            let counted = process_bytes / self.bytes;
            let metadata = (METADATA_BYTES / self.bytes).min(counted);
            Share {
                share: counted.min(1.0),
                low: (counted - metadata - self.boundary).clamp(0.0, 1.0),
                high: (counted + self.boundary).min(1.0),
            }
        })
    }

    /// The share of writes below the page cache. `in_memory`: share of the sampled I/Os whose pages
    /// were dirty at the end. `overwritten`: share that overwrote dirty pages, so earlier writes
    /// did not reach the device. `unknown`: share whose pages could not be looked up.
    /// `below_bytes`: share of the sampled bytes that were below the page cache.
    pub(crate) fn write(
        &self,
        in_memory: Share,
        overwritten: Share,
        unknown: Share,
        below_bytes: f64,
    ) -> BelowCache {
        let overwritten = self.overwritten(overwritten);
        let in_memory = self.cap_at_dirty_bytes(in_memory);
        let in_memory_low = if self.has_large_folios(overwritten.share) {
            0.0
        } else {
            in_memory.low
        };
        let least_in_memory = overwritten.low.max(in_memory_low);
        let most_in_memory = (overwritten.high + in_memory.high).min(1.0);
        let below = (1.0 - in_memory.share - unknown.share).max(0.0);
        let at_most = self.max_written_share(below, below_bytes);
        let high = (1.0 - least_in_memory).min(at_most);
        let low = 1.0 - most_in_memory - unknown.share;
        let low = if at_most + self.boundary < low {
            // The counters allow a smaller share than the sample, because data was discarded in
            // memory.
            0.0
        } else {
            low.clamp(0.0, high)
        };
        let share = Share {
            share: (below * (1.0 - overwritten.share)).clamp(low, high),
            low,
            high,
        };
        if self.evidence.is_every_device_counted && self.is_charge_contradictory() {
            return disputed(Share::exact(0.0), share.share, CounterSource::ControlGroup);
        }
        BelowCache::undisputed(share)
    }

    /// Upper bound on the share of the I/Os that the target's device wrote. `below`, `below_bytes`:
    /// shares of the sampled I/Os and bytes below the page cache.
    fn max_written_share(&self, below: f64, below_bytes: f64) -> f64 {
        let evidence = self.evidence;
        let Ok(device) = &evidence.device else {
            return 1.0;
        };
        if !evidence.is_every_device_counted {
            return 1.0;
        }
        let bytes = device.bytes as f64 / self.bytes + evidence.encoded_share + self.boundary;
        // A write counts as written only if all its data is on the device.
        let is_uniform = evidence.has_one_block_size || (below - below_bytes).abs() < 0.01;
        match below * bytes / below_bytes {
            _ if is_uniform || bytes == 0.0 => bytes.min(1.0),
            ios if ios.is_finite() => ios.min(1.0),
            _ => 1.0,
        }
    }

    /// Caps the share in memory at the bytes that were dirty at the end: a dirty page holds only
    /// the last write to it.
    fn cap_at_dirty_bytes(&self, in_memory: Share) -> Share {
        let evidence = self.evidence;
        let at_most = match evidence.dirty_end_bytes() {
            Some(dirty) if evidence.may_overwrite_itself && evidence.has_one_block_size => {
                dirty as f64 / self.bytes + self.boundary
            }
            _ => 1.0,
        };
        Share {
            share: in_memory.share.min(at_most),
            low: in_memory.low.min(at_most),
            high: in_memory.high.min(at_most),
        }
    }

    /// The same limit for cached loop devices: upper bound on the share of the I/Os whose data is
    /// dirty in the backing files.
    pub(crate) fn max_lower_dirty_share(&self) -> f64 {
        let evidence = self.evidence;
        match evidence.backing_dirty_bytes {
            Some(dirty) if evidence.is_loop_cached && evidence.may_overwrite_itself => {
                dirty as f64 / self.bytes + self.boundary
            }
            _ => 1.0,
        }
    }

    /// Blocks that are written only once cannot be overwritten, even if their pages were dirty.
    fn overwritten(&self, sampled: Share) -> Share {
        let evidence = self.evidence;
        if !evidence.may_overwrite_itself {
            return Share::exact(0.0);
        }
        let dirty_before = evidence.dirty_start_bytes() as f64 / self.bytes;
        let is_partial = evidence.smallest_block < evidence.page_bytes;
        Share {
            low: if is_partial {
                0.0
            } else {
                (sampled.low - dirty_before).max(0.0)
            },
            ..sampled
        }
    }

    /// Whether writes dirtied large folios. A write to one page dirties the whole folio, and
    /// cachestat(2) reports all of it.
    fn has_large_folios(&self, overwritten: f64) -> bool {
        let evidence = self.evidence;
        let Ok(dirtied) = evidence.process_bytes else {
            return true;
        };
        let block = (evidence.bytes as f64 / self.ios).max(evidence.page_bytes as f64);
        let expected = self.ios * block * (1.0 - overwritten);
        dirtied as f64 > expected * LARGE_FOLIOS + METADATA_BYTES
    }
}

/// Caps a share at `at_most`. If the whole range exceeds the limit, the lower bound allows for
/// metadata in the counted bytes.
fn cap_share(share: Share, at_most: f64) -> Share {
    let is_limited = at_most < share.low;
    Share {
        share: share.share.min(at_most),
        low: if is_limited {
            (at_most - METADATA_SHARE).max(0.0)
        } else {
            share.low
        },
        high: share.high.min(at_most),
    }
}

/// `disputed`: share of the I/Os about which the sample and the counter disagree.
fn disputed(share: Share, disputed: f64, counter: CounterSource) -> BelowCache {
    BelowCache {
        share,
        dispute: Some(Dispute {
            share: disputed,
            counter,
        }),
    }
}

/// The intersection of both ranges. Its estimate is the counters' estimate, clamped to that range.
fn intersection(counted: Share, sampled: Share) -> Share {
    let low = counted.low.max(sampled.low);
    let high = counted.high.min(sampled.high);
    Share {
        share: counted.share.clamp(low, high),
        low,
        high,
    }
}
