//! The `run` command.

use crate::{
    cli::{
        args::{JobArgs, TargetArgs},
        document::{Input, read_document},
        event_printer::EventPrinter,
        job_log_listener::JobLogListener,
        log_files::{
            LogFiles,
            job_logs::{JobLogFiles, target_paths},
        },
        output::{OutputFormat, print_error, print_fio_differences},
        study,
    },
    dialect::job_logs::JobLogs,
    run::{self, stop_signal::StopSignal},
    system::guard::permissions::Permissions,
};
use leadline_protocol::{
    import::{Import, ImportSeverity},
    job::run_spec::RunSpec,
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
    /// State file from which a study is resumed.
    pub state: Option<&'a Path>,
}

/// Runs a job or study and returns the exit code.
pub(crate) fn run(
    args: &JobArgs,
    format: OutputFormat,
    files: &RunFiles<'_>,
    stop_when_orphaned: bool,
) -> u8 {
    let read = || read_document(&args.job);
    run_input(read, &args.target, format, files, stop_when_orphaned)
}

/// Like `run`. `read` is called after the signal handlers are installed, because it can block.
pub(crate) fn run_input(
    read: impl FnOnce() -> Input,
    args: &TargetArgs,
    format: OutputFormat,
    files: &RunFiles<'_>,
    stop_when_orphaned: bool,
) -> u8 {
    let stop = StopSignal::on_signals().unwrap_or_else(|error| {
        print_error(format_args!("cannot handle signals: {error}"));
        StopSignal::default()
    });
    if stop_when_orphaned {
        stop_when_parent_exits(stop.clone());
    }
    let permissions = args.permissions.resolve();
    let Input {
        document,
        import,
        logs,
        positions,
    } = read();
    if let Some(import) = import {
        print_warnings(&import);
    }
    match document {
        Ok(document) if is_study(&document) => match permissions {
            Ok(_) if files.logs.is_some() => {
                EventPrinter::new(format, None, &stop).reject(vec![study_logs_problem()])
            }
            Ok(permissions) => {
                let context = study::StudyOptions {
                    permissions: &permissions,
                    format,
                    stop: &stop,
                    state: files.state,
                    logs: &logs,
                };
                study::run(document, &args.confirm, &context)
            }
            Err(problems) => EventPrinter::new(format, None, &stop).reject(problems),
        },
        document => {
            if files.state.is_some() {
                let detail = "--state is only supported for studies, but the document is a job.";
                let problem = Problem::invalid("state_file", "state", detail, "Remove --state.");
                return EventPrinter::new(format, None, &stop).reject(vec![problem]);
            }
            let mut events = EventPrinter::new(format, None, &stop);
            events.set_positions(positions);
            if let Ok(document) = &document {
                events.set_requested(document);
            }
            let spec =
                permissions.and_then(|permissions| Ok((permissions, args.run_spec(&document?)?)));
            let code = match spec {
                Ok((permissions, spec)) => {
                    if let OutputFormat::Fio(_) = format {
                        print_fio_differences([&run::plan(&spec, &permissions)]);
                    }
                    let setting = (&permissions, &stop);
                    run_with_logs(spec, setting, (files.logs, &logs), &mut events)
                }
                Err(problems) => events.reject(problems),
            };
            let has_logs = events.finish();
            if code == 0 && !has_logs { 1 } else { code }
        }
    }
}

/// `prefix`: prefix of the run's logs. `job_logs`: the logs that its jobs request.
fn run_with_logs(
    mut spec: RunSpec,
    (permissions, stop): (&Permissions, &StopSignal),
    (prefix, job_logs): (Option<&Path>, &[Vec<JobLogs>]),
    events: &mut EventPrinter,
) -> u8 {
    let opened = match prefix {
        Some(prefix) => {
            let plan = run::plan(&spec, permissions);
            LogFiles::new(prefix, &target_paths(&plan)).map(|logs| events.set_logs(logs))
        }
        None => Ok(()),
    };
    let opened =
        opened.and_then(|()| JobLogFiles::open(job_logs, || vec![run::plan(&spec, permissions)]));
    let mut logs = match opened {
        Ok(logs) => logs,
        Err(problems) => return events.reject(problems),
    };
    if let Some(logs) = &logs {
        logs.set_interval(0, &mut spec);
    }
    let mut listener = JobLogListener {
        events,
        logs: logs.as_mut(),
        step: 0,
    };
    let code = run::run(&spec, permissions, stop, &mut listener);
    JobLogFiles::finish(logs, code)
}

fn study_logs_problem() -> Problem {
    Problem::invalid(
        "logs_of_study",
        "--write-logs",
        "Log files are written only for single runs, and this is a study.",
        "Run each step separately, or use --events.",
    )
}

/// Prints the warnings from an import. Errors are printed as problems.
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
fn stop_when_parent_exits(stop: StopSignal) {
    let parent = parent_id();
    thread::spawn(move || {
        while parent_id() == parent {
            thread::sleep(PARENT_POLL_INTERVAL);
        }
        stop.request();
    });
}
