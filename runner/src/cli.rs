//! The commands and their options. Each returns the exit code of the contract.

pub(crate) mod listener;
pub mod print;
pub(crate) mod study;

use crate::cli::listener::{Form, Listener};
use crate::cli::print::style::Style;
use crate::run;
use crate::run::stop::Stop;
use crate::system::host;
use crate::system::target::leftovers::remove_leftovers;
use clap::{Args, Parser, Subcommand};
use leadline_protocol::job::parse::parse_run;
use leadline_protocol::plan::Plan;
use leadline_protocol::problem::Problem;
use leadline_protocol::study::StudyPlan;
use leadline_protocol::study::own::OwnedFiles;
use leadline_protocol::study::parse::{is_study, parse_study};
use serde_json::Value;
use std::fmt::Display;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

/// How often an orphaned runner looks for its parent: well within the two seconds in which it must stop.
const PARENT_LOOK: Duration = Duration::from_millis(100);

/// The exit code of a command that was called wrongly.
const USAGE: u8 = 2;

/// Does direct, buffered and raw I/O on this host and tells where it went.
#[derive(Parser)]
#[command(name = "leadline-runner", version, after_help = EXIT_STATUS, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

const EXIT_STATUS: &str = "EXIT STATUS
  0 done · 1 run or I/O error · 2 usage or invalid job · 3 refused by the guard · 5 this host cannot do it
  130, 143 interrupted (what was measured until then is printed)

EXAMPLES
  leadline-runner run job.json
  echo '{\"filename\":\"t1\",\"size\":\"256m\",\"rw\":\"randread\",\"direct\":1,\"runtime\":5,\"time_based\":1}' | leadline-runner run - --json
  leadline-runner plan job.json
  leadline-runner run study.json";

#[derive(Subcommand)]
enum Command {
    /// Run a job, or a study step by step
    Run {
        #[command(flatten)]
        job: JobArgs,
        /// Print one JSON report on standard output
        #[arg(long, conflicts_with = "events")]
        json: bool,
        /// Print one JSON event per line as it happens
        #[arg(long)]
        events: bool,
        /// Stop when the process that started this one is gone
        #[arg(long)]
        stop_when_orphaned: bool,
    },
    /// Tell what a job or study would do, and touch nothing
    Plan {
        #[command(flatten)]
        job: JobArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove the files of a study's own that no step of it removed, as named on standard input
    #[command(hide = true)]
    Tidy {
        #[command(flatten)]
        roots: Roots,
    },
    /// List the block devices of this host, and who uses them
    Devices {
        #[command(flatten)]
        roots: Roots,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Tell what this host can do, and what to mend
    Doctor {
        #[command(flatten)]
        roots: Roots,
        /// Directory whose filesystem is tried
        #[arg(long, default_value = ".")]
        data_dir: PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the facts about this host as JSON
    Host {
        /// Print JSON, as is done anyway
        #[arg(long)]
        json: bool,
    },
}

#[derive(Args)]
struct JobArgs {
    /// A JSON job or study, or `-` for standard input
    job: String,
    #[command(flatten)]
    roots: Roots,
}

#[derive(Args)]
struct Roots {
    /// Files may be targets only under this directory (repeatable; anywhere, when not given)
    #[arg(long = "target-root", value_name = "DIR")]
    roots: Vec<PathBuf>,
}

/// Does what was asked and returns the exit code.
pub fn execute(cli: Cli) -> u8 {
    match cli.command {
        Command::Run {
            job,
            json,
            events,
            stop_when_orphaned,
        } => run_job(&job, Form::of(json, events), stop_when_orphaned),
        Command::Plan { job, json } => plan_job(&job, json),
        Command::Tidy { roots } => tidy_up(&roots.roots),
        Command::Devices { roots, json } => show(
            json,
            &host::device_list::device_list(&roots.roots),
            print::devices,
        ),
        Command::Doctor {
            roots,
            data_dir,
            json,
        } => show(
            json,
            &host::doctor::doctor(&data_dir, &roots.roots),
            print::doctor,
        ),
        Command::Host { json: _ } => show(true, &host::facts::host_facts(), |_, _| String::new()),
    }
}

fn show<T: serde::Serialize>(json: bool, value: &T, text: impl Fn(&T, Style) -> String) -> u8 {
    let text = if json {
        serde_json::to_string(value).unwrap_or_default() + "\n"
    } else {
        text(value, Style::of_stdout())
    };
    u8::from(write_out(&text).is_err())
}

/// Writes to standard output; an error means that nobody reads it any more.
fn write_out(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Says what went wrong on standard error; where nobody reads that any more, nothing stops.
fn complain(what: impl Display) {
    let _ = writeln!(std::io::stderr(), "leadline-runner: {what}");
}

fn read_document(args: &JobArgs) -> Result<Value, Vec<Problem>> {
    let unreadable = |error: std::io::Error| {
        vec![Problem::invalid(
            "unreadable",
            "JOB",
            format!("{} cannot be read: {error}.", args.job),
            "Name a file with a JSON job or study, or - for standard input.",
        )]
    };
    let text = if args.job == "-" {
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).map(|_| text)
    } else {
        std::fs::read_to_string(&args.job)
    };
    serde_json::from_str(&text.map_err(unreadable)?).map_err(|error| {
        let remedy =
            "Write {\"rw\":\"randread\",\"filename\":\"t1\",\"size\":\"256m\",\"direct\":1}; fio job files are not read yet.";
        vec![Problem::invalid("not_json", "JOB", format!("{} is not JSON: {error}.", args.job), remedy)]
    })
}

fn plan_job(args: &JobArgs, json: bool) -> u8 {
    let roots = &args.roots.roots;
    let (failed, problems) = match read_document(args) {
        Ok(document) if is_study(&document) => {
            let plan = parse_study(document)
                .map_or_else(StudyPlan::rejected, |ask| run::plan_study(&ask, roots));
            (show(json, &plan, print::study_plan), plan.problems)
        }
        document => {
            let ask = document.and_then(|document| parse_run(&document));
            let plan = ask.map_or_else(Plan::refused, |ask| run::plan(&ask, roots));
            (show(json, &plan, print::plan), plan.problems)
        }
    };
    if problems.is_empty() {
        failed
    } else {
        Problem::exit_code(&problems)
    }
}

/// For servers: `{"mark": ..., "files": [...]}` in, what became of them out.
fn tidy_up(roots: &[PathBuf]) -> u8 {
    match serde_json::from_reader::<_, OwnedFiles>(std::io::stdin().lock()) {
        Ok(own) => show(true, &remove_leftovers(&own, roots), |_, _| String::new()),
        Err(error) => {
            complain(format_args!("what to tidy up cannot be read: {error}"));
            USAGE
        }
    }
}

fn run_job(args: &JobArgs, form: Form, stop_when_orphaned: bool) -> u8 {
    let stop = Stop::on_signals().unwrap_or_else(|error| {
        complain(format_args!("signals cannot be handled: {error}"));
        Stop::default()
    });
    if stop_when_orphaned {
        watch_parent(stop.clone());
    }
    let roots = &args.roots.roots;
    match read_document(args) {
        Ok(document) if is_study(&document) => study::run(document, roots, form, &stop),
        document => {
            let mut listener = Listener::new(form, None, &stop);
            let code = match document.and_then(|document| parse_run(&document)) {
                Ok(ask) => run::run(&ask, roots, &stop, &mut |event| listener.hear(event)),
                Err(problems) => listener.refuse(problems),
            };
            listener.finish();
            code
        }
    }
}

/// A parent that dies leaves us to another process: then the run stops as if by SIGTERM.
fn watch_parent(stop: Stop) {
    let parent = std::os::unix::process::parent_id();
    thread::spawn(move || {
        while std::os::unix::process::parent_id() == parent {
            thread::sleep(PARENT_LOOK);
        }
        stop.request();
    });
}
