//! The `leadline-runner` command.

use std::process::ExitCode;

use clap::Parser;
use leadline_runner::cli::{Cli, execute};

fn main() -> ExitCode {
    ExitCode::from(execute(Cli::parse()))
}
