//! A pattern whose I/Os have their time: asks the pace for each, and keeps when each was wanted until it is complete, so
//! that its latency is known from there on too. A target that stalls holds back the I/Os that come after: from submission
//! on they are quick, from their intended start on they are not (coordinated omission).

#[cfg(test)]
pub(crate) mod tests;

use crate::load::histogram::Histogram;
use crate::load::ledger::Ledger;
use crate::load::measure::{DRAW, Source};
use crate::load::pace::{Due, Pace};
use crate::load::pattern::{Io, Kind, Pattern};

/// A pattern whose I/Os have their time.
pub(crate) struct Paced {
    pattern: Pattern,
    pace: Pace,
    /// The next I/O's, where it was asked and was not due; the pace is asked once for each.
    next: Option<Due>,
    /// When those that were found due were wanted, in ns since the clone began, and how many of them have started.
    found: Vec<Option<u64>>,
    started: usize,
    /// The same by slot.
    wanted: Box<[Option<u64>]>,
    /// I/Os that have started and are not complete.
    in_flight: usize,
}

impl Paced {
    /// I/Os of this pattern at this pace in so many slots. The ledger is told which directions have an intended start.
    pub fn new(pattern: Pattern, pace: Pace, slots: usize, ledger: &Ledger) -> Self {
        for kind in [Kind::Read, Kind::Write, Kind::Trim]
            .into_iter()
            .filter(|kind| pace.intends(*kind))
        {
            ledger
                .tally(kind)
                .intended_lat
                .get_or_init(Histogram::default);
        }
        let found = Vec::with_capacity(DRAW);
        Self {
            pattern,
            pace,
            next: None,
            found,
            started: 0,
            wanted: vec![None; slots].into(),
            in_flight: 0,
        }
    }
}

impl Source for Paced {
    fn draw(&mut self, out: &mut [Io]) -> usize {
        self.pattern.draw(out)
    }

    fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize {
        self.found.clear();
        self.started = 0;
        for io in next {
            if self.next.is_none()
                && self.in_flight + self.found.len() > 0
                && self.pace.rests_before(io)
            {
                break;
            }
            let due = self
                .next
                .take()
                .unwrap_or_else(|| self.pace.due(io, since_begin_ns));
            if due.at_ns > since_begin_ns {
                self.next = Some(due);
                break;
            }
            self.found.push(due.intended_ns);
        }
        self.found.len()
    }

    fn next_due_ns(&self) -> Option<u64> {
        self.next.map(|due| due.at_ns)
    }

    fn starts(&mut self, slot: u32) {
        self.wanted[slot as usize] = self.found[self.started];
        self.started += 1;
        self.in_flight += 1;
    }

    fn completes(&mut self, slot: u32, kind: Kind, since_begin_ns: u64, ledger: &Ledger) {
        self.in_flight -= 1;
        if let (Some(wanted_ns), Some(intended_lat)) = (
            self.wanted[slot as usize],
            ledger.tally(kind).intended_lat.get(),
        ) {
            intended_lat.record(since_begin_ns.saturating_sub(wanted_ns), 1);
        }
    }
}
