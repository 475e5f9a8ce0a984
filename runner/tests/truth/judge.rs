//! Compares a verdict with the truth.

use crate::case::Truth;
use serde_json::Value;
use std::{fmt, ops::RangeInclusive};

pub(crate) enum Outcome {
    Right,
    /// The verdict is `unknown`.
    Unknown,
    Wrong(String),
    Skipped(String),
}

impl Outcome {
    pub(crate) fn index(&self) -> usize {
        match self {
            Self::Right => 0,
            Self::Unknown => 1,
            Self::Wrong(_) => 2,
            Self::Skipped(_) => 3,
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Right => write!(f, "right  "),
            Self::Unknown => write!(f, "unknown"),
            Self::Wrong(detail) => write!(f, "WRONG   [{detail}]"),
            Self::Skipped(reason) => write!(f, "skipped [{}]", reason.trim()),
        }
    }
}

/// Layer names in the verdict, grouped by the layers of [`Truth`].
const MEMORY: &[&str] = &["page_cache", "lower_cache", "no_device"];
const ZEROS: &[&str] = &["unwritten", "zeros"];
const DEVICE: &[&str] = &["device"];

/// Wrong if any direction is wrong; otherwise unknown if any is unknown.
pub(crate) fn judge(result: &Value, truths: &[Truth]) -> Outcome {
    assert!(!truths.is_empty());
    let mut is_unknown = false;
    for truth in truths {
        let verdict = &result["verdict"][truth.direction];
        if verdict["class"] == "unknown" || verdict["class"] == "disputed" {
            is_unknown = true;
            continue;
        }
        if let Err(detail) = check(verdict, truth) {
            return Outcome::Wrong(detail);
        }
    }
    if is_unknown {
        Outcome::Unknown
    } else {
        Outcome::Right
    }
}

/// Each share may differ from the truth by at most its error bound.
fn check(verdict: &Value, truth: &Truth) -> Result<(), String> {
    let class = verdict["class"].as_str().ok_or("no verdict")?;
    let bound = verdict["uncertainty"].as_f64().unwrap_or(0.0);
    let shares = [
        ("memory", MEMORY, &truth.memory),
        ("zeros", ZEROS, &truth.zeros),
        ("device", DEVICE, &truth.device),
    ];
    for (layer, names, expected) in shares {
        let is_bare_class = class == "no_device" && layer == "memory";
        let claimed = if is_bare_class && verdict["shares"].as_object().is_none_or(|s| s.is_empty())
        {
            1.0
        } else {
            sum(verdict, names)
        };
        if distance(claimed, expected) > bound + ROUNDING {
            return Err(format!(
                "{} {class}: {layer} {claimed:.3} ±{bound:.3}, truth {:.3} to {:.3}",
                truth.direction,
                expected.start(),
                expected.end()
            ));
        }
    }
    Ok(())
}

/// Tolerance, because shares are computed from whole I/Os.
const ROUNDING: f64 = 0.005;

fn sum(verdict: &Value, names: &[&str]) -> f64 {
    let shares = &verdict["shares"];
    names.iter().filter_map(|name| shares[name].as_f64()).sum()
}

fn distance(value: f64, range: &RangeInclusive<f64>) -> f64 {
    (range.start() - value).max(value - range.end()).max(0.0)
}
