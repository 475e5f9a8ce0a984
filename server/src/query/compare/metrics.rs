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
        let at_least: Vec<bool> = runs
            .iter()
            .map(|run| run.report.as_ref().is_some_and(metric.lower_bound))
            .collect();
        // The exact value of the baseline is not known.
        let base = values.get(baseline).copied().flatten();
        let base = base.filter(|_| at_least.get(baseline) != Some(&true));
        values.iter().any(Option::is_some).then(|| ComparedMetric {
            name: metric.name.into(),
            unit: metric.unit,
            better: metric.better,
            change_percent: changes(&values, baseline, base),
            values,
            at_least,
        })
    });
    compared.collect()
}

/// Percentage changes; `None` for the baseline, and for all if its value `base` is 0 or missing.
fn changes(values: &[Option<f64>], baseline: usize, base: Option<f64>) -> Vec<Option<f64>> {
    let change = |(index, value): (usize, &Option<f64>)| {
        let base = base.filter(|base| *base != 0.0)?;
        let value = (*value)?;
        (index != baseline).then(|| (value - base) / base * 100.0)
    };
    values.iter().enumerate().map(change).collect()
}
