//! The machine that the figures stand beside: an absolute figure means nothing without it.

use std::fs::read_to_string;

use anyhow::Result;
use serde::Serialize;

use crate::args::Args;
use crate::child::{Invocation, run};

/// Facts about this host.
#[derive(Clone, Debug, Serialize)]
pub struct Host {
    /// Milliseconds since 1970 UTC.
    pub made_at_ms: u64,
    /// `uname -sr`.
    pub kernel: String,
    /// Model name of the processor.
    pub cpu_model: String,
    /// Processors.
    pub cpus: usize,
    /// Processes that wanted to run in the last minute, when the bench began: with more than one the host was not quiet.
    pub load_1m: f64,
    /// fio's version; null when it took no part.
    pub fio: Option<String>,
}

/// Looks at this host.
///
/// # Errors
/// Where fio is wanted and cannot be started.
pub fn look(args: &Args) -> Result<Host> {
    let uname = rustix::system::uname();
    let text = |path: &str| read_to_string(path).unwrap_or_default();
    let cpu = text("/proc/cpuinfo").lines().find_map(|line| {
        line.strip_prefix("model name")
            .map(|rest| rest.trim_start_matches([' ', '\t', ':']).to_owned())
    });
    Ok(Host {
        made_at_ms: std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)?
            .as_millis() as u64,
        kernel: format!(
            "{} {}",
            uname.sysname().to_string_lossy(),
            uname.release().to_string_lossy()
        ),
        cpu_model: cpu.unwrap_or_else(|| uname.machine().to_string_lossy().into_owned()),
        cpus: std::thread::available_parallelism()?.get(),
        load_1m: text("/proc/loadavg")
            .split(' ')
            .next()
            .and_then(|load| load.parse().ok())
            .unwrap_or(0.0),
        fio: if args.has_fio() {
            Some(fio_version(args)?)
        } else {
            None
        },
    })
}

fn fio_version(args: &Args) -> Result<String> {
    let invocation = Invocation {
        program: args.fio.clone(),
        args: vec!["--version".into()],
        input: None,
    };
    Ok(run(&args.cores(1), &invocation)?.0.trim().to_owned())
}
