//! The `run` command.

use crate::{
    cli::{
        args::JobArgs,
        document::{Input, read_document},
        event_printer::EventPrinter,
        output::{OutputFormat, print_error},
        study,
    },
    run::{self, stop_signal::StopSignal},
};
use leadline_protocol::{
    import::{Import, ImportSeverity},
    problem::Problem,
    study::parse::is_study,
};
use std::{os::unix::process::parent_id, path::Path, thread, time::Duration};

/// An orphaned runner must stop within two seconds (docs/protocol.md).
const PARENT_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Files that a run writes.
pub(crate) struct RunFiles<'a> {
    /// Prefix of fio's log files.
    pub logs: Option<&'a Path>,
    /// State of a study, from which it is continued.
    pub state: Option<&'a Path>,
}

/// Runs a job or study and returns the exit code.
pub(crate) fn run(
    args: &JobArgs,
    format: OutputFormat,
    files: &RunFiles<'_>,
    stop_when_orphaned: bool,
) -> u8 {
    let stop = StopSignal::on_signals().unwrap_or_else(|error| {
        print_error(format_args!("cannot handle signals: {error}"));
        StopSignal::default()
    });
    if stop_when_orphaned {
        stop_with_parent(stop.clone());
    }
    let permissions = args.permissions.resolve();
    let Input { document, import } = read_document(&args.job);
    if let Some(import) = import {
        print_warnings(&import);
    }
    match document {
        Ok(document) if is_study(&document) => match permissions {
            Ok(_) if files.logs.is_some() => {
                EventPrinter::new(format, None, &stop).reject(vec![logs_of_study()])
            }
            Ok(permissions) => {
                let context = study::Setting {
                    permissions: &permissions,
                    format,
                    stop: &stop,
                    state: files.state,
                };
                study::run(document, &args.confirm, &context)
            }
            Err(problems) => EventPrinter::new(format, None, &stop).reject(problems),
        },
        document => {
            if files.state.is_some() {
                let detail = "--state continues studies, but the document is a job.";
                let problem = Problem::invalid("state_file", "state", detail, "Remove --state.");
                return EventPrinter::new(format, None, &stop).reject(vec![problem]);
            }
            let mut events = EventPrinter::new(format, None, &stop);
            if let Ok(document) = &document {
                events.set_requested(document);
            }
            let spec =
                permissions.and_then(|permissions| Ok((permissions, args.run_spec(&document?)?)));
            let code = match spec {
                Ok((permissions, spec)) => match files.logs.map(|prefix| events.set_logs(prefix)) {
                    Some(Err(problems)) => events.reject(problems),
                    _ => run::run(&spec, &permissions, &stop, &mut |event| {
                        events.handle(event)
                    }),
                },
                Err(problems) => events.reject(problems),
            };
            events.finish();
            code
        }
    }
}

fn logs_of_study() -> Problem {
    Problem::invalid(
        "logs_of_study",
        "--write-logs",
        "Logs are written for single runs, and this is a study.",
        "Run each step separately, or use --events.",
    )
}

/// Prints what an imported text does not mean. Errors are printed as problems.
fn print_warnings(import: &Import) {
    let mut notes = import.notes.iter();
    for note in notes
        .by_ref()
        .filter(|note| note.severity == ImportSeverity::Warning)
    {
        print_error(format_args!(
            "line {}, column {}: {} {}",
            note.span.line, note.span.column, note.sentence, note.remedy
        ));
    }
}

/// Requests a stop when the parent process exits and this process is reparented.
fn stop_with_parent(stop: StopSignal) {
    let parent = parent_id();
    thread::spawn(move || {
        while parent_id() == parent {
            thread::sleep(PARENT_POLL_INTERVAL);
        }
        stop.request();
    });
}
