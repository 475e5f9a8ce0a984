//! Plans the interim analyses (looks) of a study with `until_decided`.

use leadline_compare::{DEFAULT_THRESHOLD_PERCENT, interim_looks::plan_looks};
use leadline_protocol::{
    job::rw::RwKind,
    problem::Problem,
    study::{
        spec::{StepSpec, StudySpec},
        until_decided::UntilDecided,
    },
};

/// # Errors
/// Returns a problem if the study has too few repeats for a verdict.
pub(super) fn until_decided(study: &StudySpec) -> Result<Option<UntilDecided>, Problem> {
    let Some(definition) = &study.until_decided else {
        return Ok(None);
    };
    let metrics = definition.metrics.clone();
    let metrics = metrics.unwrap_or_else(|| vec![default_metric(&study.steps[0]).to_owned()]);
    let looks = plan_looks(study.repeats, metrics.len()).map_err(|fewest| {
        let detail = format!(
            "With {} repeats, no verdict on {} is possible.",
            study.repeats,
            match metrics.len() {
                1 => "a metric".into(),
                count => format!("{count} metrics"),
            }
        );
        let remedy = format!("Use at least {fewest} repeats with until_decided.");
        Problem::invalid("bad_value", "repeats", detail, remedy)
    })?;
    let threshold = definition.threshold_percent;
    Ok(Some(UntilDecided {
        metrics,
        threshold_percent: threshold.unwrap_or(DEFAULT_THRESHOLD_PERCENT),
        looks,
    }))
}

/// IOPS in the step's first direction: reads, writes, then trims.
fn default_metric(step: &StepSpec) -> &'static str {
    let jobs = step.run.jobs.iter();
    let kinds: Vec<RwKind> = jobs
        .map(|job| job.rw.map_or(RwKind::Read, |rw| rw.kind))
        .collect();
    let any = |has: fn(RwKind) -> bool| kinds.iter().any(|kind| has(*kind));
    if any(RwKind::reads) {
        "read_iops"
    } else if any(RwKind::writes) {
        "write_iops"
    } else {
        "trim_iops"
    }
}
