//! Checks whether other programs used the device.

use crate::analysis::{context::Context, findings::rerun, verdict::threshold::is_excess};
use leadline_protocol::{
    evidence::transition::Direction,
    finding::{Finding, Severity::Warning},
    format::bytes,
};
use serde_json::json;

pub(crate) fn foreign_io(context: &Context) -> Option<Finding> {
    let report = context.report;
    let device = report.device.as_ref()?;
    let own = report.read.bytes + report.write.bytes;
    let read = foreign_bytes(context, Direction::Read);
    let written = foreign_bytes(context, Direction::Write);
    if !is_excess(own + read + written, own) {
        return None;
    }
    let (direction, moved) = if read > written {
        (Direction::Read, read)
    } else {
        (Direction::Write, written)
    };
    let sentence = format!(
        "{} of {} on {} were not issued by this run.",
        bytes(moved),
        direction.noun(),
        device.name
    );
    Finding::new(
        Warning,
        "foreign_io",
        sentence,
        json!({"read_bytes": read, "write_bytes": written}),
        "Find the programs that use the device (iotop -o, pidstat -d 1), and run again when the device is idle.",
    )
    .with_rerun(rerun::unchanged())
}

/// Bytes that the device transferred for other programs; 0 if they cannot be distinguished. If no
/// job uses the direction, these are all device bytes in excess of this process's bytes.
fn foreign_bytes(context: &Context, direction: Direction) -> u64 {
    if let Some(analysis) = context.direction(direction) {
        let is_known = analysis.evidence.own_bytes.is_ok();
        return if is_known {
            analysis.transfers.foreign_bytes
        } else {
            0
        };
    }
    let device = context.report.device.as_ref();
    let counts = device.map_or_else(Default::default, |device| device.counts);
    let own = context.report.storage.unwrap_or_default();
    let device_bytes = direction.select(counts.read_bytes, counts.write_bytes);
    device_bytes.saturating_sub(direction.select(own.read_bytes, own.write_bytes))
}
