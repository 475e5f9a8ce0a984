//! The command line of the server.
#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use leadline_server::api::routes;
use leadline_server::config::Config;
use leadline_server::{log, serve};
use std::io::Write;
use std::process::ExitCode;

/// Queues storage benchmark runs, keeps them, and shows them live.
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve pages and HTTP interface.
    #[command(args_override_self = true)]
    Serve(Box<Config>),
    /// Print the OpenAPI document of the HTTP interface.
    Openapi,
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Serve(config) => {
            log::start(config.log_format);
            serve::serve(*config).await
        }
        Command::Openapi => std::io::stdout()
            .write_all(routes::openapi_json().as_bytes())
            .map_err(Into::into),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard output carries data only.
            let _ = writeln!(std::io::stderr(), "leadline: {error:#}");
            ExitCode::FAILURE
        }
    }
}
