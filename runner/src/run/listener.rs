//! Receives the events of a run.

use leadline_export::fio::logs::worker::WorkerWindow;
use leadline_protocol::event::Event;

pub trait Listener {
    fn event(&mut self, event: &Event);

    /// Whether the listener uses [`Self::window`]. Reading each worker's histograms is expensive.
    fn uses_windows(&self) -> bool {
        false
    }

    /// I/Os of one worker since the previous sample, within its measured window.
    fn window(&mut self, _window: &WorkerWindow) {}
}

impl<F: FnMut(&Event)> Listener for F {
    fn event(&mut self, event: &Event) {
        self(event);
    }
}
