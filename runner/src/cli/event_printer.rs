//! Prints run events as they occur, or collects them for a report at the end.

use crate::{
    cli::{
        log_files::LogFiles,
        output::{OutputFormat, print_error, print_fio, print_json, write, write_styled},
        text::{self, style::terminal_width},
    },
    dialect::Positions,
    run::stop_signal::StopSignal,
};
use leadline_export::{FinishedRun, windows::Windows};
use leadline_protocol::{
    event::{Accepted, Event, EventBody},
    finding::Severity,
    host::HostFacts,
    problem::Problem,
    result::{Failure, RunResult},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::{IsTerminal, Write, stderr};

/// Outcome of a run, as stored in a state file.
#[derive(Clone, Deserialize, Serialize)]
pub(crate) struct SavedEvents {
    accepted: Option<Box<Accepted>>,
    result: Option<Box<RunResult>>,
    failure: Option<Failure>,
}

pub(crate) struct EventPrinter {
    format: OutputFormat,
    /// One-based number of the study step.
    step: Option<u32>,
    /// Whether to show a progress line, which requires that standard error is a terminal.
    shows_progress: bool,
    stop: StopSignal,
    /// The jobs as requested, each a JSON object.
    requested: Vec<Value>,
    positions: Positions,
    windows: Windows,
    logs: Option<LogFiles>,
    accepted: Option<Box<Accepted>>,
    pub result: Option<Box<RunResult>>,
    pub failure: Option<Failure>,
}

impl EventPrinter {
    pub(crate) fn new(format: OutputFormat, step: Option<u32>, stop: &StopSignal) -> Self {
        Self {
            format,
            step,
            shows_progress: format != OutputFormat::Events && stderr().is_terminal(),
            stop: stop.clone(),
            requested: Vec::new(),
            positions: Positions::default(),
            windows: Windows::default(),
            logs: None,
            accepted: None,
            result: None,
            failure: None,
        }
    }

    /// `document`: the run as requested.
    pub(crate) fn set_requested(&mut self, document: &Value) {
        self.requested = match document["jobs"].as_array() {
            Some(jobs) => jobs.clone(),
            None => vec![document.clone()],
        };
    }

    pub(crate) fn handle(&mut self, event: &Event) {
        if self.format == OutputFormat::Events && write(&self.json_line(event)).is_err() {
            // The write fails if the program that reads standard output has exited.
            self.stop.request();
        }
        if let Some(line) = text::progress::line(event) {
            self.show_progress(&line);
        }
        match &event.body {
            EventBody::Accepted(accepted) => {
                self.accepted = Some(accepted.clone());
                self.logs.iter_mut().for_each(LogFiles::create);
            }
            EventBody::Sample(sample) => {
                self.windows.add(sample);
                self.logs
                    .iter_mut()
                    .for_each(|logs| logs.add(event.t_ms, sample));
            }
            EventBody::Report(result) => self.result = Some(result.clone()),
            EventBody::Failed(failure) => {
                self.clear_progress();
                let mut problems = failure.problems.clone();
                self.positions.describe_fields(&mut problems);
                problems.iter().for_each(print_error);
                self.failure = Some(failure.clone());
            }
            _ => {}
        }
    }

    /// `positions`: where the text of the job sets its options, for messages.
    pub(crate) fn set_positions(&mut self, positions: Positions) {
        self.positions = positions;
    }

    /// The files are written as events arrive.
    pub(crate) fn set_logs(&mut self, logs: LogFiles) {
        self.logs = Some(logs);
    }

    /// Completes the log files. Returns false after printing errors if some could not be written.
    fn finish_logs(&mut self) -> bool {
        let errors = self.logs.take().map(LogFiles::finish).unwrap_or_default();
        errors.iter().for_each(print_error);
        errors.is_empty()
    }

    /// Reports a run that could not start, and returns the exit code.
    pub(crate) fn reject(&mut self, problems: Vec<Problem>) -> u8 {
        let exit_code = Problem::exit_code(&problems);
        self.handle(&Event {
            seq: 0,
            t_ms: 0.0,
            epoch: 0,
            body: EventBody::Failed(Failure {
                exit_code,
                problems,
            }),
        });
        exit_code
    }

    fn json_line(&self, event: &Event) -> String {
        let mut event = serde_json::to_value(event).unwrap_or_default();
        if let Some(step) = self.step {
            event["step"] = step.into();
        }
        format!("{event}\n")
    }

    /// Replaces the progress line. After a failed write, the line is no longer shown.
    fn show_progress(&mut self, line: &str) {
        if self.shows_progress {
            self.shows_progress = write!(stderr(), "\r\x1b[K{line}").is_ok();
        }
    }

    pub(crate) fn clear_progress(&mut self) {
        self.show_progress("");
    }

    pub(crate) fn save(&self) -> SavedEvents {
        SavedEvents {
            accepted: self.accepted.clone(),
            result: self.result.clone(),
            failure: self.failure.clone(),
        }
    }

    /// Creates a printer for a run that ended in an earlier process.
    pub(crate) fn from_saved(saved: SavedEvents, format: OutputFormat, stop: &StopSignal) -> Self {
        Self {
            accepted: saved.accepted,
            result: saved.result,
            failure: saved.failure,
            ..Self::new(format, None, stop)
        }
    }

    /// Host facts; `None` before the run has been accepted.
    pub(crate) fn host(&self) -> Option<&HostFacts> {
        self.accepted.as_ref().map(|accepted| &accepted.host)
    }

    /// The JSON report; `None` if there is no result.
    pub(crate) fn json_report(&self) -> Option<Value> {
        let accepted = self.accepted.as_ref()?;
        let result = self.result.as_ref()?;
        Some(json!({
            "jobs": accepted.jobs,
            "host": accepted.host,
            "report": result.report,
            "verdict": result.verdict,
            "findings": result.findings,
        }))
    }

    /// `None` if there is no result.
    pub(crate) fn finished_run(&self) -> Option<FinishedRun<'_>> {
        Some(FinishedRun::new(
            &self.requested,
            &self.accepted.as_ref()?.jobs,
            &self.result.as_ref()?.report,
            &self.windows,
        ))
    }

    /// Prints the report at the end of a run. Returns false if log files could not be written.
    /// Errors that occur while the report is written are ignored, so they do not affect the exit
    /// code.
    pub(crate) fn finish(mut self) -> bool {
        self.clear_progress();
        let has_logs = self.finish_logs();
        match self.format {
            OutputFormat::Events => {}
            OutputFormat::Json => {
                if let Some(report) = self.json_report() {
                    print_json(&report);
                }
            }
            OutputFormat::Fio(format) => {
                print_fio(format, self.finished_run().as_slice());
                // fio's formats can contain only an error number, so the messages are written to
                // standard error.
                let findings = self.result.iter().flat_map(|result| &result.findings);
                findings
                    .filter(|finding| finding.severity == Severity::Serious)
                    .for_each(|finding| print_error(&finding.sentence));
            }
            OutputFormat::Text => {
                if let (Some(accepted), Some(result)) = (self.accepted, self.result) {
                    let text = text::report::render(&accepted.jobs, &result, terminal_width());
                    let _ = write_styled(&text);
                }
            }
        }
        has_logs
    }
}
