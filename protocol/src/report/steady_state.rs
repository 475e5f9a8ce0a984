//! Result of steady-state detection (`steadystate`).

use crate::{format::duration, job::steady_state::SteadyState, plan::job::SteadyStateOptions};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Steady state of a job.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SteadyStateReport {
    #[serde(flatten)]
    pub test: SteadyState,
    pub attained: bool,
    /// Seconds from the start of the job's measured window until the steady state was attained;
    /// null if it was not.
    pub attained_s: Option<f64>,
    /// The result as a sentence.
    pub summary: String,
    /// The last complete window; null if the job ended before the first one was complete.
    pub window: Option<SteadyWindow>,
    /// IOPS of the intervals (`steadystate_check_interval`) of the last `steadystate_duration`.
    pub iops: Vec<f64>,
    /// Bandwidth of the same intervals, in bytes/s.
    pub bytes_per_second: Vec<f64>,
    /// Mean latency (`lat`) of the same intervals, in ns; empty for runs recorded before it was
    /// measured.
    #[serde(default)]
    #[schema(required = true)]
    pub lat_ns: Vec<f64>,
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
    /// Largest difference between an interval and the mean, in IOPS, bytes/s or ns.
    pub max_deviation: f64,
    /// Slope of the least-squares line, in IOPS, bytes/s or ns per interval, as in fio.
    pub slope: f64,
    /// The value that is compared with the limit, in its unit; null if it is a percentage and the
    /// mean is 0.
    pub value: Option<f64>,
}

/// Current state of a job, in the sample that follows each interval of the job's measured window.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct SteadyStateProgress {
    /// Index of the job in the run.
    pub job: u32,
    /// The value that is compared with the limit, in its unit; null until the first window is
    /// complete, and if it is a percentage and the mean is 0.
    pub value: Option<f64>,
    pub attained: bool,
    /// The state as a sentence.
    pub summary: String,
}

/// Progress of a job toward steady state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// Seconds from the start of the job's measured window.
    AttainedAfter(f64),
    NotYet,
    /// The job has ended.
    NotReached,
}

/// The state in one sentence.
pub fn summary(options: &SteadyStateOptions, progress: Progress, window: WindowValue) -> String {
    let test = &options.test;
    let length = duration(f64::from(options.duration_s) * 1000.0);
    let prefix = match progress {
        Progress::AttainedAfter(seconds) => {
            let after = duration(seconds * 1000.0);
            let condition = test.condition(options.interval_s);
            return format!("Steady state after {after}: {condition} for {length}.");
        }
        Progress::NotYet => "Not steady yet",
        Progress::NotReached => "Steady state not reached",
    };
    let reason = match window {
        WindowValue::Incomplete => format!("the first window of {length} is incomplete"),
        WindowValue::Undefined => format!("no I/O completed in the last {length}"),
        WindowValue::Known(value) => {
            let property = if test.criterion.is_slope() {
                "slope"
            } else {
                "deviation"
            };
            let value = test.value_text(value, options.interval_s);
            let limit = test.value_text(test.limit, options.interval_s);
            format!("{property} of {value} in the last {length} (limit {limit})")
        }
    };
    format!("{prefix}: {reason}.")
}

/// The value of the last complete window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowValue {
    /// No window is complete.
    Incomplete,
    /// The value is a percentage, and the mean is 0.
    Undefined,
    Known(f64),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::value::FioValue;

    #[test]
    fn summarizes_progress() {
        use Progress::{AttainedAfter, NotReached, NotYet};
        use WindowValue::{Incomplete, Known, Undefined};
        for (text, progress, window, expected) in [
            (
                "iops:5%",
                AttainedAfter(42.0),
                Known(4.0),
                "Steady state after 42.0 s: IOPS within 5 % for 10.0 s.",
            ),
            (
                "iops:5%",
                NotReached,
                Known(12.34),
                "Steady state not reached: deviation of 12.3 % in the last 10.0 s (limit 5 %).",
            ),
            (
                "bw_slope:1m",
                NotYet,
                Known(-2_097_152.0),
                "Not steady yet: slope of -2.00 MiB/s (2.10 MB/s) per second in the last 10.0 s (limit 1.00 MiB/s (1.05 MB/s) per second).",
            ),
            (
                "iops:5%",
                NotReached,
                Undefined,
                "Steady state not reached: no I/O completed in the last 10.0 s.",
            ),
            (
                "iops:5%",
                NotYet,
                Incomplete,
                "Not steady yet: the first window of 10.0 s is incomplete.",
            ),
        ] {
            let options = SteadyStateOptions {
                test: SteadyState::parse(text).unwrap(),
                duration_s: 10,
                ramp_s: 0,
                interval_s: 1,
            };
            assert_eq!(summary(&options, progress, window), expected);
        }
    }
}
