//! The `leadline-runner` command.

use leadline_runner::cli::{execute, from_arguments};
use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(execute(from_arguments()))
}
