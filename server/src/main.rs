//! The command line of the server.
#![forbid(unsafe_code)]

use std::io::Write;

use clap::{Parser, Subcommand};

/// Queues storage benchmark runs, keeps them, and shows them live.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Print the OpenAPI document of the HTTP interface.
    Openapi,
}

fn main() -> std::io::Result<()> {
    match Cli::parse().command {
        Command::Openapi => std::io::stdout().write_all(leadline_server::routes::openapi_json().as_bytes()),
    }
}
