//! The commands and their options. Each returns the exit code of the contract.

use std::io::{IsTerminal, Read, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use serde_json::{Value, json};

use leadline_runner::event::{Accepted, Event, EventBody, Failure, Outcome};
use leadline_runner::job::parse_run;
use leadline_runner::plan::Plan;
use leadline_runner::print::Style;
use leadline_runner::refusal::Refusal;
use leadline_runner::run::{self, Stop};
use leadline_runner::study::{self, is_study, parse_study};
use leadline_runner::{host, print};

/// How often an orphaned runner looks for its parent: well within the two seconds in which it must stop.
const PARENT_LOOK: Duration = Duration::from_millis(100);

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
  leadline-runner plan job.json";

#[derive(Subcommand)]
enum Command {
    /// Run a job
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
    /// Tell what a job would do, and touch nothing
    Plan {
        #[command(flatten)]
        job: JobArgs,
        /// Print JSON
        #[arg(long)]
        json: bool,
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
    /// A JSON job, or `-` for standard input
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
        Command::Run { job, json, events, stop_when_orphaned } => run_job(&job, json, events, stop_when_orphaned),
        Command::Plan { job, json } => plan_job(&job, json),
        Command::Devices { roots, json } => show(json, &host::devices(&roots.roots), print::devices),
        Command::Doctor { roots, data_dir, json } => show(json, &host::doctor(&data_dir, &roots.roots), print::doctor),
        Command::Host { json: _ } => show(true, &host::look(), |_, _| String::new()),
    }
}

fn show<T: serde::Serialize>(json: bool, value: &T, text: impl Fn(&T, Style) -> String) -> u8 {
    let text = if json { serde_json::to_string(value).unwrap_or_default() + "\n" } else { text(value, Style::of_stdout()) };
    u8::from(write_out(&text).is_err())
}

/// Writes to standard output; an error means that nobody reads it any more.
fn write_out(text: &str) -> std::io::Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

fn read_document(args: &JobArgs) -> Result<Value, Vec<Refusal>> {
    let unreadable = |error: std::io::Error| {
        vec![Refusal::invalid(
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
        vec![Refusal::invalid("not_json", "JOB", format!("{} is not JSON: {error}.", args.job), remedy)]
    })
}

fn complain(refusals: &[Refusal]) {
    refusals.iter().for_each(|refusal| eprintln!("leadline-runner: {refusal}"));
}

fn plan_job(args: &JobArgs, json: bool) -> u8 {
    let roots = &args.roots.roots;
    let (failed, refusals) = match read_document(args) {
        Ok(document) if is_study(&document) => {
            let plan = parse_study(document).map_or_else(study::refused, |ask| run::plan_study(&ask, roots));
            (show(json, &plan, print::study_plan), plan.refusals)
        }
        document => {
            let ask = document.and_then(|document| parse_run(&document));
            let plan = ask.map_or_else(Plan::refused, |ask| run::plan(&ask, roots));
            (show(json, &plan, print::plan), plan.refusals)
        }
    };
    if refusals.is_empty() { failed } else { Refusal::exit_code(&refusals) }
}

fn run_job(args: &JobArgs, json: bool, events: bool, stop_when_orphaned: bool) -> u8 {
    let stop = Stop::on_signals().unwrap_or_else(|error| {
        eprintln!("leadline-runner: signals cannot be handled: {error}");
        Stop::default()
    });
    if stop_when_orphaned {
        watch_parent(stop.clone());
    }
    let mut listener = Listener {
        events,
        progress: !events && std::io::stderr().is_terminal(),
        stop: stop.clone(),
        accepted: None,
        outcome: None,
    };
    let code = match read_document(args).and_then(|document| parse_run(&document)) {
        Ok(ask) => run::run(&ask, &args.roots.roots, &stop, &mut |event| listener.hear(event)),
        Err(refusals) => {
            let exit_code = Refusal::exit_code(&refusals);
            listener.hear(&Event { seq: 0, t_ms: 0.0, body: EventBody::Failed(Failure { exit_code, refusals }) });
            exit_code
        }
    };
    listener.finish(json);
    code
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

/// Prints events as they come, or keeps what the end needs.
struct Listener {
    events: bool,
    progress: bool,
    stop: Stop,
    accepted: Option<Box<Accepted>>,
    outcome: Option<Box<Outcome>>,
}

impl Listener {
    fn hear(&mut self, event: &Event) {
        if self.events {
            let line = serde_json::to_string(event).unwrap_or_default() + "\n";
            if write_out(&line).is_err() {
                // Nobody listens any more: whoever started us is gone.
                self.stop.request();
            }
        }
        if let Some(line) = print::progress(event).filter(|_| self.progress) {
            eprint!("\r\x1b[K{line}");
        }
        match &event.body {
            EventBody::Accepted(accepted) => self.accepted = Some(accepted.clone()),
            EventBody::Report(outcome) => self.outcome = Some(outcome.clone()),
            EventBody::Failed(failure) => {
                self.clear();
                complain(&failure.refusals);
            }
            _ => {}
        }
    }

    fn clear(&self) {
        if self.progress {
            eprint!("\r\x1b[K");
        }
    }

    fn finish(self, json: bool) {
        self.clear();
        let (Some(accepted), Some(outcome)) = (&self.accepted, &self.outcome) else { return };
        let text = match (self.events, json) {
            (true, _) => return,
            (false, true) => {
                let Outcome { report, verdict, findings } = outcome.as_ref();
                let all = json!({"jobs": accepted.jobs, "host": accepted.host, "report": report, "verdict": verdict, "findings": findings});
                all.to_string() + "\n"
            }
            (false, false) => print::report(&accepted.jobs, outcome, Style::of_stdout()),
        };
        let _ = write_out(&text);
    }
}
