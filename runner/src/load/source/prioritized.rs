//! A source that assigns separate priorities to shares of the I/Os (`cmdprio_percentage`,
//! `cmdprio_bssplit`), and records latencies by priority.

use crate::load::{
    histogram::Histogram,
    pattern::{
        io::{Io, Kind},
        shuffle_bag::ShuffleBag,
    },
    slot_priorities::SlotPriorities,
    source::{Completed, DRAW, Source},
    stats::{PriorityLatencies, WorkerStats},
};
use leadline_protocol::plan::command_priorities::{
    CommandPriorities, CommandPriority, PriorityShare,
};
use rand::rngs::Xoshiro256PlusPlus;
use std::sync::Arc;

pub(crate) struct Prioritized<S> {
    source: S,
    read: Mix,
    write: Mix,
    rng: Xoshiro256PlusPlus,
    slots: Arc<SlotPriorities>,
    /// Priorities of the due I/Os, and the number of these I/Os that were submitted.
    due: Vec<ChosenPriority>,
    submitted: usize,
    /// By slot.
    in_flight: Box<[ChosenPriority]>,
}

/// The priority chosen for an I/O.
#[derive(Clone, Copy, Default)]
struct ChosenPriority {
    /// Index in the statistics; `None` if the direction has no priorities.
    number: Option<u8>,
    value: u16,
}

/// One direction's priorities.
struct Mix {
    /// The first entry is the priority of all other I/Os.
    priorities: Vec<CommandPriority>,
    sizes: Vec<SizeMix>,
}

/// Shares of the priorities among I/Os of one size.
struct SizeMix {
    /// `None` for all sizes.
    bytes: Option<u64>,
    bag: ShuffleBag,
    /// Indexes in `Mix::priorities`; the last one is 0.
    numbers: Vec<u8>,
}

/// Pairs of a percentage and the index of a priority.
type Entries = Vec<(u8, u8)>;

impl<S> Prioritized<S> {
    /// Enables latencies by priority in `stats`. `other`: the worker's priority.
    pub(crate) fn new(
        source: S,
        priorities: &CommandPriorities,
        other: CommandPriority,
        rng: Xoshiro256PlusPlus,
        slots: (Arc<SlotPriorities>, usize),
        stats: &WorkerStats,
    ) -> Self {
        let read = Mix::new(&priorities.read, other);
        let write = Mix::new(&priorities.write, other);
        for (kind, mix) in [(Kind::Read, &read), (Kind::Write, &write)] {
            if mix.is_used() {
                stats.of(kind).priorities.get_or_init(|| mix.latencies());
            }
        }
        Self {
            source,
            read,
            write,
            rng,
            slots: slots.0,
            due: Vec::with_capacity(DRAW),
            submitted: 0,
            in_flight: vec![ChosenPriority::default(); slots.1].into(),
        }
    }

    fn choose(&mut self, io: &Io) -> ChosenPriority {
        let mix = match io.kind {
            Kind::Read => &mut self.read,
            Kind::Write => &mut self.write,
            _ => return ChosenPriority::default(),
        };
        if !mix.is_used() {
            return ChosenPriority::default();
        }
        let number = mix.draw(u64::from(io.len), &mut self.rng);
        ChosenPriority {
            number: Some(number),
            // All other I/Os have the thread's priority.
            value: match number {
                0 => 0,
                _ => mix.priorities[usize::from(number)].value(),
            },
        }
    }
}

impl Mix {
    fn new(shares: &[PriorityShare], other: CommandPriority) -> Self {
        let mut priorities = vec![other];
        let mut sizes: Vec<(Option<u64>, Entries)> = Vec::new();
        for share in shares {
            // A share with the same priority as the other I/Os is counted with them, as in fio.
            let found = priorities.iter().position(|found| *found == share.priority);
            let number = found.unwrap_or(priorities.len());
            if number == priorities.len() {
                priorities.push(share.priority);
            }
            let entry = (share.percent, number as u8);
            match sizes.iter_mut().find(|(bytes, _)| *bytes == share.bytes) {
                Some((_, entries)) => entries.push(entry),
                None => sizes.push((share.bytes, vec![entry])),
            }
        }
        let sizes = sizes.into_iter().map(|(bytes, mut entries)| {
            let sum: u8 = entries.iter().map(|(percent, _)| percent).sum();
            entries.push((100_u8.saturating_sub(sum), 0));
            SizeMix {
                bytes,
                bag: ShuffleBag::new(entries.iter().map(|(percent, _)| *percent)),
                numbers: entries.iter().map(|(_, number)| *number).collect(),
            }
        });
        Self {
            sizes: sizes.collect(),
            priorities,
        }
    }

    fn is_used(&self) -> bool {
        !self.sizes.is_empty()
    }

    fn draw(&mut self, bytes: u64, rng: &mut Xoshiro256PlusPlus) -> u8 {
        let is_for = |size: &&mut SizeMix| size.bytes.is_none_or(|of| of == bytes);
        match self.sizes.iter_mut().find(is_for) {
            Some(size) => size.numbers[size.bag.draw(rng)],
            None => 0,
        }
    }

    fn latencies(&self) -> Box<[PriorityLatencies]> {
        let latencies = self.priorities.iter().map(|priority| PriorityLatencies {
            priority: *priority,
            lat: Histogram::default(),
        });
        latencies.collect()
    }
}

impl<S: Source> Source for Prioritized<S> {
    fn draw(&mut self, out: &mut [Io]) -> usize {
        self.source.draw(out)
    }

    fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize {
        let due = self.source.due(next, since_begin_ns);
        self.due.clear();
        self.submitted = 0;
        for io in &next[..due] {
            let chosen = self.choose(io);
            self.due.push(chosen);
        }
        due
    }

    fn next_due_ns(&self) -> Option<u64> {
        self.source.next_due_ns()
    }

    fn on_submit(&mut self, slot: u32) {
        let chosen = self.due[self.submitted];
        self.submitted += 1;
        self.slots.set(slot, chosen.value);
        self.in_flight[slot as usize] = chosen;
        self.source.on_submit(slot);
    }

    fn on_complete(&mut self, slot: u32, completed: &Completed, stats: &WorkerStats) {
        let number = self.in_flight[slot as usize].number;
        // The ramp does not record latencies by priority.
        let latencies = stats.of(completed.kind).priorities.get();
        if let (Some(number), Some(latencies)) = (number, latencies) {
            latencies[usize::from(number)]
                .lat
                .record(completed.lat_ns, 1);
        }
        self.source.on_complete(slot, completed, stats);
    }

    fn on_error(&mut self, slot: u32) {
        self.source.on_error(slot);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;

    const REALTIME: CommandPriority = CommandPriority {
        class: 1,
        level: 1,
        hint: 0,
    };
    const IDLE: CommandPriority = CommandPriority {
        class: 3,
        level: 2,
        hint: 0,
    };

    /// Reads of each priority among 200 reads of each size.
    fn counts(shares: &[PriorityShare], bytes: u64, other: CommandPriority) -> Vec<usize> {
        let mut mix = Mix::new(shares, other);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let mut counts = vec![0; mix.priorities.len()];
        for _ in 0..200 {
            counts[usize::from(mix.draw(bytes, &mut rng))] += 1;
        }
        counts
    }

    #[test]
    fn shares_are_exact_and_depend_on_the_size() {
        let share = |bytes, percent, priority| PriorityShare {
            bytes,
            percent,
            priority,
        };
        let none = CommandPriority::default();
        let all = [share(None, 20, REALTIME)];
        assert_eq!(counts(&all, 512, none), [160, 40]);
        let split = [
            share(Some(4096), 25, REALTIME),
            share(Some(4096), 70, IDLE),
            share(Some(8192), 100, IDLE),
        ];
        assert_eq!(counts(&split, 4096, none), [10, 50, 140]);
        assert_eq!(counts(&split, 8192, none), [0, 0, 200]);
        assert_eq!(counts(&split, 512, none), [200, 0, 0]);
        // The worker's priority is counted once.
        assert_eq!(counts(&split, 4096, IDLE), [150, 50]);
    }

    #[test]
    fn priority_values_match_linux() {
        assert_eq!(REALTIME.value(), 1 << 13 | 1);
        let hint = CommandPriority { hint: 3, ..IDLE };
        assert_eq!(hint.value(), 3 << 13 | 3 << 3 | 2);
    }
}
