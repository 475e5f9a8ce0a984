//! What one clone did in one phase, at every direction. The clone's thread writes it, the sampler reads it meanwhile;
//! nothing is locked and nothing is handed over.

use crate::load::histogram::{Counter, Histogram};
use crate::load::pattern::Kind;
use std::sync::OnceLock;

/// One direction of a ledger. Alone on its cache lines: two clones must not slow each other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Tally {
    /// I/Os completed.
    pub ios: Counter,
    /// Bytes moved.
    pub bytes: Counter,
    /// Of I/Os that were complete when the call that handed them over returned: their `lat`, which is their `slat`; their
    /// `clat` is 0. One entry instead of three, as most I/Os from a page cache are such.
    pub at_once: Histogram,
    /// Of the others: from just before submission until reaped.
    pub lat: Histogram,
    /// Of the others: from just before submission until the kernel took it.
    pub slat: Histogram,
    /// Of the others: from when the kernel took it until reaped.
    pub clat: Histogram,
    /// From when the timetable of a rate wanted it to start until reaped; never set where there is no rate.
    pub intended_lat: OnceLock<Histogram>,
}

/// The three moments of an I/O, in ns of the loop's clock.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Times {
    /// Just before it was submitted.
    pub start_ns: u64,
    /// When the kernel had taken it; `NOT_YET` as long as the call that hands it over has not returned.
    pub taken_ns: u64,
}

/// A moment that has not come.
pub const NOT_YET: u64 = u64::MAX;

/// What one clone did in one phase.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Reads, writes, trims and syncs (fsync, fdatasync), as `Kind` counts them.
    pub tallies: [Tally; 4],
    /// I/Os in flight.
    pub in_flight: Counter,
    /// I/Os that failed.
    pub errors: Counter,
}

impl Ledger {
    /// The direction that a kind of I/O counts for.
    #[inline(always)]
    pub fn tally(&self, kind: Kind) -> &Tally {
        let direction = if kind == Kind::Datasync {
            Kind::Sync
        } else {
            kind
        };
        &self.tallies[direction as usize]
    }
}

impl Tally {
    /// Counts `n` I/Os that went through the same moments and were reaped at `now_ns`.
    #[inline(always)]
    pub fn record(&self, times: Times, now_ns: u64, n: u64, bytes: u64) {
        let lat_ns = now_ns.saturating_sub(times.start_ns);
        if times.taken_ns == NOT_YET {
            self.at_once.record(lat_ns, n);
        } else {
            self.record_lingered(times, now_ns, n);
        }
        self.bytes.add(bytes);
        self.ios.add(n);
    }

    #[inline(never)]
    fn record_lingered(&self, times: Times, now_ns: u64, n: u64) {
        self.lat.record(now_ns.saturating_sub(times.start_ns), n);
        self.slat
            .record(times.taken_ns.saturating_sub(times.start_ns), n);
        self.clat.record(now_ns.saturating_sub(times.taken_ns), n);
    }

    /// The two halves of the I/Os, by when they were complete: together the distribution of `lat`.
    pub fn lats(&self) -> [&Histogram; 2] {
        [&self.at_once, &self.lat]
    }
}
