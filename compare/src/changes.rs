//! The change of one metric between two groups.

use crate::{
    group::{Block, ComparedRun, Group},
    level::Level,
    undecided::{RepeatPrediction, Undecided},
};
use leadline_protocol::{
    compare::{Change, ChangeVerdict, Interval},
    metrics::{Better, Metric},
};
use leadline_stats::{
    comparison::{self, Design, NoRatio, Ratio, Verdict, compare_groups_at, compare_pairs_at},
    sample_size::Spread,
};

/// Values of a metric in the baseline and in another group.
pub(crate) struct Values<'a> {
    metric: &'a Metric,
    level: &'a Level,
    a: Vec<Value<'a>>,
    b: Vec<Value<'a>>,
}

struct Value<'a> {
    run: &'a ComparedRun<'a>,
    value: f64,
    is_lower_bound: bool,
}

/// A change whose p-value is not yet corrected for multiple metrics.
pub(crate) struct UncorrectedChange {
    confidence: f64,
    percent: f64,
    /// `None` if the metric is not tested.
    ratio: Option<Ratio>,
    /// Number of values in the baseline and in the group; for pairs, both are the number of pairs.
    counts: (usize, usize),
    paired: bool,
    /// Why the metric cannot be tested.
    reason: Option<String>,
    spread: Option<Spread>,
    /// Duration of one more pair, or of one more run per group.
    repeat_ms: f64,
}

impl<'a> Values<'a> {
    pub(crate) fn new(
        metric: &'a Metric,
        a: &'a Group<'a>,
        b: &'a Group<'a>,
        level: &'a Level,
    ) -> Self {
        Self {
            metric,
            level,
            a: values(metric, a),
            b: values(metric, b),
        }
    }

    /// Returns `None` if a group has no value, or if the baseline value is 0 or only a lower bound.
    pub(crate) fn change(&self) -> Option<UncorrectedChange> {
        let (a, b) = (median(&self.a)?, median(&self.b)?);
        if a == 0.0 || self.a.iter().any(|value| value.is_lower_bound) {
            return None;
        }
        let pairs = self.pairs();
        let (numbers_a, numbers_b) = (numbers(&self.a), numbers(&self.b));
        let confidence = self.level.confidence;
        let ratio = self.metric.is_tested.then(|| match &pairs {
            Some(pairs) => compare_pairs_at(pairs, confidence),
            None => compare_groups_at(&numbers_a, &numbers_b, confidence),
        });
        let no_ratio = ratio.as_ref().and_then(|ratio| ratio.as_ref().err());
        let reason = self.untested_reason(no_ratio);
        let ratio = ratio.and_then(Result::ok);
        // If the group's value is a lower bound, the change is a lower bound too, and has no
        // interval.
        let is_lower_bound = self.b.iter().any(|value| value.is_lower_bound);
        let factor = ratio
            .filter(|_| !is_lower_bound)
            .map_or(b / a, |ratio| ratio.estimate.value);
        Some(UncorrectedChange {
            confidence,
            percent: factor * 100.0 - 100.0,
            ratio: ratio.filter(|_| reason.is_none()),
            counts: match &pairs {
                Some(pairs) => (pairs.len(), pairs.len()),
                None => (self.a.len(), self.b.len()),
            },
            paired: pairs.is_some(),
            reason,
            spread: match &pairs {
                Some(pairs) => Spread::from_pairs(pairs),
                None => Spread::from_groups(&numbers_a, &numbers_b),
            },
            repeat_ms: mean_elapsed_ms(&self.a) + mean_elapsed_ms(&self.b),
        })
    }

    /// Pairs runs in the same block. Returns `None` unless each group's runs are in different
    /// blocks of one study, and at least half of the smaller group's runs have a partner.
    fn pairs(&self) -> Option<Vec<(f64, f64)>> {
        let shared = blocks(&self.b)?;
        blocks(&self.a)?;
        let pairs: Vec<(f64, f64)> = shared
            .into_iter()
            .filter_map(|block| {
                let value = |values: &[Value]| {
                    let mut values = values.iter();
                    let value = values.find(|value| value.run.block.as_ref() == Some(block));
                    value.map(|value| value.value)
                };
                Some((value(&self.a)?, value(&self.b)?))
            })
            .collect();
        let smaller = self.a.len().min(self.b.len());
        (!pairs.is_empty() && pairs.len() * 2 >= smaller).then_some(pairs)
    }

    fn untested_reason(&self, no_ratio: Option<&NoRatio>) -> Option<String> {
        if let Some(pending) = &self.level.pending {
            return Some(pending.clone());
        }
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
    group.included().filter_map(value).collect()
}

/// The sorted blocks of the values; `None` unless they are different blocks of one study.
fn blocks<'v>(values: &'v [Value]) -> Option<Vec<&'v Block>> {
    let blocks = values.iter().map(|value| value.run.block.as_ref());
    let mut sorted = blocks.collect::<Option<Vec<&Block>>>()?;
    let all = sorted.len();
    sorted.sort();
    sorted.dedup();
    let is_one_study = sorted.windows(2).all(|pair| pair[0].study == pair[1].study);
    (is_one_study && sorted.len() == all).then_some(sorted)
}

fn mean_elapsed_ms(values: &[Value]) -> f64 {
    let elapsed = values.iter().map(|value| value.run.elapsed_ms());
    elapsed.sum::<f64>() / values.len().max(1) as f64
}

fn numbers(values: &[Value]) -> Vec<f64> {
    values.iter().map(|value| value.value).collect()
}

fn median(values: &[Value]) -> Option<f64> {
    (!values.is_empty()).then(|| leadline_stats::median::median(&numbers(values)))
}

impl UncorrectedChange {
    /// The ratio to test; `None` if the metric cannot be tested.
    pub(crate) fn ratio(&self) -> Option<&Ratio> {
        self.ratio.as_ref()
    }

    /// Converts to a change without a p-value or a verdict.
    pub(crate) fn untested(self) -> Change {
        Change {
            percent: self.percent,
            interval_percent: self.interval_percent(),
            p_value: None,
            verdict: None,
            reason: None,
            paired: self.paired,
            baseline_n: self.counts.0 as u64,
            n: self.counts.1 as u64,
            more: None,
        }
    }

    pub(crate) fn not_comparable(self, obstacle: &str) -> Change {
        Change {
            verdict: Some(ChangeVerdict::NotComparable),
            reason: Some(obstacle.to_owned()),
            ..self.untested()
        }
    }

    /// `adjusted_p`: p-value corrected for `tested` metrics.
    pub(crate) fn tested(
        self,
        better: Better,
        threshold: f64,
        adjusted_p: Option<f64>,
        tested: usize,
    ) -> Change {
        let (Some(ratio), Some(adjusted_p)) = (self.ratio, adjusted_p) else {
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
        let verdict = match ratio.verdict_at(better, threshold, adjusted_p, self.confidence) {
            Verdict::Better => ChangeVerdict::Better,
            Verdict::Worse => ChangeVerdict::Worse,
            Verdict::Equivalent => ChangeVerdict::Equivalent,
            Verdict::TooFew | Verdict::Undecided => ChangeVerdict::Undecided,
        };
        let undecided = Undecided {
            ratio,
            adjusted_p,
            confidence: self.confidence,
            threshold,
            metrics: tested,
            counts: self.counts,
            design: if self.paired {
                Design::Paired
            } else {
                Design::Unpaired
            },
            spread: self.spread,
            repeat_ms: self.repeat_ms,
        };
        let is_undecided = verdict == ChangeVerdict::Undecided;
        let prediction = is_undecided.then(|| undecided.prediction()).flatten();
        Change {
            p_value: Some(adjusted_p),
            verdict: Some(verdict),
            reason: is_undecided.then(|| undecided.reason(prediction)),
            more: prediction.and_then(RepeatPrediction::repeats),
            ..self.untested()
        }
    }

    fn interval_percent(&self) -> Option<Interval> {
        let estimate = self.ratio?.estimate;
        let percent = |ratio: f64| ratio * 100.0 - 100.0;
        estimate.is_supported_at(self.confidence).then(|| Interval {
            low: percent(estimate.low),
            high: percent(estimate.high),
        })
    }
}
