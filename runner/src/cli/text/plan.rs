//! Prints a run's plan as text.

use crate::cli::text::{
    findings::write_findings,
    style::{BOLD, RED},
    writer::{TextWriter, join},
};
use leadline_protocol::{
    format::{bytes, duration},
    plan::{Estimate, Plan, workload::workload},
};

pub(crate) fn render(plan: &Plan, width: usize) -> String {
    let mut out = TextWriter::new(width);
    for job in &plan.jobs {
        out.styled_field(BOLD, &job.name, &workload(job));
    }
    if !plan.jobs.is_empty() {
        out.field("duration", &planned_duration(&plan.estimate));
        out.field("writes", &writes(&plan.estimate));
        out.field("measures", &plan.measures);
    }
    write_findings(&mut out, &plan.findings);
    for problem in &plan.problems {
        out.styled_field(RED, "error", &problem.to_string());
    }
    out.into_text()
}

fn planned_duration(estimate: &Estimate) -> String {
    let time = estimate
        .seconds
        .map(|seconds| format!("about {}", duration(seconds * 1000.0)));
    join([time, estimate.seconds_note.clone()], ". ")
}

fn writes(estimate: &Estimate) -> String {
    if estimate.layout_bytes == 0 && estimate.measure_write_bytes == Some(0) {
        return "nothing".into();
    }
    let layout =
        (estimate.layout_bytes > 0).then(|| format!("{} for layout", bytes(estimate.layout_bytes)));
    let measured = match estimate.measure_write_bytes {
        None => Some("unlimited until the runtime is reached".into()),
        Some(0) => None,
        Some(limit) => Some(format!("at most {} while measuring", bytes(limit))),
    };
    join([layout, measured], ", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_based_writes_are_shown_as_unlimited() {
        for (layout_bytes, measure_write_bytes, want) in [
            (0, Some(0), "nothing"),
            (1 << 30, Some(0), "1 GiB for layout"),
            (0, Some(4096), "at most 4 KiB while measuring"),
            (0, None, "unlimited until the runtime is reached"),
            (
                1 << 30,
                None,
                "1 GiB for layout, unlimited until the runtime is reached",
            ),
        ] {
            let estimate = Estimate {
                layout_bytes,
                measure_write_bytes,
                ..Plan::rejected(Vec::new()).estimate
            };
            assert_eq!(writes(&estimate), want);
        }
    }
}
