//! What a run says on its way, handed on in the form that was asked for: events as they come, one JSON report, or text.

use crate::cli::print;
use crate::cli::print::style::Style;
use crate::cli::{complain, write_out};
use crate::run::stop::Stop;
use leadline_protocol::event::{Accepted, Event, EventBody};
use leadline_protocol::problem::Problem;
use leadline_protocol::result::{Failure, RunResult};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write, stderr};

/// What standard output is to carry.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Form {
    /// A report for people.
    Text,
    /// One JSON report at the end.
    Json,
    /// One JSON event a line, as it happens.
    Events,
}

impl Form {
    /// As the options say; they exclude each other.
    pub fn of(json: bool, events: bool) -> Self {
        match (json, events) {
            (_, true) => Self::Events,
            (true, _) => Self::Json,
            _ => Self::Text,
        }
    }
}

/// Prints events as they come, or keeps what the end needs.
pub struct Listener {
    form: Form,
    /// The step of a study that these events are of, from 1.
    step: Option<u32>,
    progress: bool,
    stop: Stop,
    /// The job as taken, with the host.
    pub accepted: Option<Box<Accepted>>,
    /// The one result.
    pub outcome: Option<Box<RunResult>>,
    /// Why there is none.
    pub failure: Option<Failure>,
}

impl Listener {
    /// Nothing heard yet.
    pub fn new(form: Form, step: Option<u32>, stop: &Stop) -> Self {
        let progress = form != Form::Events && stderr().is_terminal();
        Self {
            form,
            step,
            progress,
            stop: stop.clone(),
            accepted: None,
            outcome: None,
            failure: None,
        }
    }

    /// Takes the next event.
    pub fn hear(&mut self, event: &Event) {
        if self.form == Form::Events && write_out(&self.line(event)).is_err() {
            // Nobody listens any more: whoever started us is gone.
            self.stop.request();
        }
        if let Some(line) = print::progress(event) {
            self.show(&line);
        }
        match &event.body {
            EventBody::Accepted(accepted) => self.accepted = Some(accepted.clone()),
            EventBody::Report(outcome) => self.outcome = Some(outcome.clone()),
            EventBody::Failed(failure) => {
                self.clear();
                failure.problems.iter().for_each(complain);
                self.failure = Some(failure.clone());
            }
            _ => {}
        }
    }

    /// Tells what could not even be begun. The exit code.
    pub fn refuse(&mut self, problems: Vec<Problem>) -> u8 {
        let exit_code = Problem::exit_code(&problems);
        self.hear(&Event {
            seq: 0,
            t_ms: 0.0,
            body: EventBody::Failed(Failure {
                exit_code,
                problems,
            }),
        });
        exit_code
    }

    fn line(&self, event: &Event) -> String {
        let mut event = serde_json::to_value(event).unwrap_or_default();
        if let Some(step) = self.step {
            event["step"] = step.into();
        }
        format!("{event}\n")
    }

    /// Puts this line in the place of the one that stands there. A terminal that went away is shown no more.
    fn show(&mut self, line: &str) {
        self.progress = self.progress && write!(stderr(), "\r\x1b[K{line}").is_ok();
    }

    /// Takes the progress off the screen.
    pub fn clear(&mut self) {
        self.show("");
    }

    /// The one JSON report; `None` when there is no result.
    pub fn json(&self) -> Option<Value> {
        let (
            accepted,
            RunResult {
                report,
                verdict,
                findings,
            },
        ) = (self.accepted.as_ref()?, self.outcome.as_deref()?);
        Some(
            json!({"jobs": accepted.jobs, "host": accepted.host, "report": report, "verdict": verdict, "findings": findings}),
        )
    }

    /// Prints the end of a run.
    pub fn finish(mut self) {
        self.clear();
        let text = match (self.form, &self.accepted, &self.outcome) {
            (Form::Json, ..) => self.json().map(|report| format!("{report}\n")),
            (Form::Text, Some(accepted), Some(outcome)) => {
                Some(print::report(&accepted.jobs, outcome, Style::of_stdout()))
            }
            _ => None,
        };
        let _ = write_out(&text.unwrap_or_default());
    }
}
