//! One time window at every layer: sums the ledgers of all clones, and tells what came on top since the last look.
//! Reading disturbs no clone: its counters are read where they are.

use crate::load::ledger::{Ledger, Tally};
use leadline_protocol::counters::IoCounts;
use leadline_protocol::histogram::{BUCKETS, sparse};

/// Counts of one direction since the phase began.
struct Total {
    bytes: u64,
    buckets: Box<[u64; BUCKETS]>,
}

impl Total {
    fn new() -> Self {
        Self {
            bytes: 0,
            buckets: vec![0; BUCKETS]
                .into_boxed_slice()
                .try_into()
                .expect("as many as there are"),
        }
    }

    fn clear(&mut self) {
        self.bytes = 0;
        self.buckets.fill(0);
    }

    fn add(&mut self, tally: &Tally) {
        if tally.ios.get() > 0 {
            self.bytes += tally.bytes.get();
            tally
                .lats()
                .iter()
                .for_each(|lat| lat.add_to(&mut self.buckets));
        }
    }

    /// What came on top of `before`. I/Os are counted from the buckets, so that the two agree in every sample; what a clone
    /// is counting just now is seen in the next one.
    fn since(&self, before: &Self) -> IoCounts {
        let mut fresh = Self::new();
        for (slot, (now, then)) in fresh
            .buckets
            .iter_mut()
            .zip(self.buckets.iter().zip(before.buckets.iter()))
        {
            *slot = now.saturating_sub(*then);
        }
        IoCounts {
            ios: fresh.buckets.iter().sum(),
            bytes: self.bytes.saturating_sub(before.bytes),
            lat_ns: sparse(&fresh.buckets),
        }
    }
}

/// What all clones did in one phase so far.
pub struct Totals {
    directions: [Total; 4],
    /// I/Os in flight.
    pub in_flight: u64,
    /// I/Os that failed.
    pub errors: u64,
}

/// What all clones did in one window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Flows {
    /// Reads.
    pub read: IoCounts,
    /// Writes.
    pub write: IoCounts,
    /// Trims.
    pub trim: IoCounts,
    /// fsync and fdatasync calls.
    pub sync: IoCounts,
    /// I/Os in flight at its end.
    pub in_flight: u64,
    /// I/Os that failed in it.
    pub errors: u64,
}

impl Default for Totals {
    fn default() -> Self {
        Self {
            directions: std::array::from_fn(|_| Total::new()),
            in_flight: 0,
            errors: 0,
        }
    }
}

impl Totals {
    /// Reads the ledgers of all clones anew.
    pub fn read<'a>(&mut self, ledgers: impl Iterator<Item = &'a Ledger>) {
        self.directions.iter_mut().for_each(Total::clear);
        (self.in_flight, self.errors) = (0, 0);
        for ledger in ledgers {
            for (total, tally) in self.directions.iter_mut().zip(&ledger.tallies) {
                total.add(tally);
            }
            self.in_flight += ledger.in_flight.get();
            self.errors += ledger.errors.get();
        }
    }

    /// What came on top of `before`.
    pub fn since(&self, before: &Self) -> Flows {
        let flow =
            |direction: usize| self.directions[direction].since(&before.directions[direction]);
        let errors = self.errors.saturating_sub(before.errors);
        Flows {
            read: flow(0),
            write: flow(1),
            trim: flow(2),
            sync: flow(3),
            in_flight: self.in_flight,
            errors,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::ledger::Times;
    use crate::load::pattern::Kind;

    #[test]
    fn windows_add_up_to_what_was_done_over_all_clones() {
        let clones = [Ledger::default(), Ledger::default()];
        let (mut before, mut now) = (Totals::default(), Totals::default());
        let mut sum = (0, 0, 0);
        for window in 1..=5u64 {
            clones[0].tally(Kind::Read).record(
                Times::default(),
                window * 1000,
                window,
                window * 4096,
            );
            clones[1]
                .tally(Kind::Read)
                .record(Times::default(), 50, 1, 512);
            clones[1]
                .tally(Kind::Write)
                .record(Times::default(), 70, 2, 1024);
            now.read(clones.iter());
            let flows = now.since(&before);
            assert_eq!(flows.read.ios, window + 1);
            assert_eq!(
                flows.read.lat_ns.iter().map(|bucket| bucket.1).sum::<u64>(),
                window + 1
            );
            assert_eq!(
                flows.write,
                IoCounts {
                    ios: 2,
                    bytes: 1024,
                    lat_ns: vec![(70, 2)]
                }
            );
            sum = (
                sum.0 + flows.read.ios,
                sum.1 + flows.read.bytes,
                sum.2 + flows.write.ios,
            );
            std::mem::swap(&mut before, &mut now);
        }
        assert_eq!(sum, (20, 15 * 4096 + 5 * 512, 10));
    }
}
