//! Assigns sequence numbers and timestamps to the events of a run.

use crate::{
    run::listener::Listener,
    system::clock::{Clock, Monotonic, NS_PER_MS},
};
use leadline_export::fio::logs::worker::WorkerWindow;
use leadline_protocol::{
    event::{Event, EventBody},
    phase::{Phase, PhaseChange, PhaseState},
    report::PhaseTime,
};

pub(crate) struct EventSink<'a> {
    listener: &'a mut dyn Listener,
    /// Start of the run (CLOCK_MONOTONIC, in ns).
    pub origin_ns: u64,
    seq: u64,
    /// Phases that have started so far.
    pub phases: Vec<PhaseTime>,
}

impl<'a> EventSink<'a> {
    /// Event times are relative to this call.
    pub(crate) fn new(listener: &'a mut dyn Listener) -> Self {
        Self {
            listener,
            origin_ns: Monotonic.now_ns(),
            seq: 0,
            phases: Vec::new(),
        }
    }

    fn ms(&self, at_ns: u64) -> f64 {
        at_ns.saturating_sub(self.origin_ns) as f64 / NS_PER_MS as f64
    }

    /// Milliseconds since the start of the run.
    pub(crate) fn now_ms(&self) -> f64 {
        self.ms(Monotonic.now_ns())
    }

    pub(crate) fn emit(&mut self, body: EventBody) {
        let event = Event {
            seq: self.seq,
            t_ms: self.now_ms(),
            epoch: 0,
            body,
        };
        self.seq += 1;
        self.listener.event(&event);
    }

    pub(crate) fn uses_windows(&self) -> bool {
        self.listener.uses_windows()
    }

    pub(crate) fn window(&mut self, window: &WorkerWindow) {
        self.listener.window(window);
    }

    pub(crate) fn phase(&mut self, phase: Phase, state: PhaseState) {
        self.phase_at(phase, state, Monotonic.now_ns());
    }

    /// `at_ns`: time of the change (CLOCK_MONOTONIC, in ns).
    pub(crate) fn phase_at(&mut self, phase: Phase, state: PhaseState, at_ns: u64) {
        self.record(phase_change(phase, state), at_ns);
    }

    pub(crate) fn phase_note(&mut self, phase: Phase, state: PhaseState, note: Option<String>) {
        let change = phase_change(phase, state);
        self.change(PhaseChange { note, ..change });
    }

    pub(crate) fn change(&mut self, change: PhaseChange) {
        self.record(change, Monotonic.now_ns());
    }

    fn record(&mut self, change: PhaseChange, at_ns: u64) {
        let now_ms = self.ms(at_ns);
        if change.state == PhaseState::Begin {
            self.phases.push(PhaseTime {
                phase: change.phase,
                start_ms: now_ms,
                duration_ms: 0.0,
                bytes: None,
            });
        } else if let Some(time) = self.phases.last_mut()
            && time.phase == change.phase
        {
            time.duration_ms = now_ms - time.start_ms;
            time.bytes = change.done_bytes.or(time.bytes);
        }
        self.emit(EventBody::Phase(change));
    }
}

fn phase_change(phase: Phase, state: PhaseState) -> PhaseChange {
    PhaseChange {
        phase,
        state,
        done_bytes: None,
        total_bytes: None,
        planned_ms: None,
        note: None,
    }
}
