//! A plan as a terminal shows it: what it takes, what it writes, what it will tell, what to mind, what is in the way.

use super::number::{bytes, duration};
use super::report::workload;
use super::sheet::Sheet;
use super::style::{Style, Tone};
use crate::plan::Plan;

/// The whole plan as text.
pub fn plan(plan: &Plan, style: Style) -> String {
    let mut out = Sheet::new(style);
    for job in &plan.jobs {
        out.line(Tone::Name, &job.name, &workload(job));
    }
    if !plan.jobs.is_empty() {
        out.line(Tone::Aside, "takes", &takes(plan));
        out.line(Tone::Aside, "writes", &writes(plan));
        out.line(Tone::Aside, "will tell", &plan.will_tell);
    }
    for finding in &plan.findings {
        out.line(Tone::Mind, "mind", &format!("{} {}", finding.sentence, finding.remedy));
    }
    for refusal in &plan.refusals {
        out.line(Tone::Bad, "refused", &refusal.to_string());
    }
    out.into_text()
}

fn takes(plan: &Plan) -> String {
    let seconds = plan.estimate.seconds.map(|seconds| format!("about {}", duration(seconds * 1000.0)));
    [seconds, plan.estimate.seconds_note.clone()].into_iter().flatten().collect::<Vec<_>>().join("; ")
}

fn writes(plan: &Plan) -> String {
    let estimate = &plan.estimate;
    let layout = (estimate.layout_bytes > 0).then(|| format!("{} to lay out", bytes(estimate.layout_bytes)));
    let most = estimate.measure_write_bytes.filter(|most| *most > 0).map(|most| format!("at most {} while measuring", bytes(most)));
    let all = [layout, most].into_iter().flatten().collect::<Vec<_>>().join(", ");
    if all.is_empty() { "nothing".into() } else { all }
}
