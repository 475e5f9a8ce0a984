//! Ranges of option values. The JSON schema of a job and the plan use the same ranges.

use std::ops::RangeInclusive;

/// Largest integer that every JSON parser represents exactly.
pub const MAX_JSON_INTEGER: u64 = (1 << 53) - 1;
/// Maximum number of workers per run. Each has a thread, a ring and histograms.
pub const MAX_WORKERS: u32 = 1024;
/// Maximum block size. The kernel transfers at most 2 GiB minus one page per system call
/// (MAX_RW_COUNT).
pub const MAX_BLOCK_BYTES: u64 = 1 << 30;
/// Maximum number of files per job. All files stay open, so this is below the usual hard limit on
/// file descriptors (1,048,576).
pub const MAX_FILES: u64 = 4096;
/// Generated file names append `.worker.file` and must not exceed NAME_MAX (255).
pub const MAX_NAME_BYTES: usize = 200;
/// Maximum number of I/Os in flight per worker: IORING_MAX_ENTRIES.
pub const MAX_IODEPTH: u32 = 32_768;

/// Values from `min` to `max`: numbers, bytes, or µs for times.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct ValueRange {
    pub min: i64,
    pub max: u64,
    /// Whether 0 is also a value; it disables the option.
    pub or_zero: bool,
    /// Values must be multiples of this number.
    pub step: u64,
}

impl ValueRange {
    const fn new(range: RangeInclusive<i128>) -> Self {
        Self {
            min: *range.start() as i64,
            max: *range.end() as u64,
            or_zero: false,
            step: 1,
        }
    }

    const fn or_zero(self) -> Self {
        Self {
            or_zero: true,
            ..self
        }
    }

    const fn in_steps_of(self, step: u64) -> Self {
        Self { step, ..self }
    }

    pub fn contains(self, value: impl Into<i128>) -> bool {
        let value = value.into();
        let is_between = (i128::from(self.min)..=i128::from(self.max)).contains(&value);
        (is_between && value % i128::from(self.step) == 0) || (self.or_zero && value == 0)
    }
}

const MS: i128 = 1_000;
const SECOND: i128 = 1_000_000;
const HOUR: i128 = 3600 * SECOND;
const DAY: i128 = 24 * HOUR;

pub(super) const U32: ValueRange = ValueRange::new(0..=u32::MAX as i128);
pub(super) const U64: ValueRange = ValueRange::new(0..=u64::MAX as i128);
pub(super) const I32: ValueRange = ValueRange::new(i32::MIN as i128..=i32::MAX as i128);
pub(super) const PERCENT: ValueRange = ValueRange::new(0..=100);

/// Range of numbers and sizes in reports.
pub const JSON_INTEGER: ValueRange = ValueRange::new(0..=MAX_JSON_INTEGER as i128);
pub const POSITIVE: ValueRange = ValueRange::new(1..=MAX_JSON_INTEGER as i128);
pub const POSITIVE_U32: ValueRange = ValueRange::new(1..=u32::MAX as i128);
/// In bytes.
pub const NAME: ValueRange = ValueRange::new(1..=MAX_NAME_BYTES as i128);
pub const NRFILES: ValueRange = ValueRange::new(1..=MAX_FILES as i128);
pub const BLOCK: ValueRange = ValueRange::new(1..=MAX_BLOCK_BYTES as i128);
pub const NUMJOBS: ValueRange = ValueRange::new(1..=MAX_WORKERS as i128);
pub const IODEPTH: ValueRange = ValueRange::new(1..=MAX_IODEPTH as i128);
/// See setpriority(2).
pub const NICE: ValueRange = ValueRange::new(-20..=19);
/// See ioprio_set(2).
pub const PRIO: ValueRange = ValueRange::new(0..=7);
pub const PRIO_HINT: ValueRange = ValueRange::new(0..=1023);
pub const PRIOCLASS: ValueRange = ValueRange::new(0..=3);
/// A worker cannot stop while it polls, and a run must stop within a second.
pub const SPIN: ValueRange = ValueRange::new(0..=SECOND);
/// Bounds times so that their sums in ns do not overflow.
pub const TIME: ValueRange = ValueRange::new(0..=365 * DAY);
pub const RUNTIME: ValueRange = ValueRange::new(MS..=365 * DAY).or_zero();
/// Periods for minimum rates in ms. Shorter ones would contain too few I/Os.
pub const RATE_CYCLE: ValueRange = ValueRange::new(100..=3_600_000);
/// A window of one second has a single value, which cannot differ from the mean; fio 3.42 also
/// rejects it. The maximum bounds the memory for a window.
pub const STEADY_STATE_WINDOW: ValueRange = ValueRange::new(2 * SECOND..=DAY)
    .or_zero()
    .in_steps_of(SECOND as u64);
/// fio also rejects shorter intervals.
pub const STEADY_STATE_INTERVAL: ValueRange =
    ValueRange::new(SECOND..=HOUR).in_steps_of(SECOND as u64);
/// The minimum exceeds the pauses of healthy devices.
pub const OVERLOAD_TIME: ValueRange = ValueRange::new(SECOND..=HOUR).or_zero();

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_may_contain_zero_and_have_steps() {
        let window = |us: i64| STEADY_STATE_WINDOW.contains(us);
        assert!(window(0) && window(2_000_000) && window(86_400_000_000));
        assert!(!window(1_000_000) && !window(2_500_000) && !window(86_401_000_000));
        assert!(NICE.contains(-20) && !NICE.contains(-21) && !NICE.contains(20));
        assert!(RUNTIME.contains(0) && !RUNTIME.contains(999) && RUNTIME.contains(1000));
        assert!(U64.contains(u64::MAX) && !JSON_INTEGER.contains(1_u64 << 53));
    }
}
