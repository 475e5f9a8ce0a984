//! Answers to the questions behind published test recipes, such as "is this disk fast enough for
//! etcd?". Each question is recognized from the shape of the jobs (`table`), not from their names.
//! It is answered only if a device served the run's I/Os, because a result from memory does not
//! describe the disk.

mod answer;
mod limit;
mod table;
mod workload;

use crate::analysis::{
    context::Context,
    findings::{
        foreign_io, host, missing_time,
        questions::{limit::Limit, table::QUESTIONS, workload::Workload},
        saturation,
    },
};
use leadline_protocol::{
    evidence::transition::Direction,
    finding::{Finding, SHORT_RUN_MS, Severity::Note},
    report::{EndedBy, Report},
    verdict::VerdictClass,
};

pub(crate) fn answered(context: &Context) -> Option<Finding> {
    let workload = Workload::of(context.jobs)?;
    let question = QUESTIONS
        .iter()
        .find(|question| (question.is_asked)(&workload))?;
    if !is_answerable(context, &workload, question.min_ios) {
        return None;
    }
    let report = context.report;
    let answer = (question.answer)(&workload, report)?;
    // A disk may be faster for the first few seconds, so most limits do not apply to short runs.
    let is_short = report.duration_ms < SHORT_RUN_MS as f64;
    let limits = question.limits.iter();
    let limits: Vec<_> = limits
        .filter(|limit| (limit.applies_to)(&workload))
        .filter(|limit| !is_short || limit.applies_to_short_runs())
        .collect();
    let mut sentence = answer.sentence;
    let mut all_met = true;
    for limit in &limits {
        let value = limit.metric.value(report)?;
        let comparison = limit.comparison(&workload, value);
        sentence = format!("{sentence} {comparison}");
        all_met &= limit.is_met(value);
    }
    if !all_met && let Some(code) = slowdown_cause(context) {
        sentence +=
            &format!(" The disk may be faster, however: other causes slowed this run ({code}).");
    }
    let remedy = remedy(&limits, question.advice);
    Some(Finding::new(
        Note,
        question.code,
        sentence,
        answer.evidence,
        &remedy,
    ))
}

/// Returns the code of a finding that reports that something other than the storage slowed the run.
fn slowdown_cause(context: &Context) -> Option<String> {
    let causes = [
        missing_time::runner_paused,
        saturation::cpu_bound,
        foreign_io::foreign_io,
        host::thermal_throttling,
    ];
    let finding = causes.iter().find_map(|cause| cause(context))?;
    Some(finding.code)
}

/// Lists the documents that contain the limits, followed by advice on how to get a comparable
/// result.
fn remedy(limits: &[&Limit], advice: &str) -> String {
    let mut sources: Vec<_> = limits.iter().map(|limit| limit.source).collect();
    sources.dedup();
    if sources.is_empty() {
        return advice.into();
    }
    format!("Source: {}. {advice}", sources.join("; "))
}

/// Whether the run is complete and all its directions reached the device, with enough I/Os (or
/// flushes).
fn is_answerable(context: &Context, workload: &Workload, min_ios: u64) -> bool {
    let report = context.report;
    if !is_complete(report) {
        return false;
    }
    let count = |ios: u64| match workload.flush {
        Some(_) => report.sync.ios,
        None => ios,
    };
    [
        (workload.reads, Direction::Read, report.read.ios),
        (workload.writes, Direction::Write, report.write.ios),
    ]
    .into_iter()
    .filter(|(is_used, ..)| *is_used)
    .all(|(_, direction, ios)| count(ios) >= min_ios && is_from_device(context, direction))
}

/// Whether the run completed as requested: it was not stopped, and no I/O failed or was too slow.
fn is_complete(report: &Report) -> bool {
    use EndedBy::*;
    let has_ended = matches!(
        report.ended_by,
        Some(Size | Runtime | NumberIos | SteadyState)
    );
    let is_damaged = report.damaged_job().is_some() || report.stalled_job().is_some();
    has_ended && !is_damaged && report.errors.total == 0 && report.violated_limit().is_none()
}

fn is_from_device(context: &Context, direction: Direction) -> bool {
    let found = context.direction(direction);
    found.is_some_and(|analysis| analysis.class == VerdictClass::Device)
}

/// The finding code of the question that the jobs match.
#[cfg(test)]
pub(crate) fn question_code(
    jobs: &[leadline_protocol::plan::job::ResolvedJob],
) -> Option<&'static str> {
    let workload = Workload::of(jobs)?;
    let mut questions = QUESTIONS.iter();
    let question = questions.find(|question| (question.is_asked)(&workload))?;
    Some(question.code)
}
