//! Numbers the events of a run, stamps them, and hands them on.

use crate::system::clock::{Clock, MILLISECOND_NS, Monotonic};
use leadline_protocol::event::{Event, EventBody};
use leadline_protocol::phase::{Phase, PhaseChange, PhaseState};
use leadline_protocol::report::PhaseTime;

/// The one mouth of a run.
pub struct Teller<'a> {
    listener: &'a mut dyn FnMut(&Event),
    origin_ns: u64,
    seq: u64,
    /// The phases so far, with their times.
    pub phases: Vec<PhaseTime>,
}

impl<'a> Teller<'a> {
    /// Time counts from now.
    pub fn new(listener: &'a mut dyn FnMut(&Event)) -> Self {
        Self {
            listener,
            origin_ns: Monotonic.now_ns(),
            seq: 0,
            phases: Vec::new(),
        }
    }

    /// A moment of the monotonic clock in milliseconds since the run began.
    fn ms(&self, at_ns: u64) -> f64 {
        at_ns.saturating_sub(self.origin_ns) as f64 / MILLISECOND_NS as f64
    }

    /// Milliseconds since the run began.
    pub fn now_ms(&self) -> f64 {
        self.ms(Monotonic.now_ns())
    }

    /// Tells one event.
    pub fn tell(&mut self, body: EventBody) {
        let event = Event {
            seq: self.seq,
            t_ms: self.now_ms(),
            body,
        };
        self.seq += 1;
        (self.listener)(&event);
    }

    /// Tells that a phase begins or ends.
    pub fn phase(&mut self, phase: Phase, state: PhaseState) {
        self.phase_at(phase, state, Monotonic.now_ns());
    }

    /// Tells that a phase began or ended at that moment, which has just passed.
    pub fn phase_at(&mut self, phase: Phase, state: PhaseState, at_ns: u64) {
        let change = PhaseChange {
            phase,
            state,
            done_bytes: None,
            total_bytes: None,
            planned_ms: None,
            note: None,
        };
        self.keep(change, at_ns);
    }

    /// Tells of a phase, and keeps its time.
    pub fn change(&mut self, change: PhaseChange) {
        self.keep(change, Monotonic.now_ns());
    }

    fn keep(&mut self, change: PhaseChange, at_ns: u64) {
        let now_ms = self.ms(at_ns);
        match change.state {
            PhaseState::Begin => {
                self.phases.push(PhaseTime {
                    phase: change.phase,
                    start_ms: now_ms,
                    duration_ms: 0.0,
                    bytes: None,
                });
            }
            PhaseState::Progress | PhaseState::End => {
                if let Some(time) = self
                    .phases
                    .last_mut()
                    .filter(|time| time.phase == change.phase)
                {
                    time.duration_ms = now_ms - time.start_ms;
                    time.bytes = change.done_bytes.or(time.bytes);
                }
            }
        }
        self.tell(EventBody::Phase(change));
    }
}
