//! Detects when a direction's I/O moves from device to memory or back, based on the I/O shares of
//! consecutive windows. A change must persist, because readahead and writeback are bursty.

use crate::analysis::{sampled_reads::SampledReads, sampled_writes::WriteWindow};
use leadline_protocol::{
    evidence::transition::{Direction, ServedBy, Transition},
    sample::Sample,
};

/// Minimum share of the I/Os for `ServedBy::Device`.
const DEVICE_SHARE: f64 = 0.5;
/// Maximum share for `ServedBy::Memory`. A share up to this value may be metadata.
const MEMORY_SHARE: f64 = 0.05;
/// Windows with fewer I/Os are ignored.
const MIN_IOS: u64 = 8;
/// How long a change in reads must persist, in ms: longer than a readahead burst.
const MIN_READ_MS: f64 = 300.0;
/// How long a change in writes must persist, in ms: two windows, because one may contain a burst of
/// writeback.
const MIN_WRITE_MS: f64 = 2000.0;
/// Sample windows can be slightly shorter than the sampling interval.
const INTERVAL_TOLERANCE_MS: f64 = 20.0;
/// Maximum number of transitions recorded.
const MAX_TRANSITIONS: usize = 32;

/// One direction in one window.
#[derive(Clone, Copy, Debug)]
struct DirectionSample {
    begin_ms: f64,
    end_ms: f64,
    ios: u64,
    /// Share that the device served (0-1); `None` if unknown.
    device_share: Option<f64>,
}

impl DirectionSample {
    fn from_reads(end_ms: f64, sample: &Sample, sampled: Option<SampledReads>) -> Self {
        let device_reads = sample.device.map(|device| device.read_bytes);
        let own_reads = sample.storage.map(|storage| storage.read_bytes);
        let issued = sample.read.bytes.max(1) as f64;
        Self {
            begin_ms: end_ms - sample.window_ms,
            end_ms,
            ios: sample.read.ios,
            device_share: match sampled {
                Some(sampled) => sampled.shares().ok().map(|shares| shares.device),
                None => own_reads
                    .or(device_reads)
                    .map(|moved| moved as f64 / issued),
            },
        }
    }

    /// `None` if there are too few I/Os, or if the share is unknown or between the thresholds.
    fn served_by(self) -> Option<ServedBy> {
        let share = self.device_share?;
        if self.ios < MIN_IOS {
            None
        } else if share >= DEVICE_SHARE {
            Some(ServedBy::Device)
        } else if share <= MEMORY_SHARE {
            Some(ServedBy::Memory)
        } else {
            None
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct DirectionState {
    confirmed: Option<ServedBy>,
    /// A change that has not persisted long enough, with its start in ms.
    candidate: Option<(ServedBy, f64)>,
}

impl DirectionState {
    /// Once a change is confirmed, returns the previous layer, the current layer, and the time of
    /// the change.
    fn push(&mut self, sample: DirectionSample, min_ms: f64) -> Option<(ServedBy, ServedBy, f64)> {
        let served_by = sample.served_by();
        let Some(current) = served_by.filter(|current| self.confirmed != Some(*current)) else {
            self.candidate = None;
            return None;
        };
        let since_ms = match self.candidate {
            Some((candidate, since_ms)) if candidate == current => since_ms,
            _ => sample.begin_ms,
        };
        self.candidate = Some((current, since_ms));
        // The first layer does not need to persist, because the change may follow the first sample.
        let persisted_ms = sample.end_ms - since_ms;
        if self.confirmed.is_some() && persisted_ms < min_ms - INTERVAL_TOLERANCE_MS {
            return None;
        }
        let previous = self.confirmed.replace(current)?;
        Some((previous, current, since_ms))
    }
}

#[derive(Debug, Default)]
pub(crate) struct TransitionDetector {
    reads: DirectionState,
    writes: DirectionState,
    transitions: Vec<Transition>,
}

impl TransitionDetector {
    /// `end_ms`: end of the sample, in ms since the start of the run. `reads`: lookups of its
    /// reads; `None` if reads are not looked up. `writes`: a window that ended with this sample.
    pub(crate) fn push(
        &mut self,
        end_ms: f64,
        sample: &Sample,
        reads: Option<SampledReads>,
        writes: Option<WriteWindow>,
    ) {
        let read = self.reads.push(
            DirectionSample::from_reads(end_ms, sample, reads),
            MIN_READ_MS,
        );
        let write = writes.and_then(|window| {
            let window = DirectionSample {
                begin_ms: window.begin_ms,
                end_ms: window.end_ms,
                ios: window.ios,
                device_share: window.device_share,
            };
            self.writes.push(window, MIN_WRITE_MS)
        });
        for (direction, change) in [(Direction::Read, read), (Direction::Write, write)] {
            let Some((from, to, t_ms)) = change else {
                continue;
            };
            if self.transitions.len() < MAX_TRANSITIONS {
                self.transitions.push(Transition {
                    t_ms,
                    direction,
                    from,
                    to,
                });
            }
        }
    }

    /// The transitions, sorted by time.
    pub(crate) fn finish(mut self) -> Vec<Transition> {
        self.transitions
            .sort_by(|one, other| one.t_ms.total_cmp(&other.t_ms));
        self.transitions
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::counters::{IoCounts, StorageIo};
    use leadline_protocol::phase::Phase;

    fn sample(window_ms: f64, read: (u64, u64), fetched: Option<u64>) -> Sample {
        let counts = |(ios, bytes)| IoCounts {
            ios,
            bytes,
            lat_ns: Vec::new(),
        };
        Sample {
            phase: Phase::Measure,
            window_ms,
            read: counts(read),
            write: IoCounts::default(),
            trim: IoCounts::default(),
            sync: IoCounts::default(),
            in_flight: 0,
            silent_ms: None,
            errors: 0,
            device: None,
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
            steady_states: Vec::new(),
        }
    }

    /// `shares`: percentage that the device served in each window: 100 ms for reads, 1 s for
    /// writes.
    fn check(direction: Direction, shares: &[u64], want: &[(f64, ServedBy)]) {
        let mut detector = TransitionDetector::default();
        for (index, share) in shares.iter().enumerate() {
            let end_ms = (index + 1) as f64 * direction.select(100.0, 1000.0);
            match direction {
                Direction::Read => {
                    let sample = sample(100.0, (10, 40_000), Some(share * 400));
                    detector.push(end_ms, &sample, None, None);
                }
                Direction::Write => {
                    let window = WriteWindow {
                        begin_ms: end_ms - 1000.0,
                        end_ms,
                        ios: 10,
                        device_share: Some(*share as f64 / 100.0),
                    };
                    detector.push(end_ms, &sample(100.0, (0, 0), None), None, Some(window));
                }
            }
        }
        let transitions: Vec<(f64, ServedBy)> = detector
            .finish()
            .into_iter()
            .map(|transition| (transition.t_ms, transition.to))
            .collect();
        assert_eq!(transitions, want, "{shares:?}");
    }

    #[test]
    fn reads_change_after_300_ms() {
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

    /// The kernel reads 25 KiB per miss, so the device transfers more bytes than were issued
    /// although memory serves most I/Os.
    #[test]
    fn readahead_does_not_hide_a_change_to_memory() {
        let mut detector = TransitionDetector::default();
        let windows = [100, 100, 100, 4, 3, 4, 2, 3];
        for (index, misses) in windows.into_iter().enumerate() {
            let moved = Some(misses * 25_000);
            let window = sample(100.0, (100, 400_000), moved);
            let sampled = SampledReads {
                samples: 50,
                ios: [100 - misses, 0, 0, misses, 0],
            };
            detector.push((index + 1) as f64 * 100.0, &window, Some(sampled), None);
        }
        let transitions = detector.finish();
        assert_eq!(transitions.len(), 1, "{transitions:?}");
        assert_eq!(
            (transitions[0].t_ms, transitions[0].to),
            (300.0, ServedBy::Memory)
        );
    }

    #[test]
    fn windows_with_few_lookups_are_ignored() {
        let mut detector = TransitionDetector::default();
        for index in 0..10 {
            let moved = Some(if index < 5 { 400_000 } else { 0 });
            let window = sample(100.0, (100, 400_000), moved);
            let sampled = SampledReads {
                samples: 3,
                ios: [0, 0, 0, 100, 0],
            };
            detector.push(f64::from(index + 1) * 100.0, &window, Some(sampled), None);
        }
        assert!(detector.finish().is_empty());
    }

    #[test]
    fn a_write_transition_takes_two_windows() {
        use ServedBy::{Device, Memory};
        let check = |shares: &[u64], want: &[_]| check(Direction::Write, shares, want);
        check(&[0, 0, 0, 90, 0, 0, 0], &[]);
        check(
            &[0, 0, 0, 90, 90, 90, 3, 3],
            &[(3000.0, Device), (6000.0, Memory)],
        );
        let back_and_forth = [0, 0, 90, 90].repeat(30);
        let want = (1..=MAX_TRANSITIONS).map(|number| {
            (
                number as f64 * 2000.0,
                if number % 2 == 1 { Device } else { Memory },
            )
        });
        check(&back_and_forth, &want.collect::<Vec<_>>());
    }

    #[test]
    fn write_windows_without_shares_or_ios_are_ignored() {
        let mut detector = TransitionDetector::default();
        for (index, (ios, device_share)) in [
            (100, Some(1.0)),
            (3, Some(0.0)),
            (100, None),
            (100, Some(0.2)),
            (100, Some(1.0)),
        ]
        .into_iter()
        .enumerate()
        {
            let end_ms = (index + 1) as f64 * 2000.0;
            let window = WriteWindow {
                begin_ms: end_ms - 2000.0,
                end_ms,
                ios,
                device_share,
            };
            let no_reads = sample(100.0, (0, 0), None);
            detector.push(end_ms, &no_reads, None, Some(window));
            detector.push(end_ms + 100.0, &no_reads, None, None);
        }
        assert!(detector.finish().is_empty());
    }

    #[test]
    fn samples_without_counters_or_ios_are_ignored() {
        let mut detector = TransitionDetector::default();
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
            detector.push(
                (index + 1) as f64 * 1000.0,
                &sample(1000.0, (ios, ios * 4000), moved),
                None,
                None,
            );
        }
        assert!(detector.finish().is_empty());
    }

    #[test]
    fn one_long_sample_is_enough() {
        let mut detector = TransitionDetector::default();
        for (index, fetched) in [400_000, 400_000, 0, 0].into_iter().enumerate() {
            detector.push(
                (index + 1) as f64 * 1000.0,
                &sample(1000.0, (100, 400_000), Some(fetched)),
                None,
                None,
            );
        }
        assert_eq!(
            detector
                .finish()
                .iter()
                .map(|transition| transition.t_ms)
                .collect::<Vec<_>>(),
            [2000.0]
        );
    }
}
