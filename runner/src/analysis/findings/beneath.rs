//! What the disks under a dm, md or loop device did for it: copies and parity are not in that device's own counters, and the class
//! speaks of that device.

use crate::analysis::case::Case;
use crate::analysis::verdict::class::is_more;
use crate::analysis::verdict::evidence::{Evidence, dir};
use crate::analysis::verdict::threshold::ALL;
use leadline_protocol::finding::Finding;
use leadline_protocol::finding::Severity::Note;
use leadline_protocol::format::bytes;
use serde_json::json;

/// The disks did more than the device on them was given. Where that device did not answer, what they did is nobody's here.
pub(crate) fn more(case: &Case) -> Option<Finding> {
    let answered = case
        .judged
        .iter()
        .filter(|judged| judged.shares.device >= ALL.value);
    answered.map(|judged| &judged.evidence).find_map(of)
}

fn of(evidence: &Evidence) -> Option<Finding> {
    let (device, beneath) = (evidence.device.as_ref().ok()?, evidence.beneath.as_ref()?);
    is_more(beneath.bytes, device.bytes).then(|| {
        let sentence = format!(
            "{} under {} {} {:.1} bytes for each byte that it {}: {} for {}.",
            beneath.name,
            device.name,
            dir(evidence.direction, "read", "wrote"),
            beneath.bytes as f64 / device.bytes as f64,
            dir(evidence.direction, "gave", "took"),
            bytes(beneath.bytes),
            bytes(device.bytes)
        );
        let numbers = [("device_bytes", json!(device.bytes)), ("beneath_bytes", json!(beneath.bytes))];
        let remedy = "A mirror writes each copy, and parity is read and written beside the data. Where neither is there, look who else uses these disks (iostat -x 1).";
        Finding::new(Note, "more_beneath", sentence, &numbers, remedy)
    })
}
