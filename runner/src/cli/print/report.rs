//! A report as a terminal shows it: how deep the I/O went first, then the numbers, then the state around them, what to know
//! about it, and how to check us.

pub(crate) mod depth;
pub(crate) mod numbers;
pub(crate) mod state;
#[cfg(test)]
pub(crate) mod tests;

use crate::cli::print::sheet::Sheet;
use crate::cli::print::style::{Style, Tone};
use leadline_protocol::evidence::Direction;
use leadline_protocol::finding::Severity;
use leadline_protocol::format::{bytes, count};
use leadline_protocol::plan::resolved::{Mode, ResolvedJob, TargetKind};
use leadline_protocol::result::RunResult;
use leadline_protocol::verdict::{Layer, Proof, Verdict};

/// Width of a difference with its unit, in characters.
const DIFFERENCE: usize = 21;

/// The whole report as text.
pub fn report(jobs: &[ResolvedJob], outcome: &RunResult, style: Style) -> String {
    let RunResult {
        report, verdict, ..
    } = outcome;
    let mut out = Sheet::new(style);
    for job in jobs {
        out.line(Tone::Name, &job.name, &workload(job));
    }
    for (direction, verdict) in [
        (Direction::Read, &verdict.read),
        (Direction::Write, &verdict.write),
    ] {
        if let Some(verdict) = verdict {
            out.gap();
            depth::depth(&mut out, direction, verdict, report, jobs);
        }
    }
    out.gap();
    numbers::numbers(&mut out, report);
    if report.jobs.len() > 1 {
        numbers::per_job(&mut out, report);
    }
    out.gap();
    state::state(&mut out, report);
    state::absent(&mut out, report);
    findings(&mut out, outcome);
    check(
        &mut out,
        [&verdict.read, &verdict.write].into_iter().flatten(),
    );
    out.into_text()
}

/// One job in a line, such as `randread · 4 KiB · depth 32 · 1 clone · direct · io_uring · /data/t1 (1 GiB) on vda`.
pub fn workload(job: &ResolvedJob) -> String {
    let sizes = if job.pattern.rw.reads() {
        &job.pattern.bs.read
    } else {
        &job.pattern.bs.write
    };
    let size = if sizes.min == sizes.max {
        bytes(sizes.min)
    } else {
        format!("{} to {}", bytes(sizes.min), bytes(sizes.max))
    };
    let rw = serde_json::to_value(job.pattern.rw)
        .ok()
        .and_then(|rw| rw.as_str().map(str::to_owned))
        .unwrap_or_default();
    let clones = if job.numjobs == 1 {
        "1 clone".to_string()
    } else {
        format!("{} clones", job.numjobs)
    };
    let (mode, engine) = (mode(job), job.ring.ioengine.word());
    format!(
        "{rw} · {size} · depth {} · {clones} · {mode} · {engine} · {}",
        job.in_flight(),
        targets(job)
    )
}

fn mode(job: &ResolvedJob) -> &'static str {
    let is_own_loop = job
        .targets
        .iter()
        .any(|target| target.kind == TargetKind::Loop);
    match (job.mode, is_own_loop, job.direct) {
        (Mode::Buffered, ..) => "buffered",
        (Mode::Direct, ..) => "direct",
        (Mode::Raw, true, true) => "raw (loop device of our own), direct",
        (Mode::Raw, true, false) => "raw (loop device of our own), buffered",
        (Mode::Raw, false, true) => "raw, direct",
        (Mode::Raw, false, false) => "raw, buffered",
        (Mode::Null, ..) => "no I/O",
    }
}

fn targets(job: &ResolvedJob) -> String {
    let Some(first) = job.targets.first() else {
        return "no target".into();
    };
    let more = if job.targets.len() > 1 {
        format!(" and {} more", job.targets.len() - 1)
    } else {
        String::new()
    };
    let on = first
        .device
        .as_ref()
        .map(|device| format!(" on {device}"))
        .unwrap_or_default();
    format!("{} ({}){more}{on}", first.path, bytes(first.length))
}

fn findings(out: &mut Sheet, outcome: &RunResult) {
    if let Some(first) = &outcome.report.errors.first {
        let (offset, size) = (count(first.offset), bytes(first.bytes));
        let text = format!(
            "{} of {size} at byte {offset} failed in job {}: {}",
            first.operation, first.job, first.message
        );
        out.gap();
        out.line(
            Tone::Bad,
            "error",
            &format!("{text} ({} in all)", count(outcome.report.errors.total)),
        );
    }
    if !outcome.findings.is_empty() {
        out.gap();
    }
    for finding in &outcome.findings {
        let (tone, mark) = match finding.severity {
            Severity::Note => (Tone::Aside, "note"),
            Severity::Warning => (Tone::Mind, "mind"),
            Severity::Serious => (Tone::Bad, "MIND"),
        };
        out.line(tone, mark, &finding.sentence);
        out.hang(Tone::Aside, "", 2, &format!("→ {}", finding.remedy));
    }
}

/// What the kernel's own counters gained in the window, and the commands that show them before and after.
fn check<'a>(out: &mut Sheet, verdicts: impl Iterator<Item = &'a Verdict>) {
    let rows = verdicts
        .flat_map(|verdict| &verdict.proof)
        .filter(|row| row.layer >= Layer::Filesystem && !is_unchanged(row));
    let mut shown: Vec<&str> = Vec::new();
    for (row, command) in rows.filter_map(|row| Some((row, row.command.as_deref()?))) {
        if shown.contains(&command) {
            continue;
        }
        if shown.is_empty() {
            out.gap();
        }
        let label = if shown.is_empty() { "check" } else { "" };
        out.row(
            Tone::Aside,
            label,
            &format!("{:>DIFFERENCE$}  {command}", difference(row)),
        );
        shown.push(command);
    }
}

/// A state of the target that stayed as it was proves nothing by itself; a counter that stood still does.
fn is_unchanged(row: &Proof) -> bool {
    row.layer == Layer::Filesystem && row.before.is_some() && row.difference == 0
}

fn difference(row: &Proof) -> String {
    let sign = if row.difference < 0 { "-" } else { "+" };
    let unit = if row.unit == "bytes" { "B" } else { &row.unit };
    format!("{sign}{} {unit}", count(row.difference.unsigned_abs()))
}
