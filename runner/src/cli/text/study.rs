//! The plan and the results of a study.

use crate::cli::text::{
    plan,
    style::{BOLD, DIM, RED, YELLOW, paint},
    writer::{TextWriter, number_table},
};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table};
use leadline_compare::interim_looks::plan_text;
use leadline_protocol::{
    finding::Finding,
    format::{bandwidth, latency, rate},
    report_summary::ReportSummary,
    result::RunResult,
    study::{
        plan::{StepPlan, StudyPlan},
        procedure::Procedure,
        snia::SniaRun,
        until_decided::{Look, LookOutcome},
    },
};

pub(crate) enum StepResult<'a> {
    Done(&'a RunResult),
    /// Detail of the problem.
    Failed(&'a str),
    Skipped,
}

/// IOPS, bandwidth and p99 latency of a step.
struct Figures {
    iops: f64,
    texts: [String; 3],
}

impl Figures {
    fn new(result: &StepResult) -> Option<Self> {
        let StepResult::Done(result) = result else {
            return None;
        };
        let summary = ReportSummary::new(&result.report, &result.verdict);
        let iops = summary.iops?;
        let p99 = summary.lat_p99_ns.map(|ns| latency(ns as f64));
        let texts = [
            rate(iops),
            bandwidth(summary.bytes_per_second?),
            p99.unwrap_or("–".into()),
        ];
        Some(Self { iops, texts })
    }
}

pub(crate) fn render_plan(study: &StudyPlan, width: usize) -> String {
    let mut out = TextWriter::new(width);
    if !study.steps.is_empty() {
        write_title(&mut out, study);
    }
    for note in &study.notes {
        out.field("note", note);
    }
    for (number, step) in (1..).zip(&study.steps).take(listed_plans(study)) {
        out.blank_line();
        out.styled_field(BOLD, &format!("step {number}"), &step.name);
        out.push(&plan::render(&step.plan, width));
    }
    for problem in &study.problems {
        out.styled_field(RED, "error", &problem.to_string());
    }
    out.into_text()
}

/// Number of steps to list: all steps or, for a procedure, the steps up to the end of its first
/// round.
fn listed_plans(study: &StudyPlan) -> usize {
    match &study.procedure {
        Some(Procedure::Snia(test)) => {
            let is_listed =
                |run: &SniaRun| !matches!(run, SniaRun::Round { round, .. } if *round > 1);
            test.runs().iter().filter(|run| is_listed(run)).count()
        }
        Some(Procedure::LoadCurve(_)) | None => study.steps.len(),
    }
}

fn write_title(out: &mut TextWriter, study: &StudyPlan) {
    out.styled_field(BOLD, "study", &study.description.name);
    out.field("sizes", &study.scaled.sentence);
    if let Some(until) = &study.until_decided {
        out.field("ends", &plan_text(until));
    }
}

/// Formats the line that is printed when a step ends.
pub(crate) fn step_line(
    study: &StudyPlan,
    number: u32,
    step: &StepPlan,
    result: &StepResult,
    is_second_run: bool,
) -> String {
    // The number of runs in a load curve depends on its results.
    let total = match is_open(study) {
        true => String::new(),
        false => format!("/{}", study.steps.len()),
    };
    let progress = paint(DIM, format_args!("step {number}{total}"));
    let name = step_name(study, step);
    let text = match (Figures::new(result), result) {
        (Some(figures), _) => {
            let [iops, bandwidth, p99] = figures.texts;
            format!("{iops} IOPS · {bandwidth} · p99 {p99}")
        }
        (None, StepResult::Failed(detail)) => format!("failed: {detail}"),
        (None, _) => "skipped".into(),
    };
    let note = if is_second_run {
        " (second attempt; the first one failed)"
    } else {
        ""
    };
    format!("{progress}  {name}  {text}{note}\n")
}

fn is_open(study: &StudyPlan) -> bool {
    matches!(study.procedure, Some(Procedure::LoadCurve(_)))
}

/// Formats the line that is printed after a look.
pub(crate) fn look_line(look: &Look, width: usize) -> String {
    let mut out = TextWriter::new(width);
    let label = format!("look {}", look.planned.pairs);
    let style = match look.outcome {
        LookOutcome::Decided => BOLD,
        LookOutcome::Undecided => DIM,
        LookOutcome::NotComparable => RED,
    };
    out.styled_field(style, &label, &look.sentence);
    out.into_text()
}

/// The step's name, with the repeat number in repeated studies.
fn step_name(study: &StudyPlan, step: &StepPlan) -> String {
    let is_repeated = study.steps.iter().any(|step| step.repeat > 1);
    if is_repeated {
        format!("{} ({})", step.name, step.repeat)
    } else {
        step.name.clone()
    }
}

/// A line that compares a step with the first one.
pub(crate) fn answer(answer: &str, width: usize) -> String {
    let mut out = TextWriter::new(width);
    out.styled_field(BOLD, "result", answer);
    out.into_text()
}

/// A table of all steps, followed by their verdicts.
pub(crate) fn render_results(study: &StudyPlan, results: &[StepResult], width: usize) -> String {
    let mut out = TextWriter::new(width);
    out.blank_line();
    write_title(&mut out, study);
    if !is_open(study) {
        out.blank_line();
        out.table(&table(study, results, width));
    }
    out.blank_line();
    for (number, result) in (1..).zip(results) {
        // The results of a procedure already describe its runs.
        if study.procedure.is_none() || matches!(result, StepResult::Failed(_)) {
            write_outcome(&mut out, number, result);
        }
    }
    out.into_text()
}

fn table(study: &StudyPlan, results: &[StepResult], width: usize) -> Table {
    let mut table = number_table(["#", "step", "IOPS", "bandwidth", "p99", "vs. first"]);
    let mut first_iops = None;
    for (number, (step, result)) in (1..).zip(study.steps.iter().zip(results)) {
        if study.procedure.is_some() && matches!(result, StepResult::Skipped) {
            continue;
        }
        let mut row = vec![number.to_string(), step_name(study, step)];
        if let Some(figures) = Figures::new(result) {
            row.extend(figures.texts);
            // The runs of a procedure are different workloads, so their IOPS are not compared.
            let first = first_iops.filter(|_| study.procedure.is_none());
            row.push(first.map_or("–".into(), |first| change(figures.iops, first)));
            first_iops.get_or_insert(figures.iops);
        }
        table.add_row(row);
    }
    // Only step names wrap.
    table
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_width(u16::try_from(width).unwrap_or(u16::MAX));
    for column in table.column_iter_mut() {
        if column.index == 1 {
            column.set_cell_alignment(CellAlignment::Left);
        } else {
            column.set_constraint(ColumnConstraint::ContentWidth);
        }
    }
    table
}

fn write_outcome(out: &mut TextWriter, number: u32, result: &StepResult) {
    let label = format!("step {number}");
    match result {
        StepResult::Done(result) => {
            let verdicts = [&result.verdict.read, &result.verdict.write];
            for verdict in verdicts.into_iter().flatten() {
                out.field(&label, &verdict.sentence);
            }
            let is_stalled = |finding: &&Finding| finding.code == "stalled";
            for finding in result.findings.iter().filter(is_stalled) {
                out.styled_field(RED, &label, &finding.sentence);
            }
        }
        StepResult::Failed(detail) => out.styled_field(RED, &label, detail),
        StepResult::Skipped => out.styled_field(YELLOW, &label, "Skipped."),
    }
}

/// `+23 %`, `−40 %`; `97 ×` for factors of 10 or more.
fn change(iops: f64, first: f64) -> String {
    if first <= 0.0 {
        return "–".into();
    }
    let ratio = iops / first;
    if ratio >= 10.0 {
        format!("{ratio:.0} ×")
    } else {
        let percent = (ratio - 1.0) * 100.0;
        let sign = if percent < 0.0 { "−" } else { "+" };
        format!("{sign}{:.0} %", percent.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_changes_as_percent_or_factor() {
        for (now, first, expect) in [
            (100.0, 100.0, "+0 %"),
            (123.0, 100.0, "+23 %"),
            (60.0, 100.0, "−40 %"),
            (9700.0, 100.0, "97 ×"),
            (1.0, 0.0, "–"),
        ] {
            assert_eq!(change(now, first), expect);
        }
    }
}
