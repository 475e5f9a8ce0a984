//! The `run` command.

use crate::{
    cli::{
        args::JobArgs,
        document::read_document,
        event_printer::EventPrinter,
        output::{OutputFormat, print_error},
        study,
    },
    run::{self, stop_signal::StopSignal},
};
use leadline_protocol::{problem::Problem, study::parse::is_study};
use std::{os::unix::process::parent_id, path::Path, thread, time::Duration};

/// An orphaned runner must stop within two seconds (docs/protocol.md).
const PARENT_POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Runs a job or study and returns the exit code.
pub(crate) fn run(
    args: &JobArgs,
    state: Option<&Path>,
    format: OutputFormat,
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
    match read_document(&args.job) {
        Ok(document) if is_study(&document) => match permissions {
            Ok(permissions) => {
                let context = study::Setting {
                    permissions: &permissions,
                    format,
                    stop: &stop,
                    state,
                };
                study::run(document, &args.confirm, &context)
            }
            Err(problems) => EventPrinter::new(format, None, &stop).reject(problems),
        },
        document => {
            if state.is_some() {
                let detail = "--state continues studies, but the document is a job.";
                let problem = Problem::invalid("state_file", "state", detail, "Remove --state.");
                return EventPrinter::new(format, None, &stop).reject(vec![problem]);
            }
            let mut events = EventPrinter::new(format, None, &stop);
            let spec =
                permissions.and_then(|permissions| Ok((permissions, args.run_spec(&document?)?)));
            let code = match spec {
                Ok((permissions, spec)) => run::run(&spec, &permissions, &stop, &mut |event| {
                    events.handle(event)
                }),
                Err(problems) => events.reject(problems),
            };
            events.finish();
            code
        }
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
