//! A study as a terminal shows it: what each step would do, and a table of what they did.

use super::plan::plan;
use super::report::Sheet;
use super::style::{Style, Tone};
use crate::study::StudyPlan;

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
    for refusal in &study.refusals {
        out.line(Tone::Bad, "refused", &refusal.to_string());
    }
    out.into_text()
}
