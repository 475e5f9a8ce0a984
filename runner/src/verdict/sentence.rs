//! One plain sentence for a class, that somebody who has never heard of a page cache can read: how much, where from,
//! and the two numbers that prove it.

use super::evidence::{Direction, Evidence};
use crate::print::number::{bytes, count};
use crate::report::VerdictClass;

/// The sentence.
pub(super) fn sentence(evidence: &Evidence, class: VerdictClass) -> String {
    match (class, &evidence.device, &evidence.deviceless) {
        (VerdictClass::NoDevice, _, Some(place)) => no_device(evidence, place),
        (_, Err(reason), _) => {
            format!("Where the {} went cannot be told: {}.", evidence.direction.noun(), reason.trim_end_matches('.'))
        }
        (class, Ok(device), _) => with_device(evidence, class, &device.name, device.ios, device.bytes),
    }
}

fn with_device(evidence: &Evidence, class: VerdictClass, name: &str, ios: u64, device_bytes: u64) -> String {
    let noun = evidence.direction.noun();
    let (iops, issued) = (count(evidence.iops.round() as u64), count(evidence.ios));
    let reached = format!("{} of {issued} {noun} reached {name}", count(ios.min(evidence.ios)));
    let percent = |ratio: f64| format!("{:.1} %", ratio * 100.0);
    let ratio = evidence.bytes_ratio();
    match (class, evidence.direction) {
        (VerdictClass::Device, Direction::Read) => {
            format!("{iops} IOPS came from {name}: it counted {} {noun} for {issued} issued.", count(ios))
        }
        (VerdictClass::Device, Direction::Write) => {
            format!("{iops} IOPS went to {name}: it counted {} {noun} for {issued} issued.", count(ios))
        }
        (VerdictClass::PageCache, _) => format!("{iops} IOPS came from memory: {reached}."),
        (VerdictClass::Readahead, _) => {
            let each = bytes(device_bytes / ios.max(1));
            format!(
                "{iops} IOPS came through readahead: {name} had read the bytes before they were asked for, in {} {noun} of {each} for {issued} issued.",
                count(ios)
            )
        }
        (VerdictClass::DeferredWrite, _) => {
            let written =
                format!("{} of the {} had reached {name} when the measurement ended", percent(ratio), bytes(evidence.bytes));
            format!("{iops} IOPS went into memory: only {written}.")
        }
        (VerdictClass::Amplified, _) => {
            let did = if evidence.direction == Direction::Read { "read" } else { "wrote" };
            format!("{name} {did} {ratio:.1} bytes for each byte asked: {} for {}.", bytes(device_bytes), bytes(evidence.bytes))
        }
        (VerdictClass::NoDevice, _) => {
            format!("{iops} IOPS came from the filesystem, not from {name}: {reached}, although direct was asked for.")
        }
        (VerdictClass::Mixed, _) if evidence.direct => {
            format!("{} of the bytes reached {name}; the filesystem took the rest: {reached}.", percent(ratio))
        }
        (VerdictClass::Mixed, Direction::Read) => {
            format!("{} of the bytes came from {name}, the rest from memory: {reached}.", percent(ratio))
        }
        (VerdictClass::Mixed, Direction::Write) => {
            format!("{} of the bytes reached {name} in time, the rest stayed in memory: {reached}.", percent(ratio))
        }
        (VerdictClass::Unknown, _) => format!("Where the {noun} went cannot be told from {issued} of them."),
    }
}

fn no_device(evidence: &Evidence, place: &str) -> String {
    let iops = count(evidence.iops.round() as u64);
    match place {
        "ioengine=null" => format!("{iops} IOPS is the runner alone: ioengine=null does no I/O."),
        place => format!("{iops} IOPS came from {place}, which has no block device that could be counted."),
    }
}
