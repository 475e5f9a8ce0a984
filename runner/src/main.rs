//! The command line: reads a job, hands it on, prints what comes back. Data goes to standard output, everything else to
//! standard error.

mod command;

use std::process::ExitCode;

use clap::Parser;

fn main() -> ExitCode {
    ExitCode::from(command::execute(command::Cli::parse()))
}
