//! The log, on standard error: text for people, or one JSON object a line. `RUST_LOG` says how much.

use crate::config::LogFormat;
use std::io::IsTerminal;
use tracing_subscriber::EnvFilter;

/// Our own words and everybody's troubles.
const USUAL: &str = "warn,leadline_server=info";

/// Starts the log.
pub fn start(format: LogFormat) {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(USUAL));
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr);
    let json = match format {
        LogFormat::Auto => !std::io::stderr().is_terminal(),
        LogFormat::Text => false,
        LogFormat::Json => true,
    };
    if json {
        log.json().flatten_event(true).init()
    } else {
        log.with_target(false).init()
    }
}
