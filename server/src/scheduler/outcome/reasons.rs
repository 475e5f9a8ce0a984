//! Messages that explain why a run failed.

use leadline_protocol::{
    format,
    report::{JobReport, missing_time::Stalls, verify::VerifyReport},
};

/// Example: `Bad blocks in job db: 2 of 4,096. First: offset 8,192 of /data/file (stale).`
pub(super) fn damage_reason(job: &JobReport, verify: &VerifyReport) -> String {
    let first = verify.failures.first().map_or_else(String::new, |block| {
        let kind = block.kind.as_str();
        let offset = format::count(block.offset);
        format!(" First: offset {offset} of {} ({kind}).", block.path)
    });
    format!(
        "Bad blocks in job {}: {} of {}.{first}",
        job.name,
        format::count(verify.bad_blocks),
        format::count(verify.checked_blocks)
    )
}

/// Example: `Job randread completed no I/O for 9.40 s of 10.0 s.`
pub(super) fn stall_reason(job: &JobReport, stalls: &Stalls) -> String {
    // The times are those of one worker. Other workers may have completed I/Os.
    let subject = if job.workers > 1 {
        "One worker of job"
    } else {
        "Job"
    };
    format!(
        "{subject} {} completed no I/O for {} of {}.",
        job.name,
        format::duration(stalls.total_ms),
        format::duration(job.duration_ms)
    )
}

pub(super) fn signal_text(signal: i32) -> String {
    let name = match signal {
        6 => " (SIGABRT)",
        7 => " (SIGBUS)",
        9 => " (SIGKILL)",
        11 => " (SIGSEGV)",
        15 => " (SIGTERM)",
        _ => "",
    };
    format!("signal {signal}{name}")
}
