//! Page cache residency of the targets, allocated blocks, flush and writeback.

use crate::cli::text::writer::{TextWriter, join};
use leadline_protocol::{
    counters::Residency,
    evidence::{FlushReport, Writeback, target::TargetReport},
    format::{bytes, duration},
    report::Report,
};

/// Maximum number of targets shown; the JSON report lists all of them.
const MAX_TARGETS: usize = 4;
/// Minimum writer throttling time that is shown, in ms.
const MIN_THROTTLED_MS: f64 = 1.0;

pub(super) fn write_cache_state(out: &mut TextWriter, report: &Report) {
    let targets: Vec<&TargetReport> = report
        .targets
        .iter()
        .filter(|target| target.region_bytes > 0)
        .collect();
    for target in targets.iter().take(MAX_TARGETS) {
        if targets.len() > 1 {
            out.field("target", &target.path);
        }
        write_target(out, target);
    }
    if targets.len() > MAX_TARGETS {
        let text = format!("{} more targets (see --json)", targets.len() - MAX_TARGETS);
        out.field("", &text);
    }
    if let Some(flush) = &report.flush {
        out.field("dirty", &dirty(flush));
    }
    if let Some(writeback) = &report.writeback {
        out.field("writeback", &writeback_text(writeback));
    }
}

fn write_target(out: &mut TextWriter, target: &TargetReport) {
    let cached = |name: &str, residency: Option<Residency>| {
        let cached = residency?.cached;
        let percent = cached as f64 * 100.0 / target.region_bytes as f64;
        Some(format!("{name} {} ({percent:.1} %)", bytes(cached)))
    };
    let residency = &target.residency;
    let states = [
        cached("before", residency.initial),
        cached("start", residency.start),
        cached("end", residency.end),
    ];
    if states.iter().any(Option::is_some) {
        let states = join(states, " → ");
        out.field(
            "cached",
            &format!("{states} of {}", bytes(target.region_bytes)),
        );
    }
    if let Some(share) = target.state.written_share {
        let file = if target.state.existed {
            "existing"
        } else {
            "created by this run"
        };
        let text = format!("{:.1} % of the region held data ({file})", share * 100.0);
        out.field("blocks", &text);
    }
}

fn dirty(flush: &FlushReport) -> String {
    let dirty = flush.dirty_bytes.map_or("unknown size".into(), bytes);
    match flush.duration_ms {
        Some(ms) => format!("{dirty} at the end · flushed in {}", duration(ms)),
        None if flush.dirty_bytes == Some(0) => "0 B at the end".into(),
        None => format!("{dirty} at the end · not flushed (end_fsync=1 flushes and measures it)"),
    }
}

fn writeback_text(writeback: &Writeback) -> String {
    let throttled = writeback
        .throttled_ms
        .filter(|ms| *ms >= MIN_THROTTLED_MS)
        .map(|ms| format!("this run's writers were throttled for {}", duration(ms)));
    let host = format!(
        "{} dirtied · {} written back (whole host)",
        bytes(writeback.dirtied_bytes),
        bytes(writeback.written_bytes)
    );
    join([Some(host), throttled], " · ")
}
