//! Studies that end as soon as their two steps differ or are equivalent.

use crate::{
    compare::{ChangeVerdict, Interval},
    metrics::ComparedMetricName,
    named_enum::named_enum,
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// When a study may end before its last repeat.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct UntilDecided {
    /// Names of the metrics that must all be decided.
    #[schema(value_type = Vec<ComparedMetricName>)]
    pub metrics: Vec<String>,
    /// Smallest change that matters, in percent.
    pub threshold_percent: f64,
    /// In order. The looks do not depend on the results, which keeps the error rate at 5 %.
    pub looks: Vec<PlannedLook>,
}

/// A look at the results of a running study.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct PlannedLook {
    /// The look takes place when this many pairs of runs have ended.
    pub pairs: u32,
    /// Confidence level of the intervals and the verdict at this look, in percent.
    pub confidence_percent: f64,
}

/// The result of a look.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Look {
    #[serde(flatten)]
    pub planned: PlannedLook,
    pub outcome: LookOutcome,
    /// Change of each of the study's metrics.
    pub changes: Vec<LookChange>,
    /// The result, in one sentence.
    pub sentence: String,
    /// Why runs are excluded.
    pub reasons: Vec<String>,
}

named_enum! {
    names: "snake_case";
    /// The decision after a look.
    pub enum LookOutcome {
        /// All metrics are better, worse or equivalent: the study ends.
        Decided,
        Undecided,
        /// The steps cannot be compared, so the study continues.
        NotComparable,
    }
}

/// The change of a metric at a look, as in a comparison.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct LookChange {
    #[schema(value_type = ComparedMetricName)]
    pub metric: String,
    /// Null if a step has no value.
    pub percent: Option<f64>,
    /// At the confidence level of the look; null if there are too few pairs.
    pub interval_percent: Option<Interval>,
    pub verdict: ChangeVerdict,
    /// Pairs of complete runs.
    pub pairs: u32,
}

impl UntilDecided {
    /// The look that decided the study.
    pub fn decision(looks: &[Look]) -> Option<&Look> {
        looks
            .iter()
            .find(|look| look.outcome == LookOutcome::Decided)
    }

    /// The next look after `looks`; `None` after the last look and after the decision.
    pub fn next_look(&self, looks: &[Look]) -> Option<PlannedLook> {
        if Self::decision(looks).is_some() {
            return None;
        }
        let last = looks.last().map_or(0, |look| look.planned.pairs);
        let mut planned = self.looks.iter();
        planned.find(|look| look.pairs > last).copied()
    }
}
