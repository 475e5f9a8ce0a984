//! Gate rules, such as `read.p99 worse than 5%`, and their outcomes.

use crate::{answer::signed, level::confidence_text};
use leadline_protocol::{
    compare::{Assessment, Change, ChangeVerdict, ComparedMetric},
    metrics::{Better, METRICS, Metric},
};
use serde::Serialize;

/// A rule that fails if a metric is worse by more than a percentage.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// The rule as the user wrote it.
    pub text: String,
    /// Name in the metrics table.
    metric: &'static str,
    better: Better,
    /// Maximum percentage by which the metric may be worse.
    allowed: f64,
}

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The metric is not worse than allowed.
    Passed,
    /// There are too few runs, their results vary too much, or the groups are not comparable.
    Undecided,
    /// The metric is worse than allowed.
    Failed,
}

impl Outcome {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Undecided => "undecided",
        }
    }
}

/// Outcome of a rule.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RuleResult {
    pub rule: String,
    pub metric: &'static str,
    pub outcome: Outcome,
    /// The numbers that determine the outcome.
    pub sentence: String,
}

const EXAMPLE: &str = "Use METRIC worse than N%, for example: read.p99 worse than 5%";

impl Rule {
    /// # Errors
    /// Returns a sentence with a remedy.
    pub fn parse(text: &str) -> Result<Self, String> {
        let (metric, percent) = text
            .split_once(" worse than ")
            .ok_or_else(|| format!("`{text}` is not a rule. {EXAMPLE}."))?;
        let allowed = percentage(percent.trim())
            .ok_or_else(|| format!("`{}` is not a percentage. {EXAMPLE}.", percent.trim()))?;
        let (metric, better) = find_metric(metric.trim())?;
        if better == Better::Higher && allowed >= 100.0 {
            return Err(format!(
                "`{text}` can never fail: {} decreases by at most 100 %. Use a smaller percentage.",
                short_name(metric.name)
            ));
        }
        Ok(Self {
            text: text.to_owned(),
            metric: metric.name,
            better,
            allowed,
        })
    }

    /// Applies the rule to the change in the second group. `obstacle`: why no rule can pass; `None`
    /// if rules can pass.
    pub fn evaluate(&self, assessment: &Assessment, obstacle: Option<&str>) -> RuleResult {
        let metric = assessment
            .metrics
            .iter()
            .find(|metric| metric.name == self.metric);
        let change = metric.and_then(|metric| metric.changes.get(1)?.as_ref());
        let (outcome, sentence) = match change {
            Some(change) => self.outcome(change, assessment.confidence_percent),
            None => (Outcome::Undecided, no_change(metric)),
        };
        let (outcome, sentence) = match (outcome, obstacle) {
            (Outcome::Passed, Some(obstacle)) => {
                (Outcome::Undecided, format!("{obstacle} {sentence}"))
            }
            (outcome, _) => (outcome, sentence),
        };
        RuleResult {
            rule: self.text.clone(),
            metric: self.metric,
            outcome,
            sentence,
        }
    }

    fn outcome(&self, change: &Change, confidence: f64) -> (Outcome, String) {
        let reason = change.reason.clone().unwrap_or_default();
        if change.verdict == Some(ChangeVerdict::NotComparable) {
            return (Outcome::Undecided, reason);
        }
        // A metric that cannot be tested may still have an interval.
        let interval = change.interval_percent.filter(|_| change.p_value.is_some());
        let Some(interval) = interval else {
            let sentence = format!(
                "Changed by {} %, which may be noise. {reason}",
                signed(change.percent)
            );
            return (Outcome::Undecided, sentence.trim_end().to_owned());
        };
        // Bounds of the percentage by which the metric is worse.
        let (least, most) = match self.better {
            Better::Lower => (interval.low, interval.high),
            // A ratio of 0.95 is 5 % worse.
            Better::Higher => (-interval.high, -interval.low),
        };
        let outcome = if least > self.allowed {
            Outcome::Failed
        } else if most <= self.allowed {
            Outcome::Passed
        } else {
            Outcome::Undecided
        };
        let sentence = format!(
            "Changed by {} % ({} interval {} to {} %); {} % worse is allowed.",
            signed(change.percent),
            confidence_text(confidence),
            signed(interval.low),
            signed(interval.high),
            self.allowed
        );
        (outcome, sentence)
    }
}

fn no_change(metric: Option<&ComparedMetric>) -> String {
    match metric {
        None => "No run has this metric.".into(),
        Some(_) => "A group has no value, or the baseline value is 0 or a lower bound.".into(),
    }
}

/// `5%` and `5 %` are 5.
fn percentage(text: &str) -> Option<f64> {
    let number = text.strip_suffix('%')?.trim_end();
    let has_sign = number.starts_with(['+', '-']);
    let value: f64 = number.parse().ok()?;
    (!has_sign && value.is_finite()).then_some(value)
}

fn tested() -> impl Iterator<Item = &'static Metric> {
    METRICS.iter().filter(|metric| metric.is_tested)
}

/// Finds a tested metric by its name or short name: `read_lat_p99_ns` and `read.p99` are the same
/// metric.
#[must_use]
pub fn tested_metric(name: &str) -> Option<&'static Metric> {
    tested().find(|metric| metric.name == name || short_name(metric.name) == name)
}

fn find_metric(name: &str) -> Result<(&'static Metric, Better), String> {
    let found = tested_metric(name);
    let better = found.and_then(|metric| Some((metric, metric.better?)));
    better.ok_or_else(|| {
        let names: Vec<String> = tested().map(|metric| short_name(metric.name)).collect();
        format!("`{name}` is not a metric. Use one of {}.", names.join(", "))
    })
}

/// Converts `read_lat_p999_ns` to `read.p99.9`.
fn short_name(name: &str) -> String {
    let Some((direction, metric)) = ["read", "write", "trim", "sync"]
        .into_iter()
        .find_map(|direction| Some((direction, name.strip_prefix(direction)?.strip_prefix('_')?)))
    else {
        return name.to_owned();
    };
    let metric = match metric {
        "bytes_per_second" => "bandwidth",
        "lat_mean_ns" => "mean",
        "lat_p50_ns" => "p50",
        "lat_p99_ns" => "p99",
        "lat_p999_ns" => "p99.9",
        "lat_p9999_ns" => "p99.99",
        "intended_lat_p99_ns" => "intended_p99",
        other => other,
    };
    format!("{direction}.{metric}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::compare::Interval;

    fn change(interval: Option<(f64, f64)>) -> Change {
        Change {
            percent: interval.map_or(-9.0, |(low, high)| f64::midpoint(low, high)),
            interval_percent: interval.map(|(low, high)| Interval { low, high }),
            p_value: interval.map(|_| 0.5),
            verdict: Some(ChangeVerdict::Undecided),
            reason: Some("3 and 3 runs.".into()),
            paired: false,
            baseline_n: 3,
            n: 3,
            more: None,
        }
    }

    #[test]
    fn parses_a_metric_and_a_percentage() {
        let rule = Rule::parse("read.p99 worse than 5%").unwrap();
        assert_eq!((rule.metric, rule.allowed), ("read_lat_p99_ns", 5.0));
        let rule = Rule::parse("cpu_ns_per_io worse than 2.5 %").unwrap();
        assert_eq!((rule.metric, rule.allowed), ("cpu_ns_per_io", 2.5));
        let rule = Rule::parse("read.p99 worse than 150%").unwrap();
        assert_eq!((rule.metric, rule.allowed), ("read_lat_p99_ns", 150.0));
        for (text, expected) in [
            ("read.p99 < 5%", "is not a rule"),
            ("read.p99 worse than much", "is not a percentage"),
            ("read.p99 worse than -1%", "is not a percentage"),
            ("read.p99 worse than inf%", "is not a percentage"),
            ("read.p99 worse than nan%", "is not a percentage"),
            ("read.p99 worse than 5", "is not a percentage"),
            ("read.p99 worse than 5%%", "is not a percentage"),
            ("read.p99 worse than -0%", "is not a percentage"),
            ("read.iops worse than 100%", "can never fail"),
            (
                "read.p98 worse than 5%",
                "is not a metric. Use one of read.iops",
            ),
            ("read_lat_max_ns worse than 5%", "is not a metric"),
        ] {
            let error = Rule::parse(text).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn untested_metrics_are_undecided() {
        let rule = Rule::parse("read.p99.99 worse than 5%");
        let mut untested = change(Some((6.0, 9.0)));
        untested.p_value = None;
        untested.reason = Some("#1 has 500 I/Os.".into());
        let (outcome, sentence) = rule.unwrap().outcome(&untested, 95.0);
        assert_eq!(outcome, Outcome::Undecided);
        assert!(sentence.ends_with("#1 has 500 I/Os."), "{sentence}");
    }

    #[test]
    fn outcome_depends_on_the_whole_interval() {
        let check = |rule: &str, interval, expected| {
            let rule = Rule::parse(rule).unwrap();
            assert_eq!(
                rule.outcome(&change(interval), 95.0).0,
                expected,
                "{interval:?}"
            );
        };
        let iops = "read.iops worse than 5%";
        check(iops, Some((-9.0, -6.0)), Outcome::Failed);
        check(iops, Some((-6.0, -4.0)), Outcome::Undecided);
        check(iops, Some((-4.0, 90.0)), Outcome::Passed);
        check(iops, None, Outcome::Undecided);
        let p99 = "read.p99 worse than 5%";
        check(p99, Some((6.0, 9.0)), Outcome::Failed);
        check(p99, Some((4.0, 6.0)), Outcome::Undecided);
        check(p99, Some((-90.0, 4.0)), Outcome::Passed);
    }

    #[test]
    fn sentences_use_minus_signs() {
        let rule = Rule::parse("read.iops worse than 5%").unwrap();
        let (_, sentence) = rule.outcome(&change(Some((-9.0, -6.0))), 95.0);
        assert!(
            sentence.contains("(95 % interval −9.0 to −6.0 %)"),
            "{sentence}"
        );
    }
}
