//! The state around the numbers: what of each target lay in the page cache and on the device, what stayed dirty and how long
//! the flush took, and what was not measured.

use crate::cli::print::sheet::Sheet;
use crate::cli::print::style::Tone;
use leadline_protocol::counters::Residency;
use leadline_protocol::evidence::{FlushReport, TargetReport, Writeback};
use leadline_protocol::format::{bytes, duration};
use leadline_protocol::report::Report;
use std::collections::BTreeSet;

/// Targets that are shown one by one.
const SHOWN: usize = 4;
/// Below this the writers of a run were not slowed, in ms.
const NOTICED_MS: f64 = 1.0;

/// Cache, blocks and writeback.
pub fn state(out: &mut Sheet, report: &Report) {
    let files: Vec<&TargetReport> = report
        .targets
        .iter()
        .filter(|target| target.region_bytes > 0)
        .collect();
    for target in files.iter().take(SHOWN) {
        if files.len() > 1 {
            out.line(Tone::Aside, "of", &target.path);
        }
        one(out, target);
    }
    if files.len() > SHOWN {
        out.line(
            Tone::Aside,
            "",
            &format!("and {} targets more, in --json", files.len() - SHOWN),
        );
    }
    if let Some(flush) = &report.flush {
        out.line(Tone::Aside, "dirty", &dirty(flush));
    }
    if let Some(host) = &report.writeback {
        out.line(Tone::Aside, "host", &writeback(host));
    }
}

fn one(out: &mut Sheet, target: &TargetReport) {
    let found = &target.residency;
    let cached = |name: &str, seen: Option<Residency>| {
        let share = |cached: u64| {
            format!(
                "{:.1} %",
                cached as f64 * 100.0 / target.region_bytes as f64
            )
        };
        seen.map(|seen| format!("{name} {} ({})", bytes(seen.cached), share(seen.cached)))
    };
    let course = [
        cached("found", found.initial),
        cached("start", found.start),
        cached("end", found.end),
    ];
    let course: Vec<String> = course.into_iter().flatten().collect();
    if !course.is_empty() {
        out.line(
            Tone::Aside,
            "cache",
            &format!("{} of {}", course.join(" → "), bytes(target.region_bytes)),
        );
    }
    if let Some(share) = target.state.written_share {
        let was = if target.state.existed {
            "there before"
        } else {
            "made by this run"
        };
        out.line(
            Tone::Aside,
            "blocks",
            &format!("{:.1} % of the region held data, {was}", share * 100.0),
        );
    }
}

fn dirty(flush: &FlushReport) -> String {
    let left = flush.dirty_bytes.map_or("not known how much".into(), bytes);
    match flush.duration_ms {
        Some(ms) => format!(
            "{left} left in memory at the end · flushed in {}",
            duration(ms)
        ),
        None if flush.dirty_bytes == Some(0) => "0 B left in memory at the end".into(),
        None => format!(
            "{left} left in memory at the end · not flushed, and not timed: end_fsync=1 does both"
        ),
    }
}

fn writeback(host: &Writeback) -> String {
    let slowed = host.throttled_ms.filter(|ms| *ms >= NOTICED_MS);
    let slowed = slowed.map_or(String::new(), |ms| {
        format!(" · writers of this run held back for {}", duration(ms))
    });
    format!(
        "{} dirtied · {} written back, by everybody{slowed}",
        bytes(host.dirtied_bytes),
        bytes(host.written_bytes)
    )
}

/// What was not measured, and why: each reason once, with all that it took away.
pub fn absent(out: &mut Sheet, report: &Report) {
    // Of what the run made itself there was nothing to be found before.
    let of_target = |target: &'_ TargetReport| {
        let (existed, absent) = (target.state.existed, target.absent.clone());
        absent
            .into_iter()
            .filter(move |(what, _)| existed || what != "found")
    };
    let all = report
        .absent
        .clone()
        .into_iter()
        .chain(report.targets.iter().flat_map(of_target));
    let mut reasons: Vec<(String, BTreeSet<String>)> = Vec::new();
    for (what, reason) in all {
        let what = what.replace('_', " ");
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, names)) => drop(names.insert(what)),
            None => reasons.push((reason, BTreeSet::from([what]))),
        }
    }
    for (reason, names) in reasons {
        out.line(
            Tone::Mind,
            "no number",
            &format!(
                "{}: {reason}",
                names.into_iter().collect::<Vec<_>>().join(", ")
            ),
        );
    }
}
