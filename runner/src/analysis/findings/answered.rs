//! What follows from where a direction was answered: that the number is not the device's, why, and the rerun that would
//! measure the device.

use crate::analysis::case::{Case, Judged};
use crate::analysis::findings::rerun;
use crate::analysis::verdict::evidence::{Evidence, dir};
use crate::analysis::verdict::threshold::NOTHING;
use leadline_protocol::evidence::Direction;
use leadline_protocol::evidence::TargetReport;
use leadline_protocol::finding::Finding;
use leadline_protocol::finding::Severity::{Note, Serious, Warning};
use leadline_protocol::format::{bytes, count};
use leadline_protocol::verdict::VerdictClass;
use serde_json::{Value, json};

/// All that is true of one direction.
pub(crate) fn of(case: &Case, judged: &Judged) -> Vec<Finding> {
    [
        by_class(judged),
        direct(case, judged),
        never_written(judged),
        by_filesystem(judged),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn numbers(evidence: &Evidence) -> Vec<(&'static str, Value)> {
    let mut numbers = vec![("issued_bytes", json!(evidence.bytes))];
    if let Ok(device) = &evidence.device {
        numbers.extend([
            ("device_bytes", json!(device.bytes)),
            ("device_ios", json!(device.ios)),
        ]);
    }
    numbers
}

fn by_class(judged: &Judged) -> Option<Finding> {
    let Judged {
        evidence,
        shares,
        class,
    } = judged;
    let (noun, numbers) = (evidence.direction.noun(), numbers(evidence));
    let name = evidence
        .device
        .as_ref()
        .map_or("storage", |device| device.name.as_str());
    let told = |severity, code, sentence, remedy| {
        Some(Finding::new(severity, code, sentence, &numbers, remedy))
    };
    match class {
        VerdictClass::PageCache if !evidence.direct => told(
            Serious,
            "cache_answered",
            format!("The number is that of memory, not of {name}."),
            "Write direct=1 to go past the page cache (memory that keeps copies of files), or work on at least twice the memory.",
        )
        .map(|finding| finding.with_rerun(("Rerun direct", json!({"direct": 1})))),
        VerdictClass::Readahead => told(
            Warning,
            "readahead_answered",
            format!(
                "Readahead turned {} small {noun} into {} large ones.",
                count(evidence.ios),
                count(evidence.device.as_ref().map_or(0, |device| device.ios))
            ),
            "Write direct=1 for I/Os of this size, or fadvise_hint=random to turn readahead off.",
        )
        .map(|finding| finding.with_rerun(("Rerun direct", json!({"direct": 1})))),
        VerdictClass::DeferredWrite => told(
            Serious,
            "deferred_write",
            format!("Most of what was written was still in memory at the end; {name} had yet to take it."),
            "Write direct=1, or end_fsync=1 to have the flush told beside it, or run until dirty memory stays level.",
        )
        .map(|finding| finding.with_rerun(("Rerun with end_fsync", json!({"end_fsync": 1})))),
        VerdictClass::Amplified => told(
            Warning,
            "more_than_asked",
            format!("{name} moved {} more than was asked: {}.", bytes(shares.excess), excess_is(evidence)),
            "Blocks of the filesystem's size, written before, cost the least beside; a raw device has no metadata.",
        ),
        _ => None,
    }
}

fn excess_is(evidence: &Evidence) -> String {
    match (evidence.direction, evidence.metadata) {
        (Direction::Read, _) => "readahead in vain, or whole pages for parts of them".into(),
        (Direction::Write, Some(reason)) => {
            format!("the filesystem's own, since {reason}, or a neighbour's")
        }
        (Direction::Write, None) => "whole pages for parts of them".into(),
    }
}

/// Direct I/O that went through a page cache all the same.
fn direct(case: &Case, judged: &Judged) -> Option<Finding> {
    let Judged {
        evidence, shares, ..
    } = judged;
    if !evidence.direct || evidence.is_loop_cached {
        return None;
    }
    let past = |target: &&TargetReport| {
        dir(
            evidence.direction,
            target.direct.reads_past_cache,
            target.direct.writes_past_cache,
        )
    };
    let target = case
        .report
        .targets
        .iter()
        .find(|target| past(target) == Some(false));
    let by_memory = shares.page_cache >= NOTHING.value;
    if !by_memory && target.is_none() {
        return None;
    }
    let noun = evidence.direction.noun();
    let why = target
        .and_then(|target| target.direct.reasons.first())
        .map_or(String::new(), |reason| format!(" {reason}"));
    let sentence = format!("The {noun} were direct, and went through memory all the same.{why}");
    let remedy = "Use a file on a disk with ext4 or xfs, or on btrfs one with nodatacow (chattr +C while it is empty).";
    Some(Finding::new(
        Serious,
        "direct_not_honoured",
        sentence,
        &numbers(evidence),
        remedy,
    ))
}

fn never_written(judged: &Judged) -> Option<Finding> {
    let Judged {
        evidence, shares, ..
    } = judged;
    let empty = evidence
        .empty
        .filter(|_| evidence.direction == Direction::Read && evidence.deviceless.is_none())?;
    if empty < NOTHING.value {
        return None;
    }
    let part = if empty > 1.0 - NOTHING.value {
        "The whole region".into()
    } else {
        format!("{:.0} % of the region", empty * 100.0)
    };
    let sentence = format!(
        "{part} was never written: the filesystem answers such blocks with zeros and asks no device."
    );
    let remedy = "Write the file first: file_state=written lays it out with data.";
    let numbers = [
        ("unwritten_share", json!(empty)),
        ("answered_share", json!(shares.unwritten)),
    ];
    let finding = Finding::new(Serious, "unwritten_blocks", sentence, &numbers, remedy);
    Some(finding.with_rerun(rerun::written()))
}

fn by_filesystem(judged: &Judged) -> Option<Finding> {
    let Judged {
        evidence, shares, ..
    } = judged;
    if evidence.encoded >= NOTHING.value {
        let sentence = format!(
            "{:.0} % of the region is compressed or inline: less is stored than is read and written.",
            evidence.encoded * 100.0
        );
        let remedy =
            "Write data that does not compress (refill_buffers=1), or mount without compress.";
        let severity = if shares.filesystem >= NOTHING.value {
            Serious
        } else {
            Note
        };
        return Some(Finding::new(
            severity,
            "compressed",
            sentence,
            &[("encoded_share", json!(evidence.encoded))],
            remedy,
        ));
    }
    (shares.filesystem >= NOTHING.value).then(|| {
        let sentence = format!(
            "{:.0} % of the direct {} asked no device, and the filesystem does not tell why: never written, perhaps.",
            shares.filesystem * 100.0,
            evidence.direction.noun()
        );
        let remedy = "Write the file first (file_state=written), or use a filesystem that tells its extents, such as ext4 or xfs.";
        Finding::new(Serious, "filesystem_answered", sentence, &numbers(evidence), remedy).with_rerun(rerun::written())
    })
}
