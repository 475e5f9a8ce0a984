//! Commands and their options. Exit codes are defined in `docs/protocol.md`.

mod document;
mod event_printer;
mod output;
mod run_command;
mod study;
pub mod text;

use crate::{
    cli::{
        document::read_document,
        output::{OutputFormat, print, print_error, print_json},
    },
    run,
    system::{
        guard::permissions::Permissions,
        host::{device_list::device_list, doctor::doctor, facts::host_facts},
        target::leftovers::remove_leftovers,
    },
};
use clap::{Args, Parser, Subcommand};
use leadline_protocol::{
    job::run_spec::{RunSpec, parse_run},
    plan::Plan,
    problem::Problem,
    study::{
        files::OwnedFiles,
        parse::{is_study, parse_study},
        plan::StudyPlan,
        spec::StudySpec,
    },
};
use serde_json::Value;
use std::path::PathBuf;

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
  5         Not supported by this host
  130, 143  Interrupted; the report covers the I/O up to that point

Examples:
  leadline-runner run job.json
  leadline-runner run study.json
  leadline-runner plan job.json
  echo '{"filename":"t1","size":"256m","rw":"randread","direct":1}' | leadline-runner run - --json"#;

#[derive(Subcommand)]
enum Command {
    /// Run a job or a study
    Run {
        #[command(flatten)]
        job: JobArgs,
        /// Print one JSON report
        #[arg(long, conflicts_with = "events")]
        json: bool,
        /// Print one JSON event per line while running
        #[arg(long)]
        events: bool,
        /// Stop when the parent process exits
        #[arg(long)]
        stop_when_orphaned: bool,
    },
    /// Show what a job or study would do, without running it
    Plan {
        #[command(flatten)]
        job: JobArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove files of a study; reads `{"file_id": ..., "files": [...]}` from standard input
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
        /// Directory whose filesystem is checked
        #[arg(long, default_value = ".")]
        data_dir: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print hardware, kernel and limits of this host as JSON
    Host {
        /// Print JSON (the default)
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct JobArgs {
    /// JSON job or study, or `-` for standard input
    job: String,
    #[command(flatten)]
    permissions: PermissionArgs,
    /// Overwrite data as the plan asks for; can be repeated
    #[arg(long, value_name = "TEXT@CODE")]
    confirm: Vec<String>,
}

#[derive(Args)]
struct PermissionArgs {
    /// Only allow target files under this directory; can be repeated [default: any directory]
    #[arg(long = "target-root", value_name = "DIR")]
    roots: Vec<PathBuf>,
    /// Permit raw writes to the device with this identity, from `devices`; can be repeated [env:
    /// LEADLINE_ALLOW_RAW_WRITE, separated by commas]
    #[arg(long = "allow-raw-write", value_name = "IDENTITY")]
    raw_writes: Vec<String>,
}

impl JobArgs {
    /// # Errors
    /// All invalid fields of the document.
    fn study_spec(&self, document: Value) -> Result<StudySpec, Vec<Problem>> {
        let mut spec = parse_study(document)?;
        spec.confirm.extend_from_slice(&self.confirm);
        Ok(spec)
    }

    /// # Errors
    /// All invalid fields of the document.
    fn run_spec(&self, document: &Value) -> Result<RunSpec, Vec<Problem>> {
        let mut spec = parse_run(document)?;
        spec.confirm.extend_from_slice(&self.confirm);
        Ok(spec)
    }
}

/// Not declared as an `env` of the option, because an identity on the command line may contain a
/// comma.
const RAW_WRITES_VARIABLE: &str = "LEADLINE_ALLOW_RAW_WRITE";

impl PermissionArgs {
    /// # Errors
    /// `target_root_missing`.
    fn resolve(&self) -> Result<Permissions, Vec<Problem>> {
        let mut raw_writes = self.raw_writes.clone();
        if raw_writes.is_empty() {
            let listed = std::env::var(RAW_WRITES_VARIABLE).unwrap_or_default();
            let identities = listed.split(',').filter(|identity| !identity.is_empty());
            raw_writes.extend(identities.map(str::to_owned));
        }
        let permissions = Permissions::new(&self.roots, &raw_writes);
        match permissions.problems() {
            problems if problems.is_empty() => Ok(permissions),
            problems => Err(problems),
        }
    }
}

/// Prints problems that are not about a job, and returns the exit code.
fn reject(problems: &[Problem]) -> u8 {
    problems.iter().for_each(print_error);
    Problem::exit_code(problems)
}

/// Runs a command and returns the exit code.
pub fn execute(cli: Cli) -> u8 {
    match cli.command {
        Command::Run {
            job,
            json,
            events,
            stop_when_orphaned,
        } => {
            let format = OutputFormat::new(json, events);
            run_command::run(&job, format, stop_when_orphaned)
        }
        Command::Plan { job, json } => plan(&job, json),
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
    let permissions = args.permissions.resolve();
    let (code, problems) = match read_document(&args.job) {
        Ok(document) if is_study(&document) => {
            let plan = permissions
                .and_then(|permissions| Ok((permissions, args.study_spec(document)?)))
                .map_or_else(StudyPlan::rejected, |(permissions, spec)| {
                    run::plan_study(&spec, &permissions)
                });
            (print(json, &plan, text::study::render_plan), plan.problems)
        }
        document => {
            let plan = permissions
                .and_then(|permissions| Ok((permissions, args.run_spec(&document?)?)))
                .map_or_else(Plan::rejected, |(permissions, spec)| {
                    run::plan(&spec, &permissions)
                });
            (print(json, &plan, text::plan::render), plan.problems)
        }
    };
    if problems.is_empty() {
        code
    } else {
        Problem::exit_code(&problems)
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
