//! Determines which contender is faster, based on the interval of the IOPS ratios.

use leadline_stats::Estimate;
use serde::Serialize;

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Ahead,
    Behind,
    NoDifference,
    TooFewRounds,
}

impl Verdict {
    pub fn of(ratio: &Estimate) -> Self {
        match ratio {
            _ if !ratio.is_supported() => Self::TooFewRounds,
            _ if ratio.low > 1.0 => Self::Ahead,
            _ if ratio.high < 1.0 => Self::Behind,
            _ => Self::NoDifference,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ahead => "ahead",
            Self::Behind => "behind",
            Self::NoDifference => "no difference",
            Self::TooFewRounds => "too few rounds",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_stats::median::interval;

    #[test]
    fn verdict_compares_the_interval_with_one() {
        let check = |values: &[f64], verdict| {
            assert_eq!(Verdict::of(&interval(values)), verdict, "{values:?}");
        };
        check(&[1.2, 1.3, 1.1, 1.2, 1.4, 1.2, 1.3], Verdict::Ahead);
        check(&[0.9, 0.8, 0.9, 0.9, 0.9, 0.7, 0.9], Verdict::Behind);
        check(&[1.2, 1.3, 0.99, 1.2, 1.4, 1.2, 1.3], Verdict::NoDifference);
        check(
            &[1.2, 1.3, 0.99, 1.2, 1.4, 1.2, 1.3, 1.2, 1.2],
            Verdict::Ahead,
        );
        check(&[1.2, 1.3, 1.2, 1.4, 1.2], Verdict::TooFewRounds);
        check(&[1.2], Verdict::TooFewRounds);
    }
}
