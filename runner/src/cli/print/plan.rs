//! A plan as a terminal shows it: what it takes, what it writes, what it will tell, what to mind, what is in the way.

use crate::cli::print::report::workload;
use crate::cli::print::sheet::Sheet;
use crate::cli::print::style::{Style, Tone};
use leadline_protocol::format::{bytes, duration};
use leadline_protocol::plan::{Estimate, Plan};

/// The whole plan as text.
pub fn plan(plan: &Plan, style: Style) -> String {
    let mut out = Sheet::new(style);
    for job in &plan.jobs {
        out.line(Tone::Name, &job.name, &workload(job));
    }
    if !plan.jobs.is_empty() {
        out.line(Tone::Aside, "takes", &takes(plan));
        out.line(Tone::Aside, "writes", &writes(&plan.estimate));
        out.line(Tone::Aside, "will tell", &plan.measures);
    }
    for finding in &plan.findings {
        out.line(
            Tone::Mind,
            "mind",
            &format!("{} {}", finding.sentence, finding.remedy),
        );
    }
    for problem in &plan.problems {
        out.line(Tone::Bad, "refused", &problem.to_string());
    }
    out.into_text()
}

fn takes(plan: &Plan) -> String {
    let seconds = plan
        .estimate
        .seconds
        .map(|seconds| format!("about {}", duration(seconds * 1000.0)));
    [seconds, plan.estimate.seconds_note.clone()]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join("; ")
}

fn writes(estimate: &Estimate) -> String {
    let layout =
        (estimate.layout_bytes > 0).then(|| format!("{} to lay out", bytes(estimate.layout_bytes)));
    let measured = match estimate.measure_write_bytes {
        None => Some("as much as it can until the time is over".into()),
        Some(0) => None,
        Some(most) => Some(format!("at most {} while measuring", bytes(most))),
    };
    let all = [layout, measured]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ");
    if all.is_empty() {
        "nothing".into()
    } else {
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_only_time_bounds_is_not_nothing() {
        for (layout_bytes, measure_write_bytes, want) in [
            (0, Some(0), "nothing"),
            (1 << 30, Some(0), "1 GiB to lay out"),
            (0, Some(4096), "at most 4 KiB while measuring"),
            (0, None, "as much as it can until the time is over"),
            (
                1 << 30,
                None,
                "1 GiB to lay out, as much as it can until the time is over",
            ),
        ] {
            let estimate = Estimate {
                layout_bytes,
                measure_write_bytes,
                ..Plan::refused(Vec::new()).estimate
            };
            assert_eq!(writes(&estimate), want);
        }
    }
}
