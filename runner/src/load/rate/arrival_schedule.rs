//! Arrival schedule of one direction, linear or Poisson. Delays do not affect the schedule.
//!
//! The linear schedule counts whole ns and carries the remainder, so it does not drift; its first
//! I/O is due at 0. The Poisson schedule draws the time before each I/O from an exponential
//! distribution with the linear schedule's interval as its mean (fio backend.c, `usec_for_io`; fio
//! uses the smallest block size, and Leadline uses the length of the I/O).

use crate::load::pattern::io::Io;
use leadline_protocol::{job::keyword::RateProcess, plan::job::ResolvedJob};
use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};
use rand_distr::Exp1;

pub(crate) const NS_PER_SECOND: u64 = 1_000_000_000;
/// Rates are capped at this value. With I/Os of at most 4 GiB, the arithmetic then stays below
/// 2^64.
pub(crate) const MAX_RATE: u64 = 1 << 62;
/// Multipliers that give each worker and direction a seed that differs from the seeds for offsets
/// and data: odd numbers with irregular bits.
const WORKER_STRIDE: u64 = 0x9fb2_1c65_1e98_df25;
const DIRECTION_STRIDE: u64 = 0xc13f_a9a9_02a6_328f;

#[derive(Clone, Debug)]
pub(crate) struct ArrivalSchedule {
    unit: Unit,
    per_second: u64,
    /// Due time of the next I/O (linear) or of the last I/O (Poisson), in ns since the worker
    /// started.
    at_ns: u64,
    process: Process,
}

/// Unit of a rate.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Bytes,
    Ios,
}

#[derive(Clone, Debug)]
enum Process {
    Linear {
        /// Fraction of a nanosecond, in units of 1/`per_second` ns.
        remainder: u64,
    },
    Poisson {
        rng: Xoshiro256PlusPlus,
        /// Mean interval per unit, in ns.
        mean_ns: f64,
    },
}

impl ArrivalSchedule {
    /// Reads, writes and trims, indexed by `Kind`; `None` for directions that have no rate or are
    /// not used.
    pub(crate) fn per_direction(job: &ResolvedJob, worker: u32) -> [Option<Self>; 3] {
        let rw = job.pattern.rw;
        let bytes = &job.timing.rate;
        let ios = &job.timing.rate_iops;
        let directions = [
            (rw.reads(), bytes.read, ios.read),
            (rw.writes(), bytes.write, ios.write),
            (rw.trims(), bytes.trim, ios.trim),
        ];
        let worker_seed = WORKER_STRIDE.wrapping_mul(u64::from(worker) + 1);
        let mut seed = job.pattern.randseed.wrapping_add(worker_seed);
        directions.map(|(is_used, bytes, ios)| {
            let direction_seed = seed;
            seed = seed.wrapping_add(DIRECTION_STRIDE);
            let (unit, per_second) = match bytes {
                Some(bytes) => (Unit::Bytes, bytes),
                None => (Unit::Ios, ios?),
            };
            (is_used && per_second > 0).then(|| {
                let process = job.timing.rate_process;
                Self::new(unit, per_second.min(MAX_RATE), process, direction_seed)
            })
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

    /// Due time of this I/O; advances the schedule.
    pub(crate) fn next(&mut self, io: &Io) -> u64 {
        let units = match self.unit {
            Unit::Bytes => u64::from(io.len),
            Unit::Ios => 1,
        };
        match &mut self.process {
            Process::Linear { remainder } => {
                let due_ns = self.at_ns;
                let scaled_ns = units * NS_PER_SECOND + *remainder;
                self.at_ns = self.at_ns.saturating_add(scaled_ns / self.per_second);
                *remainder = scaled_ns % self.per_second;
                due_ns
            }
            Process::Poisson { rng, mean_ns } => {
                let sample: f64 = rng.sample(Exp1);
                let interval_ns = (sample * *mean_ns * units as f64).round() as u64;
                self.at_ns = self.at_ns.saturating_add(interval_ns);
                self.at_ns
            }
        }
    }
}
