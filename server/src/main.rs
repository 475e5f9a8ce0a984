//! The server's command line.
#![forbid(unsafe_code)]

use clap::{Parser, Subcommand};
use leadline_server::{
    api::routes,
    config::Config,
    log,
    serve::{
        self,
        backup::{BackupArgs, backup},
        login::{LoginArgs, login},
    },
};
use std::{io::Write, process::ExitCode};

/// Queues storage benchmarks, stores their results and serves the web interface
#[derive(Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve the web interface and the HTTP API
    #[command(args_override_self = true)]
    Serve(Box<Config>),
    /// Print a single-use link that signs in a browser
    Login(LoginArgs),
    /// Copy the database to a new file; the server may be running
    Backup(BackupArgs),
    /// Print the HTTP API's OpenAPI document
    Openapi,
}

#[tokio::main]
async fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Serve(config) => {
            log::init(config.log_format);
            serve::serve(*config).await
        }
        Command::Login(args) => login(args).await,
        Command::Backup(args) => backup(args).await,
        Command::Openapi => std::io::stdout()
            .write_all(routes::openapi_json().as_bytes())
            .map_err(Into::into),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "leadline: {error:#}");
            ExitCode::FAILURE
        }
    }
}
