//! Passes a run's events to the printer, and its workers' sampling windows to the logs requested by
//! its jobs.

use crate::{
    cli::{event_printer::EventPrinter, log_files::job_logs::JobLogFiles},
    run::listener::Listener,
};
use leadline_export::fio::logs::worker::WorkerWindow;
use leadline_protocol::event::{Event, EventBody};

pub(crate) struct JobLogListener<'a> {
    pub events: &'a mut EventPrinter,
    pub logs: Option<&'a mut JobLogFiles>,
    /// Index of the step.
    pub step: usize,
}

impl Listener for JobLogListener<'_> {
    fn event(&mut self, event: &Event) {
        self.events.handle(event);
        let Some(logs) = &mut self.logs else {
            return;
        };
        match event.body {
            EventBody::Accepted(_) => logs.create(self.step),
            EventBody::Report(_) | EventBody::Failed(_) => logs.end(self.step),
            _ => {}
        }
    }

    fn uses_windows(&self) -> bool {
        self.logs.is_some()
    }

    fn window(&mut self, window: &WorkerWindow) {
        if let Some(logs) = &mut self.logs {
            logs.add(self.step, window);
        }
    }
}
