//! The run report: verdicts and gauge, measurements, cache state, findings, and commands that print
//! the kernel counters.

mod cache_state;
mod commands;
mod gauge;
mod measurements;
mod missing;
mod steady_state;
#[cfg(test)]
mod tests;
mod verified;

use crate::cli::text::{
    findings::write_findings,
    style::{BOLD, RED},
    writer::TextWriter,
};
use leadline_protocol::{
    evidence::transition::Direction,
    format::{bytes, count},
    plan::{job::ResolvedJob, workload::workload},
    report::{ErrorReport, Report},
    result::RunResult,
};

pub(crate) fn render(jobs: &[ResolvedJob], result: &RunResult, width: usize) -> String {
    let report = &result.report;
    let verdicts = &result.verdict;
    let mut out = TextWriter::new(width);
    for job in jobs {
        out.styled_field(BOLD, &job.name, &workload(job));
    }
    for direction in [Direction::Read, Direction::Write] {
        if let Some(verdict) = direction.select(&verdicts.read, &verdicts.write) {
            out.blank_line();
            gauge::write_direction(&mut out, direction, verdict, report);
        }
    }
    out.blank_line();
    if jobs.iter().any(ResolvedJob::is_measured) {
        write_measured_sections(&mut out, report);
    }
    verified::write_verified(&mut out, report);
    write_error(&mut out, &report.errors);
    if !result.findings.is_empty() {
        out.blank_line();
        write_findings(&mut out, &result.findings);
    }
    commands::write_commands(&mut out, verdicts);
    out.into_text()
}

fn write_measured_sections(out: &mut TextWriter, report: &Report) {
    measurements::write_measurements(out, report);
    steady_state::write_steady_states(out, report);
    if report.jobs.len() > 1 {
        out.blank_line();
        measurements::write_jobs(out, report);
    }
    out.blank_line();
    cache_state::write_cache_state(out, report);
    missing::write_missing(out, report);
}

fn write_error(out: &mut TextWriter, errors: &ErrorReport) {
    let Some(first) = &errors.first else {
        return;
    };
    let text = format!(
        "{} failed, first: job {}, {} of {} at offset {}: {}",
        count(errors.total),
        first.job,
        first.operation,
        bytes(first.bytes),
        count(first.offset),
        first.message
    );
    out.blank_line();
    out.styled_field(RED, "I/O errors", &text);
    for error in &errors.tolerated {
        let text = format!(
            "job {} continued after {} × {}: {}",
            error.job,
            count(error.count),
            error.operation,
            error.message
        );
        out.field("", &text);
    }
}
