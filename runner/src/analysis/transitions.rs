//! When a direction turned from the device to memory or back. Fed with the samples one by one, it holds what each issued
//! against what storage moved meanwhile. What answers must hold for a while before it counts as a turn: readahead and
//! writeback come in bursts.

use leadline_protocol::evidence::{Direction, ServedBy, Transition};
use leadline_protocol::sample::Sample;

/// From this share of the issued bytes on, storage answered.
const DEVICE_SHARE: f64 = 0.5;
/// Up to this share, memory did; what is left is metadata.
const MEMORY_SHARE: f64 = 0.05;
/// Fewer I/Os in a sample tell nothing.
const FEWEST_IOS: u64 = 8;
/// How long reads must be answered otherwise, in ms: longer than a burst of readahead.
const READS_HOLD_MS: f64 = 300.0;
/// How long writes must be, in ms: longer than a burst of writeback.
const WRITES_HOLD_MS: f64 = 1000.0;
/// Windows are a little shorter than their grid at times.
const GRID_SLACK_MS: f64 = 20.0;
/// The most transitions that are kept: a run that goes back and forth has no story after so many.
const MOST_TURNS: usize = 32;

/// What one direction did in one sample.
#[derive(Clone, Copy, Debug)]
struct Window {
    begin_ms: f64,
    end_ms: f64,
    ios: u64,
    issued: u64,
    moved: Option<u64>,
}

impl Window {
    fn answered(self) -> Option<ServedBy> {
        let share = self.moved? as f64 / self.issued.max(1) as f64;
        match share {
            _ if self.ios < FEWEST_IOS => None,
            share if share >= DEVICE_SHARE => Some(ServedBy::Device),
            share if share <= MEMORY_SHARE => Some(ServedBy::Memory),
            _ => None,
        }
    }
}

/// What answers one direction, and since when something else does.
#[derive(Clone, Copy, Debug, Default)]
struct Course {
    settled: Option<ServedBy>,
    other: Option<(ServedBy, f64)>,
}

impl Course {
    /// The turn that this window makes certain: what answered before, what answers now, and since when.
    fn push(&mut self, window: Window, hold_ms: f64) -> Option<(ServedBy, ServedBy, f64)> {
        let Some(answered) = window
            .answered()
            .filter(|answered| self.settled != Some(*answered))
        else {
            self.other = None;
            return None;
        };
        let since_ms = self
            .other
            .filter(|other| other.0 == answered)
            .map_or(window.begin_ms, |other| other.1);
        self.other = Some((answered, since_ms));
        // What answers first need not hold: a run may have left the device after its first sample.
        if self.settled.is_some() && window.end_ms - since_ms < hold_ms - GRID_SLACK_MS {
            return None;
        }
        let before = self.settled.replace(answered);
        before.map(|before| (before, answered, since_ms))
    }
}

/// The transitions so far.
#[derive(Debug, Default)]
pub struct TransitionDetector {
    reads: Course,
    writes: Course,
    transitions: Vec<Transition>,
}

impl TransitionDetector {
    /// One more sample of the measured window, which ended at `end_ms`.
    pub fn push(&mut self, end_ms: f64, sample: &Sample) {
        let begin_ms = end_ms - sample.window_ms;
        let own_reads = sample.storage.map(|storage| storage.read_bytes);
        let read = own_reads.or(sample.device.map(|device| device.read_bytes));
        let written = sample.device.map(|device| device.write_bytes);
        let reads = Window {
            begin_ms,
            end_ms,
            ios: sample.read.ios,
            issued: sample.read.bytes,
            moved: read,
        };
        let writes = Window {
            begin_ms,
            end_ms,
            ios: sample.write.ios,
            issued: sample.write.bytes,
            moved: written,
        };
        let turned = [
            (Direction::Read, self.reads.push(reads, READS_HOLD_MS)),
            (Direction::Write, self.writes.push(writes, WRITES_HOLD_MS)),
        ];
        for (direction, turn) in turned {
            if let Some((from, to, t_ms)) = turn.filter(|_| self.transitions.len() < MOST_TURNS) {
                self.transitions.push(Transition {
                    t_ms,
                    direction,
                    from,
                    to,
                });
            }
        }
    }

    /// All transitions in order.
    pub fn finish(mut self) -> Vec<Transition> {
        self.transitions
            .sort_by(|one, other| one.t_ms.total_cmp(&other.t_ms));
        self.transitions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::counters::{DeviceCounts, IoCounts, StorageIo};
    use leadline_protocol::phase::Phase;

    fn sample(
        window_ms: f64,
        read: (u64, u64),
        fetched: Option<u64>,
        write: (u64, u64),
        written: Option<u64>,
    ) -> Sample {
        let flow = |(ios, bytes)| IoCounts {
            ios,
            bytes,
            lat_ns: Vec::new(),
        };
        Sample {
            phase: Phase::Measure,
            window_ms,
            read: flow(read),
            write: flow(write),
            trim: IoCounts::default(),
            sync: IoCounts::default(),
            in_flight: 0,
            errors: 0,
            device: written.map(|write_bytes| DeviceCounts {
                write_bytes,
                read_bytes: 7,
                ..DeviceCounts::default()
            }),
            physical_devices: None,
            memory: None,
            cpu: None,
            pressure: None,
            storage: fetched.map(|read_bytes| StorageIo {
                read_bytes,
                ..StorageIo::default()
            }),
            residency: None,
            gauge: None,
        }
    }

    /// Samples of 100 ms with ten I/Os each; of each, the share that storage moved in percent.
    fn check(direction: Direction, shares: &[u64], want: &[(f64, ServedBy)]) {
        let mut turning = TransitionDetector::default();
        for (index, share) in shares.iter().enumerate() {
            let moved = Some(share * 400);
            let sample = match direction {
                Direction::Read => sample(100.0, (10, 40_000), moved, (0, 0), None),
                Direction::Write => sample(100.0, (0, 0), None, (10, 40_000), moved),
            };
            turning.push((index + 1) as f64 * 100.0, &sample);
        }
        let found: Vec<(f64, ServedBy)> = turning
            .finish()
            .into_iter()
            .map(|turn| (turn.t_ms, turn.to))
            .collect();
        assert_eq!(found, want, "{shares:?}");
    }

    #[test]
    fn reads_turn_when_the_other_answer_holds() {
        use ServedBy::{Device, Memory};
        check(Direction::Read, &[], &[]);
        check(
            Direction::Read,
            &[100, 100, 100, 90, 0, 0, 0, 0],
            &[(400.0, Memory)],
        );
        check(
            Direction::Read,
            &[100, 100, 100, 40, 20, 10, 3, 0, 0],
            &[(600.0, Memory)],
        );
        check(Direction::Read, &[100, 100, 100, 0, 0, 100, 0, 0, 100], &[]);
        check(Direction::Read, &[0; 20], &[]);
        check(Direction::Read, &[80, 0, 0, 0, 0], &[(100.0, Memory)]);
        check(
            Direction::Read,
            &[0, 0, 0, 60, 70, 80, 2, 2, 2],
            &[(300.0, Device), (600.0, Memory)],
        );
    }

    #[test]
    fn writes_take_longer_to_turn() {
        use ServedBy::{Device, Memory};
        let course = |parts: &[(u64, usize)]| {
            parts
                .iter()
                .flat_map(|&(share, times)| vec![share; times])
                .collect::<Vec<_>>()
        };
        check(Direction::Write, &course(&[(0, 12), (90, 5), (0, 12)]), &[]);
        check(
            Direction::Write,
            &course(&[(0, 12), (90, 12), (3, 10)]),
            &[(1200.0, Device), (2400.0, Memory)],
        );
        let back_and_forth = course(&[(0, 10), (90, 10)].repeat(30));
        let want = (1..=MOST_TURNS).map(|turn| {
            (
                turn as f64 * 1000.0,
                if turn % 2 == 1 { Device } else { Memory },
            )
        });
        check(Direction::Write, &back_and_forth, &want.collect::<Vec<_>>());
    }

    #[test]
    fn without_counters_or_ios_nothing_turns() {
        let mut turning = TransitionDetector::default();
        for (index, (ios, moved)) in [
            (100, Some(400_000)),
            (3, Some(0)),
            (0, Some(0)),
            (100, None),
            (100, Some(300_000)),
            (100, None),
        ]
        .into_iter()
        .enumerate()
        {
            turning.push(
                (index + 1) as f64 * 1000.0,
                &sample(1000.0, (ios, ios * 4000), moved, (0, 0), None),
            );
        }
        assert!(turning.finish().is_empty());
    }

    #[test]
    fn a_coarse_grid_turns_with_one_sample() {
        let mut turning = TransitionDetector::default();
        for (index, fetched) in [400_000, 400_000, 0, 0].into_iter().enumerate() {
            turning.push(
                (index + 1) as f64 * 1000.0,
                &sample(1000.0, (100, 400_000), Some(fetched), (0, 0), None),
            );
        }
        assert_eq!(
            turning
                .finish()
                .iter()
                .map(|turn| turn.t_ms)
                .collect::<Vec<_>>(),
            [2000.0]
        );
    }
}
