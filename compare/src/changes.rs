//! The change of one metric between two groups.

use crate::group::{Block, ComparedRun, Group};
use leadline_protocol::{
    compare::{Change, ChangeVerdict, Interval},
    metrics::{Better, Metric},
};
use leadline_stats::{
    CONFIDENCE,
    comparison::{self, NoRatio, Ratio, Verdict, compare_groups, compare_pairs},
};

/// Values of a metric in the baseline and in another group.
pub(crate) struct Values<'a> {
    metric: &'a Metric,
    a: Vec<Value<'a>>,
    b: Vec<Value<'a>>,
}

struct Value<'a> {
    run: &'a ComparedRun<'a>,
    value: f64,
    is_lower_bound: bool,
}

/// A change whose p-value is not yet corrected for multiple metrics.
pub(crate) struct Untested {
    percent: f64,
    ratio: Option<Ratio>,
    /// Number of runs in each group, or number of pairs.
    counts: (usize, usize),
    paired: bool,
    reason: Option<String>,
}

impl<'a> Values<'a> {
    pub(crate) fn new(metric: &'a Metric, a: &'a Group<'a>, b: &'a Group<'a>) -> Self {
        Self {
            metric,
            a: values(metric, a),
            b: values(metric, b),
        }
    }

    /// Returns `None` if a group has no value, or if the baseline value is 0 or only a lower bound.
    pub(crate) fn change(&self) -> Option<Untested> {
        let is_bound = |values: &[Value]| values.iter().any(|value| value.is_lower_bound);
        let (a, b) = (median(&self.a)?, median(&self.b)?);
        if a == 0.0 || is_bound(&self.a) {
            return None;
        }
        let pairs = self.pairs();
        let ratio = match &pairs {
            Some(pairs) => compare_pairs(pairs),
            None => compare_groups(&numbers(&self.a), &numbers(&self.b)),
        };
        let reason = self.reason_not_to_test(ratio.as_ref().err());
        let ratio = ratio.ok().filter(|_| !is_bound(&self.b));
        Some(Untested {
            percent: ratio.map_or(b / a, |ratio| ratio.estimate.value) * 100.0 - 100.0,
            ratio,
            counts: match &pairs {
                Some(pairs) => (pairs.len(), pairs.len()),
                None => (self.a.len(), self.b.len()),
            },
            paired: pairs.is_some(),
            reason,
        })
    }

    /// Pairs the runs of the same block, if all runs are in different blocks of one study.
    fn pairs(&self) -> Option<Vec<(f64, f64)>> {
        let blocks = |values: &[Value]| -> Option<Vec<Block>> {
            let blocks: Option<Vec<Block>> = values.iter().map(|value| value.run.block).collect();
            let mut sorted = blocks?;
            let all = sorted.len();
            sorted.sort();
            sorted.dedup();
            let is_one_study = sorted.windows(2).all(|pair| pair[0].study == pair[1].study);
            (is_one_study && sorted.len() == all).then_some(sorted)
        };
        let shared = blocks(&self.b)?;
        blocks(&self.a)?;
        let pairs: Vec<(f64, f64)> = shared
            .iter()
            .filter_map(|block| {
                let value = |values: &[Value]| {
                    let value = values.iter().find(|value| value.run.block == Some(*block));
                    value.map(|value| value.value)
                };
                Some((value(&self.a)?, value(&self.b)?))
            })
            .collect();
        (!pairs.is_empty()).then_some(pairs)
    }

    fn reason_not_to_test(&self, no_ratio: Option<&NoRatio>) -> Option<String> {
        let values = || self.a.iter().chain(&self.b);
        if let Some(value) = values().find(|value| value.is_lower_bound) {
            return Some(format!(
                "The value of {} is a lower bound: I/Os were in flight at the end of the run.",
                value.run.label
            ));
        }
        if let Some(required) = self.metric.required_ios {
            let ios = |value: &Value| value.run.report.map_or(0, required.count);
            if let Some(value) = values().find(|value| ios(value) < required.minimum) {
                return Some(format!(
                    "{} has {} I/Os; comparing this percentile requires {} per run.",
                    value.run.label,
                    ios(value),
                    required.minimum
                ));
            }
        }
        match no_ratio? {
            NoRatio::TooMany => Some("The groups have too many runs.".into()),
            NoRatio::Empty | NoRatio::NotPositive => {
                Some("A value is 0, so there is no ratio.".into())
            }
        }
    }
}

fn values<'a>(metric: &Metric, group: &'a Group<'a>) -> Vec<Value<'a>> {
    let value = |run: &'a ComparedRun<'a>| {
        let report = run.report?;
        Some(Value {
            run,
            value: metric.report?(report)?,
            is_lower_bound: (metric.lower_bound)(report),
        })
    };
    let complete = group.runs.iter().filter(|run| run.is_complete());
    complete.filter_map(value).collect()
}

fn numbers(values: &[Value]) -> Vec<f64> {
    values.iter().map(|value| value.value).collect()
}

fn median(values: &[Value]) -> Option<f64> {
    (!values.is_empty()).then(|| leadline_stats::median::median(&numbers(values)))
}

impl Untested {
    /// The ratio to test; `None` if the metric cannot be tested.
    pub(crate) fn ratio(&self) -> Option<&Ratio> {
        self.ratio.as_ref().filter(|_| self.reason.is_none())
    }

    /// A change without a verdict.
    pub(crate) fn untested(self) -> Change {
        Change {
            percent: self.percent,
            interval_percent: self.interval_percent(),
            p_value: None,
            verdict: None,
            reason: None,
            paired: self.paired,
        }
    }

    pub(crate) fn not_comparable(self) -> Change {
        Change {
            verdict: Some(ChangeVerdict::NotComparable),
            reason: Some("The groups are not comparable.".into()),
            ..self.untested()
        }
    }

    /// `adjusted_p` is corrected for `tested` metrics.
    pub(crate) fn tested(
        self,
        better: Better,
        threshold: f64,
        adjusted_p: Option<f64>,
        tested: usize,
    ) -> Change {
        let (Some(ratio), Some(adjusted_p)) = (self.ratio(), adjusted_p) else {
            let reason = self.reason.clone();
            return Change {
                verdict: Some(ChangeVerdict::Undecided),
                reason,
                ..self.untested()
            };
        };
        let better = match better {
            Better::Higher => comparison::Better::Higher,
            Better::Lower => comparison::Better::Lower,
        };
        let (verdict, reason) = match ratio.verdict(better, threshold, adjusted_p) {
            Verdict::Better => (ChangeVerdict::Better, None),
            Verdict::Worse => (ChangeVerdict::Worse, None),
            Verdict::Equivalent => (ChangeVerdict::Equivalent, None),
            Verdict::TooFew | Verdict::Undecided => (
                ChangeVerdict::Undecided,
                Some(self.undecided_reason(tested)),
            ),
        };
        Change {
            p_value: Some(adjusted_p),
            verdict: Some(verdict),
            reason,
            ..self.untested()
        }
    }

    fn undecided_reason(&self, tested: usize) -> String {
        let (a, b) = self.counts;
        let required = required_runs(self.paired, tested);
        if a.min(b) >= required {
            return "The interval includes both relevant and negligible changes.".into();
        }
        let metrics = match tested {
            1 => "one metric".to_owned(),
            count => format!("{count} metrics"),
        };
        if self.paired {
            format!("{a} pairs; a verdict on {metrics} requires at least {required}.")
        } else {
            let runs = match (a, b) {
                (1, 1) => "One run each".into(),
                (a, b) if a == b => format!("{a} runs each"),
                (a, b) => format!("{a} and {b} runs"),
            };
            format!("{runs}; a verdict on {metrics} requires at least {required} each.")
        }
    }

    fn interval_percent(&self) -> Option<Interval> {
        let estimate = self.ratio.as_ref()?.estimate;
        let percent = |ratio: f64| ratio * 100.0 - 100.0;
        estimate.is_supported().then(|| Interval {
            low: percent(estimate.low),
            high: percent(estimate.high),
        })
    }
}

/// The smallest number of pairs, or of runs per group, at which the smallest possible p-value is
/// significant for this number of metrics.
fn required_runs(paired: bool, metrics: usize) -> usize {
    let level = (1.0 - CONFIDENCE) / metrics.max(1) as f64;
    let mut smallest_p = 2.0;
    let mut runs = 0;
    while smallest_p > level {
        runs += 1;
        let n = runs as f64;
        // 2 / 2^n for pairs, or 2 / (2n choose n) for groups.
        smallest_p *= if paired {
            0.5
        } else {
            n / (2.0 * (2.0 * n - 1.0))
        };
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::required_runs;

    #[test]
    fn required_runs_follow_from_the_smallest_p_value() {
        assert_eq!(required_runs(true, 1), 6);
        assert_eq!(required_runs(true, 10), 9);
        // 2/20 and 2/70 compared with 0.05; 2/252 and 2/924 compared with 0.005.
        assert_eq!(required_runs(false, 1), 4);
        assert_eq!(required_runs(false, 10), 6);
    }
}
