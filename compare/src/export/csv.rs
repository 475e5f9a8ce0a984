//! A comparison as CSV, with one row per metric and group.

use leadline_protocol::{
    compare::{Assessment, Interval},
    metrics::Unit,
};

const HEADER: &str = "metric,unit,group,n,median,low,high,change_percent,change_low_percent,change_high_percent,p_value,verdict";

pub fn render(assessment: &Assessment) -> String {
    let mut csv = format!("{HEADER}\n");
    for metric in &assessment.metrics {
        for (index, group) in metric.groups.iter().enumerate() {
            let change = metric.changes.get(index).and_then(Option::as_ref);
            let verdict = change.and_then(|change| change.verdict);
            let fields = [
                metric.name.clone(),
                quoted(&unit(metric.unit)),
                quoted(&assessment.groups[index].label),
                group.n.to_string(),
                number(group.median),
                number(group.interval.map(|interval| interval.low)),
                number(group.interval.map(|interval| interval.high)),
                number(change.map(|change| change.percent)),
                number(bound(
                    change.and_then(|change| change.interval_percent),
                    |i| i.low,
                )),
                number(bound(
                    change.and_then(|change| change.interval_percent),
                    |i| i.high,
                )),
                number(change.and_then(|change| change.p_value)),
                verdict.map_or("", |verdict| verdict.as_str()).to_owned(),
            ];
            csv += &fields.join(",");
            csv.push('\n');
        }
    }
    csv
}

fn bound(interval: Option<Interval>, side: fn(Interval) -> f64) -> Option<f64> {
    interval.map(side)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn unit(unit: Unit) -> String {
    serde_json::to_value(unit)
        .ok()
        .and_then(|value| value.as_str().map(str::to_owned))
        .unwrap_or_default()
}

/// Quotes a label, which may contain commas, quotes and line breaks. A leading `=`, `+`, `-` or `@`
/// is escaped, because spreadsheets would treat the label as a formula.
fn quoted(text: &str) -> String {
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula {
        format!("'{text}")
    } else {
        text.to_owned()
    };
    format!("\"{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn labels_are_quoted_and_formulas_escaped() {
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "\"'=1+1\"");
    }
}
