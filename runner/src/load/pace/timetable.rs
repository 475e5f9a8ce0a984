//! The timetable of one direction: linear, or poisson. Both keep the rate over any length of time.
//!
//! A linear one counts in whole ns and carries the remainder, so that it does not drift; its first I/O is due at once. In a
//! poisson one the time before each I/O is exponentially distributed around the time that a linear one would give it (fio
//! backend.c, `usec_for_io`; fio reckons with the smallest block, we with the I/O's own length).

use crate::load::pattern::Io;
use leadline_protocol::job::value::RateProcess;
use leadline_protocol::plan::resolved::ResolvedJob;
use rand::rngs::Xoshiro256PlusPlus;
use rand::{RngExt, SeedableRng};
use rand_distr::Exp1;

pub(crate) const NS_PER_SECOND: u64 = 1_000_000_000;
/// The largest rate that is told from no limit at all; with an I/O of at most 4 GiB the arithmetic stays below 2^64.
pub(crate) const FASTEST: u64 = 1 << 62;
/// Keep the timetables of clones and directions apart, and these from offsets and data: odd numbers without a pattern.
const CLONE_STRIDE: u64 = 0x9fb2_1c65_1e98_df25;
const DIRECTION_STRIDE: u64 = 0xc13f_a9a9_02a6_328f;

/// When the I/Os of one direction are due.
#[derive(Clone, Debug)]
pub(crate) struct Timetable {
    unit: Unit,
    per_second: u64,
    /// When the next I/O (linear) or the last one (poisson) is due, in ns since the clone began.
    at_ns: u64,
    process: Process,
}

/// What is counted against a rate.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Bytes,
    Ios,
}

#[derive(Clone, Debug)]
enum Process {
    /// What is left over after whole ns, in 1/`per_second` ns.
    Linear { remainder: u64 },
    /// Mean ns of a unit.
    Poisson {
        rng: Xoshiro256PlusPlus,
        mean_ns: f64,
    },
}

impl Timetable {
    /// Those of reads, writes and trims, by `Kind`; `None` where there is no rate or the job does not go in that direction.
    pub fn all(job: &ResolvedJob, clone: u32) -> [Option<Self>; 3] {
        let (used, bytes, ios) = (
            [
                job.pattern.rw.reads(),
                job.pattern.rw.writes(),
                job.pattern.rw.trims(),
            ],
            &job.timing.rate,
            &job.timing.rate_iops,
        );
        let rates = [
            (bytes.read, ios.read),
            (bytes.write, ios.write),
            (bytes.trim, ios.trim),
        ];
        let clone_seed = job
            .pattern
            .randseed
            .wrapping_add(CLONE_STRIDE.wrapping_mul(u64::from(clone) + 1));
        std::array::from_fn(|direction| {
            let (unit, per_second) = match rates[direction] {
                (Some(bytes), _) => (Unit::Bytes, bytes),
                (None, ios) => (Unit::Ios, ios?),
            };
            let seed = clone_seed.wrapping_add(DIRECTION_STRIDE.wrapping_mul(direction as u64));
            (used[direction] && per_second > 0)
                .then(|| Self::new(unit, per_second.min(FASTEST), job.timing.rate_process, seed))
        })
    }

    fn new(unit: Unit, per_second: u64, process: RateProcess, seed: u64) -> Self {
        let process = match process {
            RateProcess::Linear => Process::Linear { remainder: 0 },
            RateProcess::Poisson => Process::Poisson {
                rng: Xoshiro256PlusPlus::seed_from_u64(seed),
                mean_ns: NS_PER_SECOND as f64 / per_second as f64,
            },
        };
        Self {
            unit,
            per_second,
            at_ns: 0,
            process,
        }
    }

    /// When this I/O is due; the one after it comes later by its time.
    pub fn take(&mut self, io: &Io) -> u64 {
        let units = match self.unit {
            Unit::Bytes => u64::from(io.len),
            Unit::Ios => 1,
        };
        match &mut self.process {
            Process::Linear { remainder } => {
                let due_ns = self.at_ns;
                let shares = units * NS_PER_SECOND + *remainder;
                self.at_ns = self.at_ns.saturating_add(shares / self.per_second);
                *remainder = shares % self.per_second;
                due_ns
            }
            Process::Poisson { rng, mean_ns } => {
                let wait: f64 = rng.sample(Exp1);
                self.at_ns = self
                    .at_ns
                    .saturating_add((wait * *mean_ns * units as f64).round() as u64);
                self.at_ns
            }
        }
    }
}
