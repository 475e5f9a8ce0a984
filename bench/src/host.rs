//! Host facts that are stored with the results.

use anyhow::Result;
use serde::Serialize;
use std::fs::read_to_string;

#[derive(Clone, Debug, Serialize)]
pub struct Host {
    /// Milliseconds since the Unix epoch.
    pub made_at_ms: u64,
    /// `uname -sr`.
    pub kernel: String,
    pub cpu_model: String,
    pub cpus: usize,
    /// Load average at the start; above 1, the host was not idle.
    pub load_1m: f64,
    /// null with `--no-fio`.
    pub fio: Option<String>,
}

pub fn host(fio: Option<String>) -> Result<Host> {
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
        fio,
    })
}
