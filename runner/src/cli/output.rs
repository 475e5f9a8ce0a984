//! Output to standard output and standard error.

use crate::cli::text::style::terminal_width;
use clap::ValueEnum;
use leadline_export::{
    FinishedRun,
    fio::{json::FioJson, normal::normal, terse::terse},
};
use leadline_protocol::{plan::Plan, problem::Problem};
use serde::Serialize;
use std::{
    fmt::Display,
    io::{Result, Write, stderr, stdout},
};

/// What `run` writes to standard output.
#[derive(Clone, Copy, Eq, PartialEq)]
pub(crate) enum OutputFormat {
    /// A text report at the end.
    Text,
    /// One JSON report at the end.
    Json,
    /// One JSON event per line while running.
    Events,
    /// One report in fio's format at the end.
    Fio(FioFormat),
}

/// Formats of fio's `--output-format`.
#[derive(Clone, Copy, Debug, Eq, PartialEq, ValueEnum)]
pub(crate) enum FioFormat {
    /// JSON
    Json,
    /// JSON with latency histograms
    #[value(name = "json+")]
    JsonPlus,
    /// Text
    Normal,
    /// One line per job, fields separated by semicolons (version 3)
    Terse,
}

impl OutputFormat {
    pub(crate) fn new(json: bool, events: bool, fio: Option<FioFormat>) -> Self {
        if let Some(format) = fio {
            Self::Fio(format)
        } else if events {
            Self::Events
        } else if json {
            Self::Json
        } else {
            Self::Text
        }
    }
}

/// Prints problems that do not concern a job, and returns the exit code.
pub(crate) fn reject(problems: &[Problem]) -> u8 {
    problems.iter().for_each(print_error);
    Problem::exit_code(problems)
}

/// Prints a value as JSON or as styled text wrapped to the terminal's width, and returns the exit
/// code.
pub(crate) fn print<T: Serialize>(
    json: bool,
    value: &T,
    render: impl Fn(&T, usize) -> String,
) -> u8 {
    if json {
        print_json(value)
    } else {
        u8::from(write_styled(&render(value, terminal_width())).is_err())
    }
}

/// Prints a value as JSON and returns the exit code.
pub(crate) fn print_json(value: &impl Serialize) -> u8 {
    let text = serde_json::to_string(value).unwrap_or_default();
    u8::from(write(&(text + "\n")).is_err())
}

/// Prints runs in fio's formats, and returns the exit code.
pub(crate) fn print_fio(format: FioFormat, runs: &[FinishedRun]) -> u8 {
    let text = match format {
        FioFormat::Normal => normal(runs),
        FioFormat::Terse => terse(runs),
        FioFormat::Json => pretty_json(&FioJson::new(runs, false)),
        FioFormat::JsonPlus => pretty_json(&FioJson::new(runs, true)),
    };
    u8::from(write(&text).is_err())
}

fn pretty_json(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

pub(crate) fn write(text: &str) -> Result<()> {
    write_to(stdout().lock(), text)
}

/// Writes text with ANSI escapes, which are removed unless standard output is a terminal that
/// supports color.
pub(crate) fn write_styled(text: &str) -> Result<()> {
    write_to(anstream::stdout().lock(), text)
}

fn write_to(mut out: impl Write, text: &str) -> Result<()> {
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Codes of findings about options that fio applies differently.
const FIO_DIFFERENCES: &[&str] = &[
    "fio_difference",
    "invalidated_once",
    "job_renamed",
    "rates_limited_by_mix",
];

/// Prints the options that fio applies differently, for readers who are used to fio. A study's
/// steps share most of these differences, so each is printed only once.
pub(crate) fn print_fio_differences<'a>(plans: impl IntoIterator<Item = &'a Plan>) {
    let mut printed = Vec::new();
    for finding in plans.into_iter().flat_map(|plan| &plan.findings) {
        if FIO_DIFFERENCES.contains(&finding.code.as_str()) && !printed.contains(&&finding.sentence)
        {
            print_error(&finding.sentence);
            printed.push(&finding.sentence);
        }
    }
}

/// Writes an error message to standard error.
pub(crate) fn print_error(message: impl Display) {
    // A closed standard error must not abort a run.
    let _ = writeln!(stderr(), "leadline-runner: {message}");
}
