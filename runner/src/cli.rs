//! Commands and their options. Exit codes are defined in `docs/protocol.md`.

mod args;
pub(crate) mod compare;
mod document;
mod event_printer;
mod fio_command;
mod job_log_listener;
mod log_files;
mod output;
mod output_file;
mod run_command;
mod study;
pub mod text;

use crate::{
    cli::{
        args::{JobArgs, PermissionArgs},
        compare::CompareArgs,
        document::{Input, read_document},
        fio_command::FioArgs,
        output::{FioFormat, OutputFormat, print, print_error, print_json, reject, write_styled},
        run_command::RunFiles,
        text::style::terminal_width,
    },
    dialect, run,
    system::{
        guard::permissions::Permissions,
        host::{
            device_list::device_list, doctor::doctor, facts::host_facts,
            import_facts::import_with_host,
        },
        target::{cancellable::wait_for_exit_blockers, leftovers::remove_leftovers},
    },
};
use clap::{Parser, Subcommand};
use leadline_protocol::{
    import::ImportRequest,
    plan::Plan,
    problem::Problem,
    study::{files::OwnedFiles, parse::is_study, plan::StudyPlan},
};
use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    time::Duration,
};

const USAGE_ERROR: u8 = 2;

/// Runs direct, buffered and raw I/O on this host and shows which layer served it
#[derive(Parser)]
#[command(name = "leadline-runner", version, after_help = AFTER_HELP, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = r#"Exit status:
  0         Success
  1         Run failed or I/O error
  2         Usage error or invalid job
  3         Rejected by the safety guard
  4         Comparison: a metric is worse than allowed
  5         Not supported by this host
  6         Comparison: undecided
  130, 143  Interrupted; the report covers the I/O up to that point

Examples:
  leadline-runner run job.json
  leadline-runner run study.json
  leadline-runner run job.fio
  echo 'fio --name=a --rw=randread --size=256m --direct=1' | leadline-runner plan -
  leadline-runner plan job.json
  leadline-runner compare before/ after/ --fail-if 'read.p99 worse than 5%'
  echo '{"filename":"t1","size":"256m","rw":"randread","direct":1}' | leadline-runner run - --json"#;

#[derive(Subcommand)]
enum Command {
    /// Run a job or a study
    Run {
        #[command(flatten)]
        job: JobArgs,
        /// Keep the study's results in this file, and resume the study from it after an
        /// interruption
        #[arg(long, value_name = "FILE")]
        state: Option<PathBuf>,
        /// Print one JSON report
        #[arg(long, conflicts_with = "events")]
        json: bool,
        /// Print one JSON event per line while running
        #[arg(long)]
        events: bool,
        /// Print results in fio's format
        #[arg(long, value_name = "FORMAT", conflicts_with_all = ["json", "events"])]
        output_format: Option<FioFormat>,
        /// Write fio's bandwidth, IOPS, latency and histogram logs, such as PREFIX_bw.1.log
        #[arg(long, value_name = "PREFIX")]
        write_logs: Option<PathBuf>,
        /// Stop when the parent process exits
        #[arg(long)]
        stop_when_orphaned: bool,
    },
    /// Take fio's arguments and print fio's output, for scripts and programs that start fio
    #[command(
        disable_help_flag = true,
        override_usage = "leadline-runner fio [OPTIONS] [FIO_ARGUMENTS]..."
    )]
    Fio {
        #[command(flatten)]
        args: FioArgs,
    },
    /// Show what a job or study would do, without running it
    Plan {
        #[command(flatten)]
        job: JobArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Convert job text to JSON; reads `{"text": ..., "variables": {...}}` from standard input
    #[command(hide = true)]
    Import,
    /// Compare two groups of stored results
    Compare {
        #[command(flatten)]
        args: CompareArgs,
    },
    /// Remove a study's files; reads `{"file_id": ..., "files": [...]}` from standard input
    #[command(hide = true)]
    RemoveLeftovers {
        #[command(flatten)]
        permissions: PermissionArgs,
    },
    /// List block devices, their users, and whether they can be targets
    Devices {
        #[command(flatten)]
        permissions: PermissionArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Check what this host supports
    Doctor {
        #[command(flatten)]
        permissions: PermissionArgs,
        /// Directory whose filesystem to check
        #[arg(long, default_value = ".")]
        data_dir: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print this host's hardware, kernel and limits as JSON
    Host {
        /// Print JSON (the default)
        #[arg(long)]
        json: bool,
    },
}

/// Parses this process's arguments. A link named `fio` runs the `fio` command.
pub fn from_arguments() -> Cli {
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let program = arguments.first().map(Path::new).and_then(Path::file_name);
    if program.is_some_and(|name| name == fio_command::NAME) {
        arguments.insert(1, fio_command::NAME.into());
    }
    Cli::parse_from(arguments)
}

/// Maximum time that the process waits before exiting if files are still being restored.
const EXIT_GRACE: Duration = Duration::from_millis(300);

/// Runs a command and returns the exit code.
pub fn execute(cli: Cli) -> u8 {
    let code = execute_command(cli.command);
    wait_for_exit_blockers(EXIT_GRACE);
    code
}

fn execute_command(command: Command) -> u8 {
    match command {
        Command::Run {
            job,
            state,
            json,
            events,
            output_format,
            write_logs,
            stop_when_orphaned,
        } => {
            let format = OutputFormat::new(json, events, output_format);
            let files = RunFiles {
                logs: write_logs.as_deref(),
                state: state.as_deref(),
            };
            run_command::run(&job, format, &files, stop_when_orphaned)
        }
        Command::Fio { args } => fio_command::run(&args),
        Command::Plan { job, json } => plan(&job, json),
        Command::Import => import(),
        Command::Compare { args } => compare::run(&args),
        Command::RemoveLeftovers { permissions } => match permissions.resolve() {
            Ok(permissions) => remove_owned_files(&permissions),
            Err(problems) => reject(&problems),
        },
        Command::Devices { permissions, json } => match permissions.resolve() {
            Ok(permissions) => print(json, &device_list(&permissions), text::devices::render),
            Err(problems) => reject(&problems),
        },
        Command::Doctor {
            permissions,
            data_dir,
            json,
        } => {
            let found = doctor(&data_dir, &permissions.roots);
            print(json, &found, text::doctor::render)
        }
        Command::Host { json: _ } => print_json(&host_facts()),
    }
}

fn plan(args: &JobArgs, json: bool) -> u8 {
    let permissions = args.target.permissions.resolve();
    let Input {
        document,
        import,
        positions,
        ..
    } = read_document(&args.job);
    if let Some(import) = import.as_ref().filter(|_| !json)
        && write_styled(&text::import::render(import, terminal_width())).is_err()
    {
        return 1;
    }
    let (code, problems) = match document {
        // The rendered import contains the problems.
        Err(problems) if import.is_some() && !json => (0, problems),
        Ok(document) if is_study(&document) => {
            let mut plan = permissions
                .and_then(|permissions| Ok((permissions, args.target.study_spec(document)?)))
                .map_or_else(StudyPlan::rejected, |(permissions, spec)| {
                    run::plan_study(&spec, &permissions)
                });
            plan.import = import;
            if !json {
                positions.describe_fields(&mut plan.problems);
            }
            (print(json, &plan, text::study::render_plan), plan.problems)
        }
        document => {
            let mut plan = permissions
                .and_then(|permissions| Ok((permissions, args.target.run_spec(&document?)?)))
                .map_or_else(Plan::rejected, |(permissions, spec)| {
                    run::plan(&spec, &permissions)
                });
            plan.import = import;
            if !json {
                positions.describe_fields(&mut plan.problems);
            }
            (print(json, &plan, text::plan::render), plan.problems)
        }
    };
    if problems.is_empty() {
        code
    } else {
        Problem::exit_code(&problems)
    }
}

/// Prints how job text is interpreted. The environment is not read.
fn import() -> u8 {
    match serde_json::from_reader::<_, ImportRequest>(std::io::stdin().lock()) {
        Ok(request) => print_json(&import_with_host(|host| dialect::import(&request, host))),
        Err(error) => {
            print_error(format_args!("invalid import request: {error}"));
            USAGE_ERROR
        }
    }
}

fn remove_owned_files(permissions: &Permissions) -> u8 {
    match serde_json::from_reader::<_, OwnedFiles>(std::io::stdin().lock()) {
        Ok(owned) => print_json(&remove_leftovers(&owned, permissions)),
        Err(error) => {
            print_error(format_args!("invalid list of files: {error}"));
            USAGE_ERROR
        }
    }
}
