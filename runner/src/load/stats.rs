//! One worker's statistics for one phase. The worker's thread updates them without locks while the
//! sampler reads them.

use crate::load::{
    histogram::{Counter, Histogram},
    layer_sampler::layer_sums::{LayerSums, WriteSums},
    pattern::io::Kind,
};
use leadline_protocol::plan::command_priorities::CommandPriority;
use std::sync::OnceLock;

/// One direction's statistics. The alignment prevents false sharing of cache lines between workers.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct IoStats {
    /// Completed I/Os.
    pub ios: Counter,
    /// Bytes transferred.
    pub bytes: Counter,
    /// `lat` of inline completions: I/Os that had completed when the submitting call returned.
    /// Their `slat` is the same and their `clat` is 0, so one histogram replaces three.
    pub inline_lat: Histogram,
    /// Asynchronous completions: from just before submission until reaped.
    pub lat: Histogram,
    /// Asynchronous completions: from just before submission until acceptance by the kernel.
    pub slat: Histogram,
    /// Asynchronous completions: from acceptance by the kernel until reaped.
    pub clat: Histogram,
    /// From the intended start in the arrival schedule until reaped; unset if there is no rate.
    pub intended_lat: OnceLock<Histogram>,
    /// Latencies of the I/Os with each priority; unset if `cmdprio_percentage` is not used.
    pub priorities: OnceLock<Box<[PriorityLatencies]>>,
    /// For reads: layers that served a sample of the I/Os.
    pub layers: LayerSums,
}

/// Latencies of the I/Os issued with one command priority.
#[derive(Debug)]
pub(crate) struct PriorityLatencies {
    pub priority: CommandPriority,
    pub lat: Histogram,
}

/// An I/O's times, in ns (`Clock` time).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct IoTimes {
    /// Just before submission.
    pub start_ns: u64,
    /// When the submitting call returned; [`NOT_ACCEPTED`] before that.
    pub accepted_ns: u64,
}

/// Value of `accepted_ns` until the submitting call returns.
pub(crate) const NOT_ACCEPTED: u64 = u64::MAX;

/// One worker's statistics for one phase.
#[derive(Debug, Default)]
pub(crate) struct WorkerStats {
    /// Reads, writes, trims and syncs (fsync and fdatasync), indexed by `Kind`.
    pub directions: [IoStats; 4],
    /// Layers that served a sample of the writes.
    pub written: WriteSums,
    pub in_flight: Counter,
    /// `Kind` of the most recently submitted I/O.
    last_kind: Counter,
    /// Failed I/Os.
    pub errors: Counter,
    /// Failed I/Os that end the run.
    pub fatal_errors: Counter,
}

impl WorkerStats {
    /// Must be called before a submission, because a synchronous engine may block in it.
    #[inline(always)]
    pub(crate) fn set_submitting(&self, in_flight: u64, last_kind: Kind) {
        self.in_flight.set(in_flight);
        self.last_kind.set(last_kind as u64);
    }

    /// Number of completed and failed I/Os across all directions.
    pub(crate) fn ended(&self) -> u64 {
        let completed = self.directions.iter().map(|stats| stats.ios.get());
        completed.sum::<u64>() + self.errors.get()
    }

    pub(crate) fn last_kind(&self) -> Kind {
        match self.last_kind.get() {
            0 => Kind::Read,
            1 => Kind::Write,
            2 => Kind::Trim,
            3 => Kind::Sync,
            _ => Kind::Datasync,
        }
    }

    /// The statistics that count I/Os of this kind.
    #[inline(always)]
    pub(crate) fn of(&self, kind: Kind) -> &IoStats {
        let direction = if kind == Kind::Datasync {
            Kind::Sync
        } else {
            kind
        };
        &self.directions[direction as usize]
    }
}

impl IoStats {
    /// Counts `n` I/Os with the same times that were reaped at `now_ns`.
    #[inline(always)]
    pub(crate) fn record(&self, times: IoTimes, now_ns: u64, n: u64, bytes: u64) {
        let lat_ns = now_ns.saturating_sub(times.start_ns);
        if times.accepted_ns == NOT_ACCEPTED {
            self.inline_lat.record(lat_ns, n);
        } else {
            self.record_asynchronous(times, now_ns, n);
        }
        self.bytes.add(bytes);
        self.ios.add(n);
    }

    #[inline(never)]
    fn record_asynchronous(&self, times: IoTimes, now_ns: u64, n: u64) {
        self.lat.record(now_ns.saturating_sub(times.start_ns), n);
        self.slat
            .record(times.accepted_ns.saturating_sub(times.start_ns), n);
        self.clat
            .record(now_ns.saturating_sub(times.accepted_ns), n);
    }

    /// The latencies of inline and asynchronous completions; together they form the distribution of
    /// `lat`.
    pub(crate) fn latencies(&self) -> [&Histogram; 2] {
        [&self.inline_lat, &self.lat]
    }
}
