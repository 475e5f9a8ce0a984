//! When the next I/O is due: `rate`, `rate_iops` and `thinktime`. Pure; time comes in as a number.
//!
//! A rate is a schedule that is fixed in advance: I/O n of a direction is due when everything before it would have
//! taken its time, whatever really happened, so that a job that was held up catches up, as in fio. The schedule counts
//! in whole ns and carries the remainder, so that it does not drift. Not here: `startdelay` and `runtime` (the loop).

use crate::pattern::{Io, Kind};
use crate::plan::ResolvedJob;

const NS_PER_SECOND: u64 = 1_000_000_000;
const NS_PER_US: u64 = 1000;
/// The largest rate that is told from no limit at all; with an I/O of at most 4 GiB the arithmetic stays below 2^64.
const FASTEST: u64 = 1 << 62;

/// When the I/Os of one clone are due.
#[derive(Clone, Debug)]
pub struct Pace {
    /// By `Kind`: reads, writes, trims.
    schedules: [Option<Schedule>; 3],
    pause: Option<Pause>,
}

/// What is counted against a rate.
#[derive(Clone, Copy, Debug)]
enum Unit {
    Bytes,
    Ios,
}

/// The timetable of one direction.
#[derive(Clone, Debug)]
struct Schedule {
    unit: Unit,
    per_second: u64,
    /// When the next I/O is due, in ns since the clone began.
    next_ns: u64,
    /// What is left over after whole ns, in 1/`per_second` ns.
    remainder: u64,
}

/// A pause after every so many I/Os.
#[derive(Clone, Debug)]
struct Pause {
    ns: u64,
    every: u32,
    issued: u32,
}

impl Pace {
    /// The pace of a clone; `None` when nothing limits it. Rates are per clone.
    pub fn new(job: &ResolvedJob, _clone: u32) -> Option<Self> {
        let (reads, writes, trims) = (job.rw.reads(), job.rw.writes(), job.rw.trims());
        let (bytes, ios) = (&job.rate, &job.rate_iops);
        let schedules = [
            Schedule::of(reads, bytes.read, ios.read),
            Schedule::of(writes, bytes.write, ios.write),
            Schedule::of(trims, bytes.trim, ios.trim),
        ];
        let pause = (job.thinktime_us > 0).then(|| Pause {
            ns: job.thinktime_us.saturating_mul(NS_PER_US),
            every: job.thinktime_blocks.max(1),
            issued: 0,
        });
        (pause.is_some() || schedules.iter().any(Option::is_some)).then_some(Self { schedules, pause })
    }

    /// When this I/O may be submitted, in ns since the clone began; what lies before `now_ns` is due at once. Must be
    /// asked exactly once for each I/O, in order, when the one before was submitted. Syncs are always due.
    pub fn due_ns(&mut self, io: &Io, now_ns: u64) -> u64 {
        if matches!(io.kind, Kind::Sync | Kind::Datasync) {
            return now_ns;
        }
        let scheduled = self.schedules[io.kind as usize].as_mut().map_or(0, |schedule| schedule.take(io));
        let rested = self.pause.as_mut().map_or(0, |pause| pause.take(now_ns));
        scheduled.max(rested)
    }
}

impl Schedule {
    fn of(used: bool, bytes: Option<u64>, ios: Option<u64>) -> Option<Self> {
        let (unit, per_second) = match (bytes, ios) {
            (Some(bytes), _) => (Unit::Bytes, bytes),
            (None, ios) => (Unit::Ios, ios?),
        };
        (used && per_second > 0).then_some(Self { unit, per_second: per_second.min(FASTEST), next_ns: 0, remainder: 0 })
    }

    /// When this I/O is due; the one after it is due when this one has taken its time.
    fn take(&mut self, io: &Io) -> u64 {
        let due_ns = self.next_ns;
        let units = match self.unit {
            Unit::Bytes => u64::from(io.len),
            Unit::Ios => 1,
        };
        let shares = units * NS_PER_SECOND + self.remainder;
        self.next_ns = self.next_ns.saturating_add(shares / self.per_second);
        self.remainder = shares % self.per_second;
        due_ns
    }
}

impl Pause {
    /// When the next I/O is due: after a full round of `every` I/Os, one pause from now.
    fn take(&mut self, now_ns: u64) -> u64 {
        let rest = self.issued == self.every;
        self.issued = if rest { 1 } else { self.issued + 1 };
        if rest { now_ns.saturating_add(self.ns) } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;
    use crate::plan::fixture::{resolved, same};

    fn pace(different: Value) -> Option<Pace> {
        Pace::new(&resolved(different), 0)
    }

    fn io(kind: Kind, len: u32) -> Io {
        Io { offset: 0, len, target: 0, kind }
    }

    /// Due times of 4 KiB reads when nothing takes time.
    fn dues(different: Value, count: usize) -> Vec<u64> {
        let mut pace = pace(different).expect("a limit");
        let mut now = 0;
        (0..count)
            .map(|_| {
                now = pace.due_ns(&io(Kind::Read, 4096), now).max(now);
                now
            })
            .collect()
    }

    #[test]
    fn nothing_limits_a_plain_job() {
        assert!(pace(json!({})).is_none());
        assert!(
            pace(json!({"rw": "read", "rate": {"read": null, "write": 1000, "trim": 1000}})).is_none(),
            "the job does not write"
        );
    }

    #[test]
    fn rates_are_timetables() {
        let ms = |different, want: &[u64]| {
            assert_eq!(dues(different, want.len()), want.iter().map(|ms| ms * 1_000_000).collect::<Vec<_>>())
        };
        ms(json!({"rate_iops": same(&json!(1000))}), &[0, 1, 2, 3]);
        ms(json!({"rate_iops": same(&json!(1))}), &[0, 1000, 2000]);
        ms(json!({"rate": same(&json!(4096))}), &[0, 1000, 2000]);
        ms(json!({"thinktime_us": 5000}), &[0, 5, 10, 15]);
        ms(json!({"thinktime_us": 5000, "thinktime_blocks": 3}), &[0, 0, 0, 5, 5, 5, 10]);
        ms(json!({"thinktime_us": 5000, "thinktime_blocks": 2, "rate_iops": same(&json!(500))}), &[0, 2, 7, 7, 12, 12]);
    }

    #[test]
    fn directions_have_timetables_of_their_own() {
        let mut pace = pace(json!({"rw": "rw", "rate_iops": {"read": 10, "write": 100, "trim": null}})).unwrap();
        let mut due = |kind| pace.due_ns(&io(kind, 4096), 0) / 1_000_000;
        assert_eq!([due(Kind::Read), due(Kind::Write), due(Kind::Write), due(Kind::Read)], [0, 0, 10, 100]);
    }

    #[test]
    fn syncs_are_due_at_once_and_count_for_nothing() {
        let mut pace = pace(json!({"rate_iops": same(&json!(10)), "thinktime_us": 10})).unwrap();
        pace.due_ns(&io(Kind::Read, 4096), 0);
        assert_eq!(pace.due_ns(&io(Kind::Sync, 0), 7), 7);
        assert_eq!(pace.due_ns(&io(Kind::Read, 4096), 7), 100_000_000);
    }

    #[test]
    fn a_late_job_catches_up() {
        let mut pace = pace(json!({"rate_iops": same(&json!(1000))})).unwrap();
        let late: Vec<u64> = (0..5).map(|_| pace.due_ns(&io(Kind::Read, 4096), 1_000_000_000)).collect();
        assert_eq!(late, [0, 1_000_000, 2_000_000, 3_000_000, 4_000_000], "all were due long ago");
    }

    #[test]
    fn a_day_does_not_drift() {
        let per_second = 333;
        let mut pace = pace(json!({"rate_iops": same(&json!(per_second))})).unwrap();
        let ios = per_second * 86_400;
        let last = (0..=ios).map(|_| pace.due_ns(&io(Kind::Read, 4096), 0)).last();
        assert_eq!(last, Some(86_400 * NS_PER_SECOND));
    }

    proptest! {
        #[test]
        fn bytes_before_decide_when_an_io_is_due(per_second in 1u64..u64::MAX, lens in prop::collection::vec(1u32..=1 << 30, 1..200)) {
            let mut pace = pace(json!({"rate": same(&json!(per_second))})).unwrap();
            let mut before = 0u128;
            for len in lens {
                let exact = before * u128::from(NS_PER_SECOND) / u128::from(per_second.min(FASTEST));
                prop_assert_eq!(pace.due_ns(&io(Kind::Read, len), 0), u64::try_from(exact).unwrap_or(u64::MAX));
                before += u128::from(len);
            }
        }
    }
}
