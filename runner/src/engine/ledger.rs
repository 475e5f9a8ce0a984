//! What one clone did in one phase, at every direction. The clone's thread writes it, the sampler reads it meanwhile;
//! nothing is locked and nothing is handed over.

use std::sync::OnceLock;

use crate::histogram::{Counter, Histogram};
use crate::pattern::Kind;

/// One direction of a ledger. Alone on its cache lines: two clones must not slow each other.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct Tally {
    /// I/Os completed.
    pub ios: Counter,
    /// Bytes moved.
    pub bytes: Counter,
    /// From just before submission until reaped.
    pub lat: Histogram,
    /// From just before submission until the kernel took it.
    pub slat: Histogram,
    /// From when the kernel took it until reaped.
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
    /// Reads.
    pub read: Tally,
    /// Writes.
    pub write: Tally,
    /// Trims.
    pub trim: Tally,
    /// fsync and fdatasync calls.
    pub sync: Tally,
    /// I/Os in flight.
    pub in_flight: Counter,
    /// I/Os that failed.
    pub errors: Counter,
}

impl Ledger {
    /// The direction that a kind of I/O counts for.
    #[inline]
    pub fn tally(&self, kind: Kind) -> &Tally {
        match kind {
            Kind::Read => &self.read,
            Kind::Write => &self.write,
            Kind::Trim => &self.trim,
            Kind::Sync | Kind::Datasync => &self.sync,
        }
    }
}

impl Tally {
    /// Counts `n` I/Os that went through the same moments and were reaped at `now_ns`. What was complete before the
    /// call that handed it over returned was taken when it was reaped.
    #[inline]
    pub fn record(&self, times: Times, now_ns: u64, n: u64, bytes: u64) {
        let taken_ns = times.taken_ns.min(now_ns);
        self.lat.record(now_ns.saturating_sub(times.start_ns), n);
        self.slat.record(taken_ns.saturating_sub(times.start_ns), n);
        self.clat.record(now_ns - taken_ns, n);
        self.bytes.add(bytes);
        self.ios.add(n);
    }
}
