//! The log on standard error. `RUST_LOG` sets the levels, for example `warn,leadline_server=debug`.

use crate::config::LogFormat;
use std::io::IsTerminal;
use tracing::Level;
use tracing_subscriber::{filter::Targets, layer::SubscriberExt, util::SubscriberInitExt};

pub fn init(format: LogFormat) {
    let json = match format {
        LogFormat::Auto => !std::io::stderr().is_terminal(),
        LogFormat::Text => false,
        LogFormat::Json => true,
    };
    let registry = tracing_subscriber::registry().with(filter());
    let log = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    if json {
        registry.with(log.json().flatten_event(true)).init();
    } else {
        registry.with(log.with_target(false)).init();
    }
}

/// Levels from `RUST_LOG`. If it is invalid, the default is used.
fn filter() -> Targets {
    let levels = std::env::var("RUST_LOG").ok();
    let selected = levels.filter(|levels| !levels.is_empty());
    selected
        .and_then(|levels| levels.parse().ok())
        .unwrap_or_else(|| {
            Targets::new()
                .with_default(Level::WARN)
                .with_target("leadline_server", Level::INFO)
        })
}
