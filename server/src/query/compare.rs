//! Compares runs: metrics relative to a baseline, different settings and host facts, and whether
//! the runs are the same test. Pure.

mod comparability;
mod layers;
mod metrics;
mod settings;
#[cfg(test)]
mod tests;
mod value_text;

use leadline_protocol::{
    compare::{ComparedRun, Comparison, Confidence, ConfidenceLevel},
    report::Report,
    run::Run,
};

/// `baseline` is an index of `runs`.
pub(crate) fn compare(runs: &[Run], baseline: usize) -> Comparison {
    let settings = settings::compare_settings(runs);
    let host = settings::compare_hosts(runs);
    Comparison {
        baseline: runs.get(baseline).map_or(0, |run| run.summary.number),
        runs: runs.iter().map(compared).collect(),
        metrics: metrics::compare_metrics(runs, baseline),
        comparable: comparability::comparable(runs, &settings.different, &host.different),
        setting_differences: settings.different,
        equal_settings: settings.equal,
        host_differences: host.different,
        equal_host_facts: host.equal,
        confidence: Confidence {
            level: ConfidenceLevel::None,
            sentence: "Differences may be noise: each result is a single run.".into(),
        },
    }
}

fn compared(run: &Run) -> ComparedRun {
    let report = run.report.as_ref();
    ComparedRun {
        run: run.summary.clone(),
        duration_ms: report.map(|report| report.duration_ms),
        read: report.map(|report| report.read.clone()),
        write: report.map(|report| report.write.clone()),
        trim: report.map(|report| report.trim.clone()),
        device: report.and_then(|report| report.device.clone()),
        verdict: run.verdict.clone(),
        gauge: report.and_then(|report| report.gauge.clone()),
        cpu_ns_per_io: report.and_then(Report::cpu_ns_per_io),
        profiled: report.is_some_and(|report| report.profile.is_some()),
    }
}
