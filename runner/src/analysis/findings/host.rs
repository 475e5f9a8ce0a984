//! Clock source, CPU frequency, thermal throttling, and settings that changed.

use crate::analysis::{context::Context, findings::rerun};
use leadline_protocol::finding::{
    Finding,
    Severity::{Note, Warning},
};
use serde_json::json;

/// Clock sources that can be read in user space (vDSO).
const FAST_CLOCKS: &[&str] = &[
    "tsc",
    "kvm-clock",
    "hyperv_clocksource_tsc_page",
    "arch_sys_counter",
    "riscv_clocksource",
];

pub(crate) fn slow_clock(context: &Context) -> Option<Finding> {
    let name = context.host.clocksource.as_deref()?;
    if FAST_CLOCKS.contains(&name) {
        return None;
    }
    let sentence = format!("The clock source {name} is slow to read, which adds to every latency.");
    Some(Finding::new(
        Note,
        "slow_clock",
        sentence,
        json!({"clocksource": name}),
        "Boot with clocksource=tsc if the CPU has a stable TSC.",
    ))
}

pub(crate) fn frequency_governor(context: &Context) -> Option<Finding> {
    let name = context.host.governor.as_deref()?;
    if name == "performance" {
        return None;
    }
    let sentence = format!(
        "The frequency governor {name} lowers the CPU frequency between I/Os: latencies at low depth are longer and vary."
    );
    Some(Finding::new(
        Warning,
        "frequency_governor",
        sentence,
        json!({"governor": name}),
        "Use the performance governor (cpupower frequency-set -g performance).",
    ))
}

pub(crate) fn thermal_throttling(context: &Context) -> Option<Finding> {
    let times = context.report.cpu?.thermal_throttles?;
    if times == 0 {
        return None;
    }
    let sentence =
        format!("The CPUs were thermally throttled {times} times, which reduced performance.");
    Finding::new(
        Warning,
        "thermal_throttling",
        sentence,
        json!({"thermal_throttles": times}),
        "Let the host cool down, check its fans, and run again.",
    )
    .with_rerun(rerun::unchanged())
}

pub(crate) fn host_changed(context: &Context) -> Option<Finding> {
    let changes = &context.report.host_changes;
    let first = changes.first()?;
    let text = |value: &Option<String>| value.clone().unwrap_or_else(|| "none".into());
    let mut sentence = format!(
        "{} changed from {} to {} during the measurement",
        first.setting,
        text(&first.before),
        text(&first.after)
    );
    match changes.len() - 1 {
        0 => sentence.push('.'),
        1 => sentence.push_str(", as did one other setting."),
        more => sentence.push_str(&format!(", as did {more} other settings.")),
    }
    let finding = Finding::new(
        Warning,
        "host_changed",
        sentence,
        json!({"changes": changes}),
        "Find out which program changes the setting (such as udev, tuned or a power daemon), and run again.",
    );
    finding.with_rerun(rerun::unchanged())
}
