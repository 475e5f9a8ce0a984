//! Whether the kernel's workers and the loop take turns on one processor, and what to do about it.
//!
//! An I/O that a device cannot take without blocking is handed to a worker thread (iou-wrk). Where that worker runs on our
//! own processor, each completion wakes us, we push the worker aside and go to sleep again: two switches an I/O. The sign
//! is that threads of this process are interrupted nearly as often as I/Os complete. The loop then lets all come back
//! before it refills, for one period; if that does more I/Os a second it stays so, and the report says it, because the
//! depth is then not kept.

use crate::system::clock::{Clock, Monotonic};
use crate::system::probes::rusage::{CpuTimes, process_times};
use leadline_protocol::report::Decision;

/// Completions in a period: long enough that one interruption more or less decides nothing (some ms at 400 k IOPS).
const PERIOD: u64 = 4096;
/// Interruptions per completion that are a sign: with workers it is nearly 1, on a device that answers by itself 0.
const INTERRUPTED: f64 = 0.25;
/// What draining must gain to be worth the depth that it costs.
const GAIN: f64 = 1.05;

/// What is known so far.
#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// No sign yet.
    Refilling,
    /// Tries draining; so many completions per ns were reached before.
    Trying(f64),
    /// Decided.
    Settled(bool),
}

/// Watches how often the loop is interrupted.
#[derive(Debug)]
pub struct Turns {
    slots: usize,
    state: State,
    /// Whether there was a sign.
    tried: bool,
    completed: u64,
    since_ns: u64,
    since: CpuTimes,
}

impl Turns {
    /// For the calling thread, with as many I/Os in flight as there are slots.
    pub fn new(slots: u32) -> Self {
        let state = if slots > 1 {
            State::Refilling
        } else {
            State::Settled(false)
        };
        Self {
            slots: slots as usize,
            state,
            tried: false,
            completed: 0,
            since_ns: Monotonic.now_ns(),
            since: process_times(),
        }
    }

    /// Whether all is to come back before the queue is filled again. To be asked before each sleep, with the I/Os completed
    /// so far.
    #[inline]
    pub fn drain(&mut self, completed: u64) -> bool {
        if completed - self.completed >= PERIOD {
            self.look(completed);
        }
        matches!(self.state, State::Trying(_) | State::Settled(true))
    }

    /// Whether all come back before more go, and these in flight are all that there can be: the call that hands over the last of
    /// them may as well wait. To come back only to go to sleep lets a worker in between.
    #[inline]
    pub fn hand_over_and_wait(&self, in_flight: usize) -> bool {
        matches!(self.state, State::Settled(true)) && in_flight == self.slots
    }

    /// What the report says of it; `None` where nothing was tried.
    pub fn choice(&self) -> Option<Decision> {
        let State::Settled(used) = self.state else {
            return None;
        };
        let reason = if used {
            "the kernel's workers share our processor: all I/Os come back before more are submitted, so the depth is not kept; the call that \
             fills the depth waits as well (not with spin), and that wait is in slat"
        } else {
            "the kernel's workers share our processor, but letting all I/Os come back first did not gain 5 %"
        };
        self.tried.then(|| Decision {
            name: Decision::DRAINED_QUEUE.into(),
            used,
            reason: reason.into(),
        })
    }

    #[cold]
    fn look(&mut self, completed: u64) {
        let (now_ns, now) = (Monotonic.now_ns(), process_times());
        let ios = (completed - self.completed) as f64;
        let interrupted = now.since(self.since).involuntary_switches as f64 / ios;
        self.state = next(
            self.state,
            ios / now_ns.saturating_sub(self.since_ns).max(1) as f64,
            interrupted,
        );
        self.tried |= matches!(self.state, State::Trying(_));
        (self.completed, self.since_ns, self.since) = (completed, now_ns, now);
    }
}

fn next(state: State, rate: f64, interrupted: f64) -> State {
    match state {
        State::Refilling if interrupted >= INTERRUPTED => State::Trying(rate),
        State::Trying(before) => State::Settled(rate > before * GAIN),
        state => state,
    }
}

#[cfg(test)]
impl Turns {
    /// As if draining had been tried and paid.
    pub fn drained(slots: u32) -> Self {
        Self {
            state: State::Settled(true),
            ..Self::new(slots)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::engine::uring::turns::State::{Refilling, Settled, Trying};

    #[test]
    fn draining_is_tried_at_the_sign_and_kept_where_it_pays() {
        for (state, rate, interrupted, want) in [
            (Refilling, 1.0, 0.0, Refilling),
            (Refilling, 1.0, 0.9, Trying(1.0)),
            (Trying(1.0), 1.5, 0.1, Settled(true)),
            (Trying(1.0), 1.0, 0.1, Settled(false)),
            (Settled(false), 1.0, 0.9, Settled(false)),
            (Settled(true), 0.1, 0.0, Settled(true)),
        ] {
            assert_eq!(
                next(state, rate, interrupted),
                want,
                "{state:?} {rate} {interrupted}"
            );
        }
    }

    #[test]
    fn one_slot_is_never_drained() {
        let mut turns = Turns::new(1);
        assert!((0..3).all(|period| !turns.drain(period * PERIOD)));
    }
}
