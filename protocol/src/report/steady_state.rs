//! Result of steady-state detection (`steadystate`).

use crate::{format::duration, plan::job::SteadyStateOptions};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Steady state of a job.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SteadyStateReport {
    pub attained: bool,
    /// Seconds from the start of the job's measured window until the steady state was attained;
    /// null if it was not.
    pub attained_s: Option<f64>,
    /// The result as a sentence.
    pub summary: String,
    /// The last complete window; null if the job ended before the first one was complete.
    pub window: Option<SteadyWindow>,
    /// IOPS of the last seconds, at most `steadystate_duration` of them.
    pub iops: Vec<f64>,
    /// Bandwidth of the same seconds, in bytes/s.
    pub bytes_per_second: Vec<f64>,
}

/// A window of `steadystate_duration` seconds.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SteadyWindow {
    /// Milliseconds since the start of the run.
    pub start_ms: f64,
    /// Milliseconds since the start of the run.
    pub end_ms: f64,
    pub mean_iops: f64,
    pub mean_bytes_per_second: f64,
    /// Largest difference between a second and the mean, in IOPS or bytes/s.
    pub max_deviation: f64,
    /// Slope of the least-squares line, in IOPS or bytes/s per second.
    pub slope: f64,
    /// The value that is compared with the limit, in its unit; null if it is a percentage and the
    /// mean is 0.
    pub value: Option<f64>,
}

/// Current value of a job, in the sample that follows each second of the job's measured window.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SteadyStateProgress {
    /// Index of the job in the run.
    pub job: u32,
    /// The value that is compared with the limit, in its unit; null until the first window is
    /// complete, and if it is a percentage and the mean is 0.
    pub value: Option<f64>,
    pub attained: bool,
}

/// The result in one sentence.
pub fn summary(
    options: &SteadyStateOptions,
    attained_s: Option<f64>,
    window: Option<&SteadyWindow>,
) -> String {
    let test = &options.test;
    let length = duration(f64::from(options.duration_s) * 1000.0);
    if let Some(attained_s) = attained_s {
        let after = duration(attained_s * 1000.0);
        return format!(
            "Steady state after {after}: {} for {length}.",
            test.condition()
        );
    }
    let reason = match window {
        None => format!("the job ended before the first window of {length} was complete"),
        Some(SteadyWindow { value: None, .. }) => {
            format!("no I/O completed in the last {length}")
        }
        Some(SteadyWindow {
            value: Some(value), ..
        }) => format!(
            "{} of {} in the last {length} (limit {})",
            if test.criterion.is_slope() {
                "slope"
            } else {
                "deviation"
            },
            test.value_text(*value),
            test.value_text(test.limit)
        ),
    };
    format!("Steady state not reached: {reason}.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{steady_state::SteadyState, value::FioValue};

    #[test]
    fn summaries() {
        let options = |text| SteadyStateOptions {
            test: SteadyState::parse(text).unwrap(),
            duration_s: 10,
            ramp_s: 0,
        };
        let window = |value| SteadyWindow {
            start_ms: 0.0,
            end_ms: 10_000.0,
            mean_iops: 100.0,
            mean_bytes_per_second: 409_600.0,
            max_deviation: 1.0,
            slope: 0.0,
            value,
        };
        for (text, attained_s, window, expected) in [
            (
                "iops:5%",
                Some(42.0),
                Some(window(Some(4.0))),
                "Steady state after 42.0 s: IOPS within 5 % for 10.0 s.",
            ),
            (
                "iops:5%",
                None,
                Some(window(Some(12.34))),
                "Steady state not reached: deviation of 12.3 % in the last 10.0 s (limit 5 %).",
            ),
            (
                "bw_slope:1m",
                None,
                Some(window(Some(-2_097_152.0))),
                "Steady state not reached: slope of -2.00 MiB/s (2.10 MB/s) per second in the last 10.0 s (limit 1.00 MiB/s (1.05 MB/s) per second).",
            ),
            (
                "iops:5%",
                None,
                Some(window(None)),
                "Steady state not reached: no I/O completed in the last 10.0 s.",
            ),
            (
                "iops:5%",
                None,
                None,
                "Steady state not reached: the job ended before the first window of 10.0 s was complete.",
            ),
        ] {
            assert_eq!(
                summary(&options(text), attained_s, window.as_ref()),
                expected
            );
        }
    }
}
