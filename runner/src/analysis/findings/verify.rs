//! Findings about written blocks that were read back.

use crate::analysis::context::Context;
use leadline_protocol::{
    finding::{
        Finding,
        Severity::{Serious, Warning},
    },
    format::{bytes, count},
    report::{JobReport, verify::VerifyReport},
};
use serde_json::json;
use std::collections::BTreeMap;

pub(crate) fn bad_blocks(context: &Context) -> Option<Finding> {
    let (job, verify) = context.report.damaged_job()?;
    Some(Finding::new(
        Serious,
        "bad_blocks",
        summary(job, verify),
        json!({"bad_blocks": verify.bad_blocks, "checked_blocks": verify.checked_blocks}),
        "Check the kernel log (dmesg) and the device's health.",
    ))
}

/// For example, `Bad blocks in job db: 2 of 4,096 (1 stale, 1 torn). First: offset 8,192 of
/// /data/file.`
fn summary(job: &JobReport, verify: &VerifyReport) -> String {
    let mut kinds: BTreeMap<&str, u64> = BTreeMap::new();
    for block in &verify.failures {
        *kinds.entry(block.kind.as_str()).or_default() += 1;
    }
    let kinds = kinds
        .into_iter()
        .map(|(kind, number)| format!("{number} {kind}"));
    let kinds: Vec<String> = kinds.collect();
    let is_partial = verify.bad_blocks > verify.failures.len() as u64;
    let listed = if is_partial {
        "among those listed: "
    } else {
        ""
    };
    let first = verify.failures.first().map_or_else(String::new, |block| {
        format!(" First: offset {} of {}.", count(block.offset), block.path)
    });
    format!(
        "Bad blocks in job {}: {} of {} ({listed}{}).{first}",
        job.name,
        count(verify.bad_blocks),
        count(verify.checked_blocks),
        kinds.join(", ")
    )
}

/// Reports blocks that were not checked, or not read from the device.
pub(crate) fn unverified(context: &Context) -> Option<Finding> {
    let jobs = context.report.jobs.iter();
    let mut reasons = jobs.filter_map(|job| reason(job, job.verify.as_ref()?));
    let sentence = reasons.next()?;
    Some(Finding::new(
        Warning,
        "not_verified",
        sentence,
        None,
        "Run it again to completion, or use direct=1 to read the device.",
    ))
}

fn reason(job: &JobReport, verify: &VerifyReport) -> Option<String> {
    let name = &job.name;
    if let Some(reason) = &verify.not_run {
        return Some(format!(
            "Not all blocks of job {name} were read back: {reason}."
        ));
    }
    if verify.skipped_blocks > 0 {
        let skipped = count(verify.skipped_blocks);
        return Some(format!(
            "{skipped} blocks of job {name} were not checked: their writes had not completed when the run ended."
        ));
    }
    let cached = verify.cached_bytes.filter(|cached| *cached > 0)?;
    Some(format!(
        "{} of job {name}'s data was read back from the page cache, not from the device.",
        bytes(cached)
    ))
}
