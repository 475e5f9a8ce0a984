//! Names of settings, host facts and findings in sentences.

use crate::settings::HELD_DATA;

/// Settings keep their option names, such as `bs`.
pub(crate) fn fact_name(name: &str) -> String {
    if let Some(code) = name.strip_prefix("finding ") {
        return format!("finding: {}", finding_name(code));
    }
    let known = match name {
        HELD_DATA => "data in the target before the run",
        "targets.alignment" => "target alignment",
        "targets.device" => "device",
        "targets.existed" => "target existed before the run",
        "targets.filesystem" => "filesystem",
        "targets.identity" => "device identity",
        "targets.layout_bytes" => "bytes written by layout",
        "targets.layout_offset" => "start of the layout",
        "targets.length" => "target size",
        "clocksource" => "clock source",
        "cpu_model" => "CPU model",
        "cpus" => "number of CPUs",
        "governor" => "CPU frequency governor",
        "io_uring_unavailable" => "io_uring availability",
        "memlock_bytes" => "locked memory limit",
        "memory_bytes" => "memory",
        "runner" => "runner version",
        other => other,
    };
    known.to_owned()
}

/// Noun phrase for a finding that only some runs have.
pub(crate) fn finding_name(code: &str) -> String {
    let known = match code {
        "busy_host" => "busy host",
        "device_cache" => "device cache",
        "direct_io_fallback" => "fallback from direct I/O",
        "foreign_io" => "foreign I/O",
        "frequency_governor" => "CPU frequency governor",
        "initial_write" => "initial write",
        "io_errors" => "I/O errors",
        "loop_without_direct_io" => "loop device without direct I/O",
        "host_changed" => "changed host settings",
        "result_of_fio" => "fio result",
        "runner_paused" => "paused runner",
        "short_run" => "short run",
        "busy_at_start" => "host busy at the start",
        "slow_clock" => "slow clock",
        "stalled" => "stalled I/O",
        "steady_state_not_reached" => "steady state not reached",
        "stopped_early" => "stopped early",
        "thermal_throttling" => "thermal throttling",
        "unfinished_ios" => "unfinished I/Os",
        "unwritten_blocks" => "unwritten blocks",
        "warm_cache" => "warm cache",
        "writeback_throttled" => "throttled writeback",
        other => return other.replace('_', " "),
    };
    known.to_owned()
}
