//! Why a change is undecided, and how many more repeats would decide it.

use crate::MAX_RUNS;
use leadline_protocol::{compare::MoreRepeats, format::duration};
use leadline_stats::{
    comparison::{Design, Ratio},
    sample_size::{Goal, Spread},
};

/// Minimum degrees of freedom. With fewer, the spread is too uncertain to predict the number of
/// repeats.
const MIN_DEGREES_OF_FREEDOM: usize = 2;

pub(crate) struct Undecided {
    pub ratio: Ratio,
    pub adjusted_p: f64,
    /// Confidence level, 0 to 1.
    pub confidence: f64,
    /// Smallest ratio that matters, such as 1.02.
    pub threshold: f64,
    /// Number of tested metrics.
    pub metrics: usize,
    /// Number of values in the baseline and in the group; for pairs, both are the number of pairs.
    pub counts: (usize, usize),
    pub design: Design,
    pub spread: Option<Spread>,
    /// Duration of one more pair, or of one more run per group.
    pub repeat_ms: f64,
}

/// Number of additional repeats predicted from the spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum RepeatPrediction {
    Repeats(MoreRepeats),
    /// More repeats than a group may contain.
    TooMany,
}

impl RepeatPrediction {
    pub(crate) fn repeats(self) -> Option<MoreRepeats> {
        match self {
            Self::Repeats(repeats) => Some(repeats),
            Self::TooMany => None,
        }
    }
}

impl Undecided {
    /// `None` if the spread is unknown or too uncertain.
    pub(crate) fn prediction(&self) -> Option<RepeatPrediction> {
        let spread = self
            .spread
            .filter(|spread| spread.degrees_of_freedom >= MIN_DEGREES_OF_FREEDOM)?;
        let goal = Goal {
            confidence: self.confidence,
            metrics: self.metrics,
            max_runs: MAX_RUNS,
        };
        let required = if self.is_beyond_threshold() {
            spread.runs_for_difference(self.ratio.estimate.value, &goal)
        } else {
            spread.runs_for_equivalence(self.threshold, &goal)
        };
        let Some(required) = required else {
            return Some(RepeatPrediction::TooMany);
        };
        let repeats = required.saturating_sub(self.smaller_count()).max(1);
        if self.smaller_count() + repeats > MAX_RUNS {
            return Some(RepeatPrediction::TooMany);
        }
        Some(RepeatPrediction::Repeats(MoreRepeats {
            repeats: repeats as u64,
            duration_ms: repeats as f64 * self.repeat_ms,
        }))
    }

    pub(crate) fn reason(&self, prediction: Option<RepeatPrediction>) -> String {
        let cause = self.cause();
        match prediction {
            Some(RepeatPrediction::Repeats(more)) => {
                format!("{cause} {}", self.prediction_text(more))
            }
            Some(RepeatPrediction::TooMany) => format!(
                "{cause} With this spread, a verdict would require more than {MAX_RUNS} {}.",
                match self.design {
                    Design::Paired => "pairs",
                    Design::Unpaired => "runs per group",
                }
            ),
            None => cause,
        }
    }

    fn cause(&self) -> String {
        let level = (1.0 - self.confidence) / self.metrics.max(1) as f64;
        let required = self.design.fewest_runs(level);
        if self.smaller_count() < required {
            return self.too_few(required);
        }
        let estimate = self.ratio.estimate;
        let excludes_equality = estimate.low > 1.0 || estimate.high < 1.0;
        let is_significant = self.adjusted_p <= 1.0 - self.confidence;
        if excludes_equality && self.is_beyond_threshold() && !is_significant {
            return format!(
                "The interval excludes zero, but the change is not significant after correction for {} (Holm).",
                self.metrics_text()
            );
        }
        "The interval includes both relevant and negligible changes.".into()
    }

    /// The preceding sentence contains the number of runs.
    fn too_few(&self, required: usize) -> String {
        let metrics = self.metrics_text();
        let runs = match self.design {
            Design::Paired => "pairs",
            Design::Unpaired => "runs per group",
        };
        format!("A verdict on {metrics} requires at least {required} {runs}.")
    }

    fn prediction_text(&self, more: MoreRepeats) -> String {
        let repeats = match (self.design, more.repeats) {
            (Design::Paired, count) => format!("{} more", count) + pair_noun(count),
            (Design::Unpaired, 1) => "1 more run per group".into(),
            (Design::Unpaired, count) => format!("{count} more runs per group"),
        };
        let time = if more.duration_ms > 0.0 {
            format!(" ({})", duration(more.duration_ms))
        } else {
            String::new()
        };
        if self.is_beyond_threshold() {
            format!("With this spread, about {repeats}{time} would confirm a change of this size.")
        } else {
            format!(
                "With this spread, about {repeats}{time} would confirm equivalence if nothing changed."
            )
        }
    }

    fn is_beyond_threshold(&self) -> bool {
        let ratio = self.ratio.estimate.value;
        ratio >= self.threshold || ratio <= 1.0 / self.threshold
    }

    /// Number of pairs, or of runs in the smaller group.
    fn smaller_count(&self) -> usize {
        self.counts.0.min(self.counts.1)
    }

    fn metrics_text(&self) -> String {
        match self.metrics {
            1 => "one metric".into(),
            count => format!("{count} metrics"),
        }
    }
}

/// `1 pair`, `2 pairs`
pub(crate) fn pairs(count: u64) -> String {
    format!("{count}{}", pair_noun(count))
}

fn pair_noun(count: u64) -> &'static str {
    if count == 1 { " pair" } else { " pairs" }
}
