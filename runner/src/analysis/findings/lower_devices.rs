//! Disk I/O under a dm, md or loop device. The verdict uses that device's counters, which do not
//! include mirror copies and parity.

use crate::analysis::{
    context::{Context, DirectionAnalysis},
    verdict::threshold::{NEARLY_ALL, is_excess},
};
use leadline_protocol::{
    finding::{Finding, Severity::Note},
    format::bytes,
};
use serde_json::json;

pub(crate) fn lower_device_amplification(context: &Context) -> Option<Finding> {
    context.directions.iter().find_map(amplification)
}

/// Reports disk I/O in excess of the device's I/O. It can be attributed to the run only if the
/// target's device served nearly all of the run's I/O.
fn amplification(analysis: &DirectionAnalysis) -> Option<Finding> {
    let evidence = &analysis.evidence;
    let device = evidence.device.as_ref().ok()?;
    let lower = evidence.lower_devices.as_ref()?;
    if analysis.shares.device < NEARLY_ALL.value || !is_excess(lower.bytes, device.bytes) {
        return None;
    }
    let sentence = format!(
        "{} under {} {} {:.1} × the bytes {} {}: {} for {}.",
        lower.name,
        device.name,
        evidence.direction.select("read", "wrote"),
        lower.bytes as f64 / device.bytes as f64,
        evidence.direction.select("read from", "written to"),
        device.name,
        bytes(lower.bytes),
        bytes(device.bytes)
    );
    Some(Finding::new(
        Note,
        "lower_device_amplification",
        sentence,
        json!({"device_bytes": device.bytes, "lower_device_bytes": lower.bytes}),
        "This is expected for mirrors and parity. Otherwise, find other programs that use these disks (iostat -x 1).",
    ))
}
