//! What a clone tells of itself while it works, and what it owes the others even when it breaks.

use crate::load::ledger::Ledger;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Barrier};

/// Where a clone stands.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
#[repr(u8)]
pub enum Stage {
    /// Gets ready or waits for its start.
    Waiting = 0,
    /// Works before the measurement.
    Ramp = 1,
    /// Is being measured.
    Measure = 2,
    /// Has been measured.
    Done = 3,
}

/// What a clone shares with the thread that watches it.
#[derive(Debug, Default)]
pub struct Progress {
    /// What was done before the measurement.
    pub ramp: Ledger,
    /// What was done in the measurement.
    pub measure: Ledger,
    stage: AtomicU8,
    broken: AtomicBool,
}

impl Progress {
    /// Where the clone stands.
    pub fn stage(&self) -> Stage {
        match self.stage.load(Ordering::Acquire) {
            0 => Stage::Waiting,
            1 => Stage::Ramp,
            2 => Stage::Measure,
            _ => Stage::Done,
        }
    }

    /// Whether it could not begin or go on, so that the others need not either.
    pub fn is_broken(&self) -> bool {
        self.broken.load(Ordering::Acquire)
    }

    /// Tells where it stands now.
    pub fn reach(&self, stage: Stage) {
        self.stage.store(stage as u8, Ordering::Release);
    }
}

/// What a clone owes the others: to pass the gate twice (when it is ready, and when the schedule is written), and to be done in
/// the end. It is paid when this is dropped, so that a clone that cannot begin, or whose thread panics, holds up nobody.
pub struct Attendance {
    progress: Arc<Progress>,
    gate: Arc<Barrier>,
    passed: Cell<u8>,
    finished: Cell<bool>,
}

impl Attendance {
    /// Times that every clone passes the gate.
    const PASSES: u8 = 2;

    /// Of a clone that tells of itself here.
    pub fn new(progress: Arc<Progress>, gate: Arc<Barrier>) -> Self {
        Self {
            progress,
            gate,
            passed: Cell::new(0),
            finished: Cell::new(false),
        }
    }

    /// Passes the gate.
    pub fn pass(&self) {
        self.gate.wait();
        self.passed.set(self.passed.get() + 1);
    }

    /// It did what it was to do.
    pub fn finish(&self) {
        self.finished.set(true);
    }
}

impl Drop for Attendance {
    fn drop(&mut self) {
        self.progress
            .broken
            .store(!self.finished.get(), Ordering::Release);
        self.progress.reach(Stage::Done);
        while self.passed.get() < Self::PASSES {
            self.pass();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_breaks_holds_up_nobody() {
        for passes_before in 0..=Attendance::PASSES {
            let (progress, gate) = (Arc::new(Progress::default()), Arc::new(Barrier::new(2)));
            let attendance = Attendance::new(progress.clone(), gate.clone());
            let clone = std::thread::spawn(move || {
                (0..passes_before).for_each(|_| attendance.pass());
                panic!("as an engine might");
            });
            for _ in 0..Attendance::PASSES {
                gate.wait();
            }
            assert!(clone.join().is_err());
            assert_eq!(
                (progress.stage(), progress.is_broken()),
                (Stage::Done, true),
                "after {passes_before} passes"
            );
        }
    }
}
