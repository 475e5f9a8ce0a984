//! Reports jobs that ended before they reached steady state, or that are steady only because no I/O
//! completes.

use crate::analysis::{context::Context, findings::rerun};
use leadline_protocol::{
    finding::{Finding, Severity::Warning},
    report::{JobReport, steady_state::SteadyStateReport},
};
use serde_json::json;

pub(crate) fn not_reached(context: &Context) -> Option<Finding> {
    let mut jobs = steady_states(context);
    let (index, job, result) = jobs.find(|(_, _, result)| !result.attained)?;
    let finding = Finding::new(
        Warning,
        "steady_state_not_reached",
        sentence(context, job, &result.summary),
        json!({"value": result.window.and_then(|window| window.value)}),
        "Increase runtime, or use a higher limit.",
    );
    match context.jobs.get(index)?.timing.runtime_ms {
        Some(runtime_ms) => finding.with_rerun(rerun::longer_than(runtime_ms)),
        None => Some(finding),
    }
}

pub(crate) fn steady_without_io(context: &Context) -> Option<Finding> {
    let mut jobs = steady_states(context);
    let (_, job, _) = jobs.find(|(_, _, result)| {
        let window = result.window.filter(|_| result.attained);
        window.is_some_and(|window| window.mean_iops == 0.0)
    })?;
    Some(Finding::new(
        Warning,
        "steady_state_without_io",
        sentence(context, job, "No I/O completed in the steady state."),
        None,
        "Use a limit in percent, which requires completed I/O.",
    ))
}

fn steady_states<'a>(
    context: &'a Context,
) -> impl Iterator<Item = (usize, &'a JobReport, &'a SteadyStateReport)> {
    let jobs = context.report.jobs.iter().enumerate();
    jobs.filter_map(|(index, job)| Some((index, job, job.steady_state.as_ref()?)))
}

fn sentence(context: &Context, job: &JobReport, text: &str) -> String {
    if context.report.jobs.len() > 1 {
        format!("Job {}: {text}", job.name)
    } else {
        text.into()
    }
}
