//! What the host itself was like: a clock that costs time, processors that change their speed.

use crate::analysis::case::Case;
use crate::analysis::findings::rerun;
use leadline_protocol::finding::Finding;
use leadline_protocol::finding::Severity::{Note, Warning};
use serde_json::json;

/// Clock sources that are read without leaving user mode (the kernel's vDSO).
const QUICK_CLOCKS: &[&str] = &[
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "riscv_clocksource",
];

/// A clock that every reading enters the kernel for.
pub(crate) fn clock(case: &Case) -> Option<Finding> {
    let name = case
        .host
        .clocksource
        .as_deref()
        .filter(|name| !QUICK_CLOCKS.contains(name))?;
    let sentence =
        format!("The clock source {name} is slow to read: each latency has some of that in it.");
    let remedy = "Boot with clocksource=tsc where the processor has a steady one.";
    Some(Finding::new(
        Note,
        "slow_clock",
        sentence,
        &[("clocksource", json!(name))],
        remedy,
    ))
}

/// A governor that lets processors sleep between I/Os.
pub(crate) fn governor(case: &Case) -> Option<Finding> {
    let name = case
        .host
        .governor
        .as_deref()
        .filter(|name| *name != "performance")?;
    let sentence = format!(
        "The frequency governor {name} slows processors between I/Os: latencies at low depth are longer and vary."
    );
    let remedy =
        "Use the governor performance while measuring (cpupower frequency-set -g performance).";
    Some(Finding::new(
        Warning,
        "frequency_governor",
        sentence,
        &[("governor", json!(name))],
        remedy,
    ))
}

/// Processors that were too hot to go on as they were.
pub(crate) fn heat(case: &Case) -> Option<Finding> {
    let times = case
        .report
        .cpu?
        .thermal_throttles
        .filter(|times| *times > 0)?;
    let sentence = format!(
        "Processors were slowed {times} times because they were hot: the run measures the cooling, too."
    );
    let remedy = "Let the host cool down, and look after its fans; then run again.";
    Some(
        Finding::new(
            Warning,
            "thermal_throttling",
            sentence,
            &[("thermal_throttles", json!(times))],
            remedy,
        )
        .with_rerun(rerun::unchanged()),
    )
}
