//! The `leadline-runner` command.

use clap::Parser;
use leadline_runner::cli::{Cli, execute};
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(execute(Cli::parse()))
}
