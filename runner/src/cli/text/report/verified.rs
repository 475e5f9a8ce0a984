//! Blocks that were read back (`verify`).

use crate::cli::text::{
    style::{GREEN, RED, YELLOW},
    writer::TextWriter,
};
use leadline_protocol::{
    format::{bytes, count, duration},
    report::{
        Report,
        verify::{BadBlock, VerifyReport},
    },
};

/// Maximum number of blocks shown; the JSON report lists all of them.
const MAX_BLOCKS: usize = 10;

pub(super) fn write_verified(out: &mut TextWriter, report: &Report) {
    for job in &report.jobs {
        let Some(verify) = &job.verify else { continue };
        let style = match verify {
            _ if verify.bad_blocks > 0 => RED,
            _ if verify.not_run.is_some() || verify.skipped_blocks > 0 => YELLOW,
            _ => GREEN,
        };
        let text = if report.jobs.len() > 1 {
            format!("{}: {}", job.name, summary(verify))
        } else {
            summary(verify)
        };
        out.styled_field(style, "verified", &text);
        for block in verify.failures.iter().take(MAX_BLOCKS) {
            out.field("", &bad_block(block));
        }
        let hidden = verify.bad_blocks.saturating_sub(MAX_BLOCKS as u64);
        if hidden > 0 {
            let text = format!("{} more bad blocks (see --json)", count(hidden));
            out.field("", &text);
        }
    }
}

/// For example, `4,096 blocks (16 MiB) in 20 ms: no bad blocks`.
fn summary(verify: &VerifyReport) -> String {
    let mut text = format!(
        "{} blocks ({}) in {}",
        count(verify.checked_blocks),
        bytes(verify.checked_bytes),
        duration(verify.duration_ms)
    );
    text += &match verify.bad_blocks {
        0 if verify.checked_blocks > 0 => ": no bad blocks".into(),
        0 => String::new(),
        bad => format!(": {} bad", count(bad)),
    };
    if verify.skipped_blocks > 0 {
        text += &format!(", {} not checked", count(verify.skipped_blocks));
    }
    match &verify.not_run {
        Some(reason) => format!("{text} ({reason})"),
        None => text,
    }
}

fn bad_block(block: &BadBlock) -> String {
    format!(
        "{} at offset {} of {}: {}",
        block.kind.as_str(),
        count(block.offset),
        block.path,
        block.detail
    )
}
