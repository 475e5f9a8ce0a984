//! Findings about the layer that served a direction, with a rerun that measures the device.

use crate::analysis::{
    context::{Context, DirectionAnalysis},
    findings::rerun,
    verdict::{
        evidence::{Evidence, targets::falls_back_to_page_cache},
        threshold::NEGLIGIBLE,
    },
};
use leadline_protocol::{
    evidence::{target::TargetReport, transition::Direction},
    finding::{
        Finding,
        Severity::{Serious, Warning},
    },
    format::{bytes, count},
    job::keyword::FileState,
    verdict::{ModifierKind, VerdictClass},
};
use serde_json::{Value, json};
use std::path::Path;

pub(crate) fn findings(context: &Context, analysis: &DirectionAnalysis) -> Vec<Finding> {
    let findings = [
        class_finding(context, analysis),
        direct_io_fallback(context, analysis),
        unwritten_blocks(analysis),
        compressed(context, analysis),
    ];
    findings.into_iter().flatten().collect()
}

fn numbers(evidence: &Evidence) -> Value {
    let mut numbers = json!({"issued_bytes": evidence.bytes});
    if let Ok(device) = &evidence.device {
        numbers["device_bytes"] = json!(device.bytes);
        numbers["device_ios"] = json!(device.ios);
    }
    numbers
}

fn class_finding(context: &Context, analysis: &DirectionAnalysis) -> Option<Finding> {
    let evidence = &analysis.evidence;
    let noun = evidence.direction.noun();
    let numbers = numbers(evidence);
    let device = evidence.device.as_ref().ok();
    let name = device.map_or("storage", |device| device.name.as_str());
    let finding =
        |severity, code, sentence, remedy| Finding::new(severity, code, sentence, numbers, remedy);
    let modifier = |kind| analysis.modifier(kind).is_some();
    match analysis.class {
        VerdictClass::PageCache if !evidence.direct => {
            let sentence = format!("The result reflects memory, not {name}.");
            finding(
                Serious,
                "served_from_cache",
                sentence,
                "Set direct=1 to bypass the page cache, or use a target at least twice as large as memory.",
            )
            .with_rerun(rerun::direct())
        }
        VerdictClass::Device if modifier(ModifierKind::Readahead) => {
            let sentence = format!(
                "Readahead turned {} small {noun} into {} large ones.",
                count(evidence.ios),
                count(device.map_or(0, |device| device.ios))
            );
            finding(
                Warning,
                "readahead",
                sentence,
                "Set direct=1 to issue I/Os of this size, or fadvise_hint=random to disable readahead.",
            )
            .with_rerun(rerun::direct())
        }
        VerdictClass::Mixed if is_partly_cached_read(analysis) => {
            let percent = analysis.shares.page_cache * 100.0;
            let sentence =
                format!("{percent:.1} % of the reads were served from memory, not from {name}.");
            finding(
                Serious,
                "partly_from_cache",
                sentence,
                "Set direct=1 to bypass the page cache, or use a target at least twice as large as memory.",
            )
            .with_rerun(rerun::direct())
        }
        VerdictClass::DeferredWrite => {
            let sentence = format!(
                "Most of the written data was still in memory at the end and had not reached {name}."
            );
            finding(
                Serious,
                "deferred_write",
                sentence,
                "Set direct=1, or end_fsync=1 to measure the flush, or run until the amount of dirty memory is stable.",
            )
            .with_rerun(rerun::flushed())
        }
        VerdictClass::Device if modifier(ModifierKind::Amplified) => {
            let sentence = format!(
                "{name} transferred {} more than the run issued: {}.",
                bytes(analysis.transfers.excess_bytes),
                excess_reason(evidence)
            );
            let finding = finding(
                Warning,
                "amplification",
                sentence,
                "Overwrites that use the filesystem block size cause the least additional I/O; a raw device has no metadata.",
            );
            match rerun_with_less_amplification(context, evidence) {
                Some(rerun) => finding.with_rerun(rerun),
                None => Some(finding),
            }
        }
        _ => None,
    }
}

/// Whether the page cache served some of the buffered reads.
fn is_partly_cached_read(
    DirectionAnalysis {
        evidence, shares, ..
    }: &DirectionAnalysis,
) -> bool {
    let is_buffered_read = evidence.direction == Direction::Read && !evidence.direct;
    is_buffered_read && shares.page_cache >= NEGLIGIBLE.value
}

/// A rerun that avoids the known cause of the additional transfers.
fn rerun_with_less_amplification(context: &Context, evidence: &Evidence) -> Option<rerun::Rerun> {
    match (evidence.direction, evidence.metadata_reason) {
        // A patch applies to all jobs, and read-only jobs cannot overwrite.
        (Direction::Write, Some(_)) => {
            let all_write = !context.any_job(|job| !job.pattern.rw.writes());
            let is_overwrite = context.any_job(|job| job.target.file_state == FileState::Overwrite);
            (all_write && !is_overwrite).then(rerun::overwrite)
        }
        // A rerun with direct I/O has neither readahead nor whole-page I/O. No rerun helps if the
        // I/O is already direct.
        _ => (!evidence.direct).then(rerun::direct),
    }
}

fn excess_reason(evidence: &Evidence) -> String {
    match (evidence.direction, evidence.metadata_reason) {
        (Direction::Read, _) => "unused readahead, or whole pages for partial reads".into(),
        (Direction::Write, Some(reason)) => format!("metadata ({reason}) or foreign I/O"),
        (Direction::Write, None) => "whole pages for partial writes".into(),
    }
}

fn direct_io_fallback(context: &Context, analysis: &DirectionAnalysis) -> Option<Finding> {
    let DirectionAnalysis {
        evidence, shares, ..
    } = analysis;
    if !evidence.direct || evidence.is_loop_cached {
        return None;
    }
    let mut targets = context.report.targets.iter();
    let is_direct = |target: &TargetReport| {
        context.any_job(|job| {
            job.direct && evidence.direction.is_used_by(job) && target.jobs.contains(&job.name)
        })
    };
    let target = targets
        .find(|target| is_direct(target) && falls_back_to_page_cache(evidence.direction, target));
    if shares.page_cache < NEGLIGIBLE.value && target.is_none() {
        return None;
    }
    let reason = target.and_then(|target| target.direct.reasons.first());
    let reason = reason.map_or(String::new(), |reason| format!(" {reason}"));
    let noun = evidence.direction.noun();
    let sentence = format!("Direct {noun} went through the page cache.{reason}");
    let finding = Finding::new(
        Serious,
        "direct_io_fallback",
        sentence,
        numbers(evidence),
        "Use a file on ext4 or xfs, or a new file with nodatacow on btrfs.",
    );
    Some(finding.with_command(target.and_then(nodatacow_command)))
}

/// New files inherit the attributes of their directory. Existing files with data keep their
/// attributes.
fn nodatacow_command(target: &TargetReport) -> Option<String> {
    let reasons = &target.direct.reasons;
    if !reasons.iter().any(|reason| reason.contains("chattr +C")) {
        return None;
    }
    let directory = Path::new(&target.path).parent()?.to_str()?;
    Some(format!("chattr +C {}", quote_for_shell(directory)))
}

/// Quotes a word for a shell.
fn quote_for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn unwritten_blocks(analysis: &DirectionAnalysis) -> Option<Finding> {
    let DirectionAnalysis {
        evidence, shares, ..
    } = analysis;
    let unwritten = evidence.unwritten_share?;
    let is_device_read = evidence.direction == Direction::Read && evidence.no_device.is_none();
    if !is_device_read || unwritten < NEGLIGIBLE.value {
        return None;
    }
    let part = if unwritten > 1.0 - NEGLIGIBLE.value {
        "The whole region".into()
    } else {
        format!("{:.0} % of the region", unwritten * 100.0)
    };
    let sentence = format!(
        "{part} was never written: the filesystem returns zeros without reading the device."
    );
    Finding::new(
        Serious,
        "unwritten_blocks",
        sentence,
        json!({"unwritten_share": unwritten, "served_share": shares.unwritten}),
        "Write the file first, with file_state=written.",
    )
    .with_rerun(rerun::written())
}

fn compressed(context: &Context, analysis: &DirectionAnalysis) -> Option<Finding> {
    let share = analysis.evidence.encoded_share;
    if share < NEGLIGIBLE.value {
        return None;
    }
    let sentence = format!(
        "{:.0} % of the region is compressed or inline: fewer bytes are stored than read and written.",
        share * 100.0
    );
    let finding = Finding::new(
        Serious,
        "compressed",
        sentence,
        json!({"encoded_share": share}),
        "Use incompressible data (refill_buffers=1), or mount without compression.",
    );
    // With `refill_buffers`, the data is incompressible, so the reported parts are inline and a
    // rerun would not help.
    if !context.any_job(|job| !job.data.refill_buffers) {
        return Some(finding);
    }
    let reads_only = context.any_job(|job| !job.pattern.rw.writes());
    finding.with_rerun(rerun::incompressible(reads_only))
}
