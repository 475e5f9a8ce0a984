//! The `steadystate` option.

use crate::{
    format::bandwidth,
    job::{
        range::{POSITIVE, ValueRange},
        value::FioValue,
        value_schema::{ValueSchema, pattern},
    },
    named_enum::named_enum,
    units,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use utoipa::ToSchema;

named_enum! {
    names: "snake_case";
    /// Property of the window that is compared with the limit.
    pub enum SteadyCriterion {
        /// Largest deviation of the IOPS of an interval from the mean.
        Iops,
        /// Slope of the least-squares line through the IOPS, per interval.
        IopsSlope,
        /// Largest deviation of the bandwidth of an interval from the mean.
        Bw,
        /// Slope of the least-squares line through the bandwidth, per interval.
        BwSlope,
        /// Largest deviation of the mean latency of an interval from the mean.
        Lat,
        /// Slope of the least-squares line through the mean latencies, per interval.
        LatSlope,
    }
}

impl SteadyCriterion {
    pub fn is_slope(self) -> bool {
        matches!(self, Self::IopsSlope | Self::BwSlope | Self::LatSlope)
    }

    pub fn is_bandwidth(self) -> bool {
        matches!(self, Self::Bw | Self::BwSlope)
    }

    pub fn is_latency(self) -> bool {
        matches!(self, Self::Lat | Self::LatSlope)
    }
}

/// A criterion and its limit.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SteadyState {
    pub criterion: SteadyCriterion,
    /// In IOPS or bytes/s, or a percentage of the window's mean (always for latencies). The steady
    /// state is attained below this limit.
    pub limit: f64,
    pub is_percent: bool,
}

impl SteadyState {
    /// Formats a value of the criterion, such as `4.2 %`, `0.1 %/s` or `12`. `interval_s`: interval
    /// of a slope.
    pub fn value_text(&self, value: f64, interval_s: u32) -> String {
        let sign = if value < 0.0 { "-" } else { "" };
        let value = value.abs();
        let text = match (self.is_percent, self.criterion.is_bandwidth()) {
            (true, _) => format!("{sign}{} %", significant(value)),
            (false, true) => format!("{sign}{}", bandwidth(value)),
            (false, false) => format!("{sign}{}", significant(value)),
        };
        match (self.criterion.is_slope(), self.is_percent) {
            (false, _) => text,
            (true, true) if interval_s == 1 => format!("{text}/s"),
            (true, false) if interval_s == 1 => format!("{text} per second"),
            (true, _) => format!("{text} per {interval_s} s"),
        }
    }

    /// Formats the limit, such as `IOPS within 5 %` or `bandwidth slope below 0.1 %/s`.
    pub fn condition(&self, interval_s: u32) -> String {
        let metric = if self.criterion.is_bandwidth() {
            "bandwidth"
        } else if self.criterion.is_latency() {
            "mean latency"
        } else {
            "IOPS"
        };
        let limit = self.value_text(self.limit, interval_s);
        if self.criterion.is_slope() {
            format!("{metric} slope below {limit}")
        } else {
            format!("{metric} within {limit}")
        }
    }
}

/// Formats with up to three significant digits, without trailing zeros.
fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let decimals = (2 - value.log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').into()
    } else {
        text
    }
}

/// In fio's syntax.
impl fmt::Display for SteadyState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = if self.is_percent { "%" } else { "" };
        write!(f, "{}:{}{unit}", self.criterion.as_str(), self.limit)
    }
}

/// A decimal above 0.
const LIMIT: &str = r"([1-9][0-9]{0,14}(\.[0-9]{1,9})?|0\.[0-9]{0,8}[1-9])";

impl FioValue for SteadyState {
    const KIND: &'static str = "steady state";

    /// For latencies, only percentages are accepted, because fio 3.42 parses `lat:1ms` as 1,000 but
    /// compares it with nanoseconds. `iops:2k` and `bw:0.5m` are rejected, because fio parses them
    /// as 2 IOPS and 0 bytes/s (options.c, str_steadystate_cb).
    fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let Some((name, limit)) = text.split_once(':') else {
            return Err(format!(
                "`{text}` has no limit: use iops:5% or iops_slope:0.1%"
            ));
        };
        let criterion: SteadyCriterion = name.parse().map_err(|_| {
            format!(
                "`{name}` is not a criterion: use iops, bw, lat, iops_slope, bw_slope or lat_slope"
            )
        })?;
        let limit = limit.trim();
        let percent = limit.strip_suffix('%');
        let limit = match percent {
            Some(percent) => number(percent.trim_end())?,
            None if criterion.is_latency() => {
                return Err(format!(
                    "a latency limit must be a percentage, such as {name}:5%"
                ));
            }
            None if criterion.is_bandwidth() => units::bytes(limit)? as f64,
            None => number(limit)?,
        };
        Ok(Self {
            criterion,
            limit,
            is_percent: percent.is_some(),
        })
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        let size = pattern::size(POSITIVE);
        ValueSchema::pattern(format!(
            "((iops|iops_slope|bw|bw_slope|lat|lat_slope):{LIMIT}%|(iops|iops_slope):{LIMIT}|(bw|bw_slope):{size})"
        ))
    }
}

fn number(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number| f64::is_finite(*number))
        .ok_or_else(|| format!("`{text}` is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_criteria_and_limits_like_fio() {
        use SteadyCriterion::{Bw, BwSlope, Iops, IopsSlope};
        for (text, criterion, limit, is_percent) in [
            ("iops:5%", Iops, 5.0, true),
            ("iops_slope:0.01%", IopsSlope, 0.01, true),
            ("iops:2.5", Iops, 2.5, false),
            ("iops:1e2", Iops, 100.0, false),
            ("iops:-5", Iops, -5.0, false),
            ("lat:5%", SteadyCriterion::Lat, 5.0, true),
            ("lat_slope:0.1%", SteadyCriterion::LatSlope, 0.1, true),
            ("bw:1m", Bw, 1_048_576.0, false),
            ("bw:10", Bw, 10.0, false),
            (" bw_slope: 0.5 % ", BwSlope, 0.5, true),
        ] {
            let expected = SteadyState {
                criterion,
                limit,
                is_percent,
            };
            assert_eq!(SteadyState::parse(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn rejects_limits_that_fio_misreads() {
        for (text, part) in [
            ("iops", "no limit"),
            ("lat:1ms", "percentage"),
            ("lat_slope:10", "percentage"),
            ("IOPS:5%", "not a criterion"),
            ("iops:", "not a number"),
            ("iops:2k", "not a number"),
            ("iops:inf", "not a number"),
            ("iops:5%x", "not a number"),
            ("bw:0.5m", "fraction"),
            ("bw:10k%", "not a number"),
        ] {
            let error = SteadyState::parse(text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }

    #[test]
    fn describes_limits() {
        for (text, condition) in [
            ("iops:5%", "IOPS within 5 %"),
            ("iops:20", "IOPS within 20"),
            ("iops_slope:0.01%", "IOPS slope below 0.01 %/s"),
            ("bw:1m", "bandwidth within 1.00 MiB/s (1.05 MB/s)"),
            ("bw_slope:100%", "bandwidth slope below 100 %/s"),
            ("lat:5%", "mean latency within 5 %"),
        ] {
            let steady_state = SteadyState::parse(text).unwrap();
            assert_eq!(steady_state.condition(1), condition);
        }
        let percent = SteadyState::parse("iops:5%").unwrap();
        for (value, text) in [
            (0.0, "0 %"),
            (12.345, "12.3 %"),
            (-0.012345, "-0.0123 %"),
            (123.4, "123 %"),
        ] {
            assert_eq!(percent.value_text(value, 1), text);
        }
        assert_eq!(percent.to_string(), "iops:5%");
        for (text, condition) in [
            ("iops:5%", "IOPS within 5 %"),
            ("lat_slope:0.1%", "mean latency slope below 0.1 % per 30 s"),
            ("iops_slope:2", "IOPS slope below 2 per 30 s"),
        ] {
            let steady_state = SteadyState::parse(text).unwrap();
            assert_eq!(steady_state.condition(30), condition);
        }
    }
}
