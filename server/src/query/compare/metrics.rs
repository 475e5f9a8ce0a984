//! Metrics of runs relative to the baseline.

use leadline_protocol::{compare::ComparedMetric, metrics::METRICS, run::Run};

/// Returns the metrics that at least one run has.
pub(crate) fn compare_metrics(runs: &[Run], baseline: usize) -> Vec<ComparedMetric> {
    let compared = METRICS.iter().filter_map(|metric| {
        let of_report = metric.report?;
        let values: Vec<Option<f64>> = runs
            .iter()
            .map(|run| of_report(run.report.as_ref()?))
            .collect();
        values.iter().any(Option::is_some).then(|| ComparedMetric {
            name: metric.name.into(),
            unit: metric.unit,
            better: metric.better,
            change_percent: changes(&values, baseline),
            values,
        })
    });
    compared.collect()
}

/// Percentage changes; `None` for the baseline, and for all if the baseline is 0 or missing.
fn changes(values: &[Option<f64>], baseline: usize) -> Vec<Option<f64>> {
    let base = values.get(baseline).copied().flatten();
    let change = |(index, value): (usize, &Option<f64>)| {
        let base = base.filter(|base| *base != 0.0)?;
        let value = (*value)?;
        (index != baseline).then(|| (value - base) / base * 100.0)
    };
    values.iter().enumerate().map(change).collect()
}
