//! Sums of the workers' statistics, and the differences between two readings. Reads the live
//! counters without locks.

use crate::{
    analysis::{sampled_reads::SampledReads, sampled_writes::SampledWrites},
    load::{
        layer_sampler::layer_sums::WriteSums,
        pattern::io::Kind,
        stats::{IoStats, WorkerStats},
    },
};
use leadline_protocol::{
    counters::IoCounts,
    histogram::{BUCKETS, sparse},
};
use std::array;

/// Cumulative counts of all workers in a phase.
#[derive(Clone, Default)]
pub(crate) struct IoTotals {
    /// Reads, writes, trims and syncs.
    directions: [DirectionTotals; 4],
    /// Layers that served the reads.
    pub sampled_reads: SampledReads,
    /// Layers that served the writes, and the pages that they dirtied.
    pub sampled_writes: SampledWrites,
    pub in_flight: u64,
    /// Failed I/Os.
    pub errors: u64,
}

#[derive(Clone)]
struct DirectionTotals {
    bytes: u64,
    buckets: Box<[u64; BUCKETS]>,
}

impl Default for DirectionTotals {
    fn default() -> Self {
        let buckets = vec![0; BUCKETS].into_boxed_slice();
        Self {
            bytes: 0,
            buckets: buckets.try_into().expect("BUCKETS elements"),
        }
    }
}

impl DirectionTotals {
    fn add(&mut self, stats: &IoStats) {
        if stats.ios.get() > 0 {
            self.bytes += stats.bytes.get();
            for latencies in stats.latencies() {
                latencies.add_to(&mut self.buckets);
            }
        }
    }

    /// Derives the number of I/Os from the buckets, so that the count and the histogram agree in
    /// every sample. If a worker is updating its counters at this moment, the I/O appears in the
    /// next sample.
    fn since(&self, before: &Self) -> IoCounts {
        let mut window = Self::default();
        for (bucket, count) in window.buckets.iter_mut().enumerate() {
            *count = self.buckets[bucket].saturating_sub(before.buckets[bucket]);
        }
        IoCounts {
            ios: window.buckets.iter().sum(),
            bytes: self.bytes.saturating_sub(before.bytes),
            lat_ns: sparse(&window.buckets),
        }
    }
}

impl IoTotals {
    pub(crate) fn of<'a>(workers: impl Iterator<Item = &'a WorkerStats>) -> Self {
        let mut totals = Self::default();
        for worker in workers {
            for (total, stats) in totals.directions.iter_mut().zip(&worker.directions) {
                total.add(stats);
            }
            let layers = &worker.of(Kind::Read).layers;
            totals.sampled_reads.samples += layers.samples.get();
            for (total, ios) in totals.sampled_reads.ios.iter_mut().zip(&layers.ios) {
                *total += ios.get();
            }
            add_writes(&mut totals.sampled_writes, &worker.written);
            totals.in_flight += worker.in_flight.get();
            totals.errors += worker.errors.get();
        }
        totals
    }

    /// Reads, writes, trims and syncs.
    pub(crate) fn since(&self, before: &Self) -> [IoCounts; 4] {
        array::from_fn(|index| self.directions[index].since(&before.directions[index]))
    }
}

fn add_writes(total: &mut SampledWrites, sums: &WriteSums) {
    total.samples += sums.samples.get();
    let each = [
        (&mut total.known, &sums.known),
        (&mut total.dirtying, &sums.dirtying),
    ];
    for (sum, counters) in each {
        for (sum, counter) in sum.iter_mut().zip(counters) {
            *sum += counter.get();
        }
    }
    total.dirtied_bytes += sums.dirtied_bytes.get();
    total.direct_bytes += sums.direct_bytes.get();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::stats::IoTimes;

    #[test]
    fn windows_add_up_to_the_total_of_all_workers() {
        let workers = [WorkerStats::default(), WorkerStats::default()];
        let mut before = IoTotals::default();
        let mut sum = (0, 0, 0);
        for number in 1..=5u64 {
            let times = IoTimes::default();
            let reads = workers[0].of(Kind::Read);
            reads.record(times, number * 1000, number, number * 4096);
            workers[1].of(Kind::Read).record(times, 50, 1, 512);
            workers[1].of(Kind::Write).record(times, 70, 2, 1024);
            let now = IoTotals::of(workers.iter());
            let [read, write, ..] = now.since(&before);
            assert_eq!(read.ios, number + 1);
            let in_buckets: u64 = read.lat_ns.iter().map(|bucket| bucket.1).sum();
            assert_eq!(in_buckets, number + 1);
            let written = IoCounts {
                ios: 2,
                bytes: 1024,
                lat_ns: vec![(70, 2)],
            };
            assert_eq!(write, written);
            sum.0 += read.ios;
            sum.1 += read.bytes;
            sum.2 += write.ios;
            before = now;
        }
        assert_eq!(sum, (20, 15 * 4096 + 5 * 512, 10));
    }
}
