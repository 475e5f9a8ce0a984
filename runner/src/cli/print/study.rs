//! A study as a terminal shows it: what each step would do, a line for each that ended, a table of all.

use crate::cli::print::plan::plan;
use crate::cli::print::sheet::Sheet;
use crate::cli::print::style::{Style, Tone};
use leadline_protocol::format::{bandwidth, latency, rate};
use leadline_protocol::result::RunResult;
use leadline_protocol::study::StudyPlan;
use leadline_protocol::summary::Figures;

/// Width of the columns of figures, in characters.
const FIGURE: usize = 10;
/// Width of the column of bandwidths, in characters.
const BANDWIDTH: usize = 26;
/// The widest that names are shown, in characters.
const NAME: usize = 28;
/// Width of everything beside the names, in characters.
const BESIDE: usize = 4 + 3 * (FIGURE + 1) + BANDWIDTH + 1;

/// What came of a step.
#[derive(Clone, Copy, Debug)]
pub enum StepResult<'a> {
    /// It has its report.
    Done(&'a RunResult),
    /// It has none, and why.
    Failed(&'a str),
    /// It was not begun.
    NotBegun,
}

impl StepResult<'_> {
    fn figures(&self) -> Option<Figures> {
        match self {
            Self::Done(outcome) => Some(Figures::of(&outcome.report, &outcome.verdict)),
            Self::Failed(_) | Self::NotBegun => None,
        }
    }
}

/// The whole plan of a study as text.
pub fn study_plan(study: &StudyPlan, style: Style) -> String {
    let mut out = Sheet::new(style);
    if !study.steps.is_empty() {
        out.line(Tone::Name, "study", &study.words.name);
        out.line(Tone::Aside, "sizes", &study.scaled.sentence);
    }
    for (number, step) in (1..).zip(&study.steps) {
        out.gap();
        out.line(Tone::Name, &format!("step {number}"), &step.name);
        out.text(&plan(&step.plan, style));
    }
    for problem in &study.problems {
        out.line(Tone::Bad, "refused", &problem.to_string());
    }
    out.into_text()
}

/// The line of the last step so far.
pub fn study_line(study: &StudyPlan, results: &[StepResult], style: Style) -> String {
    let last = results.len().saturating_sub(1);
    let head = if last == 0 {
        heads(study, style)
    } else {
        String::new()
    };
    head + &row(study, results, last, style)
}

/// All steps: their figures, how they differ from the first, and where the I/O went.
pub fn study_table(study: &StudyPlan, results: &[StepResult], style: Style) -> String {
    let mut out = Sheet::new(style);
    out.gap();
    out.line(Tone::Name, "study", &study.words.name);
    out.line(Tone::Aside, "sizes", &study.scaled.sentence);
    out.gap();
    out.text(&heads(study, style));
    for (index, result) in results.iter().enumerate() {
        out.text(&row(study, results, index, style));
        for sentence in sentences(result) {
            out.line(Tone::Good, "", sentence);
        }
    }
    out.into_text()
}

fn sentences<'a>(result: &StepResult<'a>) -> Vec<&'a str> {
    let StepResult::Done(outcome) = result else {
        return Vec::new();
    };
    [&outcome.verdict.read, &outcome.verdict.write]
        .into_iter()
        .flatten()
        .map(|verdict| verdict.sentence.as_str())
        .collect()
}

fn width(study: &StudyPlan, style: Style) -> usize {
    let longest = study
        .steps
        .iter()
        .map(|step| step.name.chars().count())
        .max()
        .unwrap_or(0);
    longest.min(NAME).min(style.width.saturating_sub(BESIDE))
}

/// A name as wide as its column.
fn fit(name: &str, width: usize) -> String {
    if name.chars().count() <= width {
        return format!("{name:<width$}");
    }
    name.chars()
        .take(width.saturating_sub(1))
        .chain(['…'])
        .collect()
}

fn heads(study: &StudyPlan, style: Style) -> String {
    let name = format!("{:<1$}", "step", width(study, style));
    let heads = format!(
        " #  {name} {:>FIGURE$} {:>BANDWIDTH$} {:>FIGURE$} {:>FIGURE$}",
        "IOPS", "bandwidth", "p99", "IOPS to #1"
    );
    style.paint(Tone::Aside, &heads) + "\n"
}

/// One step; its IOPS beside those of the first that has any.
fn row(study: &StudyPlan, results: &[StepResult], index: usize, style: Style) -> String {
    let begin = format!(
        "{:>2}  {}",
        index + 1,
        fit(&study.steps[index].name, width(study, style))
    );
    let Some(figures) = results[index].figures() else {
        let why = if let StepResult::Failed(why) = results[index] {
            why
        } else {
            "not begun"
        };
        return format!("{begin} {why}\n");
    };
    let first = results
        .iter()
        .find_map(StepResult::figures)
        .and_then(|first| first.iops);
    let iops = figures.iops.map_or("–".into(), rate);
    let moved = figures.bytes_per_second.map_or("–".into(), bandwidth);
    let p99 = figures
        .lat_p99_ns
        .map_or("–".into(), |ns| latency(ns as f64));
    let change = figures
        .iops
        .zip(first)
        .filter(|_| index > 0)
        .map_or("–".into(), |(iops, first)| change(iops, first));
    format!("{begin} {iops:>FIGURE$} {moved:>BANDWIDTH$} {p99:>FIGURE$} {change:>FIGURE$}\n")
}

/// `+23 %`, `-40 %`; from ten times on `97 ×`.
fn change(now: f64, first: f64) -> String {
    match now / first {
        _ if first <= 0.0 => "–".into(),
        ratio if ratio >= 10.0 => format!("{ratio:.0} ×"),
        ratio => format!("{:+.0} %", (ratio - 1.0) * 100.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_percent_or_times() {
        for (now, first, expect) in [
            (100.0, 100.0, "+0 %"),
            (123.0, 100.0, "+23 %"),
            (60.0, 100.0, "-40 %"),
            (9700.0, 100.0, "97 ×"),
            (1.0, 0.0, "–"),
        ] {
            assert_eq!(change(now, first), expect);
        }
    }
}
