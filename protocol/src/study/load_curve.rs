//! Load–latency curves: I/Os arrive at increasing rates, whether or not earlier ones are complete,
//! and their latency is measured from the intended start.

pub(super) mod parse;

use crate::{
    job::engine::EngineName,
    limits::{integer, schemas},
    named_enum::named_enum,
    report::arrivals::Overload,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use utoipa::{
    Number, ToSchema,
    openapi::schema::{ArrayBuilder, ObjectBuilder, Type},
};

const MAX_RATES: usize = 25;
const MAX_SECONDS: u32 = 3600;
const MAX_RAMP_SECONDS: u32 = 600;
/// Duration of the probe.
pub const PROBE_SECONDS: u32 = 10;
/// Target number of I/Os per rate.
const TARGET_IOS: f64 = 10_000.0;
/// Bounds of the default duration of a run at one rate, in seconds.
const SECONDS: (f64, f64) = (10.0, 120.0);
/// A run at an overloaded rate ends when its backlog has grown for this time. Longer than device
/// pauses (garbage collection, journal commits), and shorter than the shortest run.
const OVERLOAD_SECONDS: u32 = 5;

schemas! {
    CurveSeconds: integer(1..=u64::from(MAX_SECONDS));
    CurveRampSeconds: integer(0..=u64::from(MAX_RAMP_SECONDS));
    CurveRates: ArrayBuilder::new()
        .items(integer(1..=u64::MAX))
        .min_items(Some(1))
        .max_items(Some(MAX_RATES));
    LatencyLimitMs: ObjectBuilder::new()
        .schema_type(Type::Number)
        .exclusive_minimum(Some(Number::Float(0.0)));
}

/// A curve, as submitted. The study has one step with one job, which defines everything except its
/// rate and its duration.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LoadCurveDefinition {
    /// Arrivals per second of all workers combined, in ascending order, at most 25. Default: 10 %
    /// to 120 % of the IOPS of a first run without a rate limit (probe).
    #[schema(value_type = Option<CurveRates>)]
    pub rates: Option<Vec<u64>>,
    /// Duration of each run, 1 to 3600 s. Default: the time for 10,000 I/Os, 10 to 120 s.
    #[schema(value_type = Option<CurveSeconds>)]
    pub seconds: Option<u32>,
    /// Ramp before each measurement, during which I/Os already arrive, 0 to 600 s. Default: 2.
    #[schema(value_type = Option<CurveRampSeconds>)]
    pub ramp_seconds: Option<u32>,
    /// Limit for the knee: the highest rate with a p99 latency of at most this limit. Default: no
    /// knee.
    #[schema(value_type = Option<LatencyLimitMs>)]
    pub p99_limit_ms: Option<f64>,
    /// Maximum number of bytes that all runs together may write. The curve ends before a rate that
    /// could exceed it; the first run always starts. Default: no limit.
    pub max_bytes: Option<u64>,
}

/// A curve with all its settings.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct LoadCurve {
    /// Null if they are derived from the probe.
    pub rates: Option<Vec<u64>>,
    /// Null for the time for 10,000 I/Os, 10 to 120 s.
    pub seconds: Option<u32>,
    pub ramp_seconds: u32,
    pub p99_limit_ms: Option<f64>,
    /// Null if there is no limit, and for studies created before it was introduced.
    #[serde(default)]
    pub max_bytes: Option<u64>,
    /// The job of all runs, without a rate or a duration.
    #[schema(value_type = crate::job::Job)]
    pub base: Value,
}

impl LoadCurve {
    pub fn workers(&self) -> f64 {
        self.number("numjobs")
    }

    /// I/Os in flight across all workers.
    pub fn depth(&self) -> f64 {
        let engine = self.base.get("ioengine").and_then(Value::as_str);
        let engine = engine.and_then(|name| name.parse::<EngineName>().ok());
        let per_worker = match engine.is_some_and(EngineName::is_synchronous) {
            true => 1.0,
            false => self.number("iodepth"),
        };
        per_worker * self.workers()
    }

    /// Duration of a run at this rate, excluding its ramp.
    pub fn seconds_at(&self, rate: f64) -> u32 {
        match self.seconds {
            Some(seconds) => seconds,
            None => (TARGET_IOS / rate).ceil().clamp(SECONDS.0, SECONDS.1) as u32,
        }
    }

    /// The closest rate at which each worker has the same whole number of I/Os per second.
    pub fn realizable(&self, rate: f64) -> f64 {
        (rate / self.workers()).round() * self.workers()
    }

    /// The first step, as a document: the probe, or the lowest rate.
    pub fn first_step(&self) -> Value {
        match self.rates.as_ref().and_then(|rates| rates.first()) {
            Some(rate) => self.step(*rate as f64, 0),
            None => self.probe(),
        }
    }

    /// A run without a rate limit.
    fn probe(&self) -> Value {
        let seconds = self.seconds.unwrap_or(PROBE_SECONDS);
        let job = self.job(json!({"runtime": seconds, "time_based": 1}));
        json!({"name": "Probe without a rate limit", "jobs": [job]})
    }

    /// A run at a rate. `index`, the number of earlier runs, gives each run different arrivals.
    pub fn step(&self, rate: f64, index: usize) -> Value {
        let per_worker = (rate / self.workers()).round();
        let job = self.job(json!({
            "rate_iops": per_worker as u64,
            "rate_process": "poisson",
            "runtime": self.seconds_at(rate),
            "time_based": 1,
            "ramp_time": self.ramp_seconds,
            "randseed": 1000 + index,
            "overload_time": OVERLOAD_SECONDS,
        }));
        json!({"name": format!("{} IOPS", self.realizable(rate) as u64), "jobs": [job]})
    }

    fn job(&self, changes: Value) -> Value {
        let mut job = self.base.clone();
        if let (Some(job), Value::Object(changes)) = (job.as_object_mut(), changes) {
            job.extend(changes);
        }
        job
    }

    /// Returns a numeric option of the base job, at least 1. The value may be a string.
    fn number(&self, name: &str) -> f64 {
        let value = self.base.get(name);
        let number =
            value.and_then(|value| value.as_f64().or_else(|| value.as_str()?.parse().ok()));
        number.unwrap_or(1.0).max(1.0)
    }
}

named_enum! {
    names: "snake_case";
    /// Result of a run at one rate.
    pub enum PointClass {
        /// The completed I/Os keep up with the arrivals.
        Sustained,
        /// The backlog grows until the end.
        Overloaded,
        /// The run is too short: its backlog grew by more than 2 % of the arrivals, but not
        /// significantly.
        Uncertain,
        /// Foreign I/O, throttling or a stall.
        Disturbed,
        /// The counters do not add up.
        Inconsistent,
        /// The run failed, or was cancelled or deleted.
        Missing,
    }
}

named_enum! {
    names: "snake_case";
    pub enum CurveState {
        /// No run at any rate has ended.
        NoResult,
        /// The highest sustained rate is below the lowest overloaded one.
        Found,
        /// No rate overloaded the storage.
        NotReached,
        /// All rates overloaded the storage.
        SaturatedAtFirst,
        /// An overloaded rate is below a sustained one.
        NonMonotone,
        /// Some repeats of a rate were sustained, and others were overloaded.
        Bistable,
        /// The runner could not submit more I/Os.
        GeneratorLimited,
    }
}

named_enum! {
    names: "snake_case";
    pub enum KneeState {
        Found,
        /// The limit is met up to the saturation point.
        LimitedBySaturation,
        /// The limit is met at all rates.
        AtLeast,
        /// The limit is not met at any rate.
        Never,
        /// No rate has the 1,000 I/Os required for a p99.
        NoP99,
    }
}

/// Results of a curve so far.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct LoadCurveResults {
    pub state: CurveState,
    /// The saturation point and the knee.
    pub sentence: String,
    /// Foreign I/O, a busy host and other disturbances. Disturbed runs are excluded unless most
    /// runs are disturbed; the disturbance is then a property of the host.
    pub warning: Option<String>,
    /// IOPS without a rate limit, from which the rates are derived; null if there is no probe.
    /// Not a saturation point.
    pub probe_iops: Option<f64>,
    /// Completed I/Os per second at the highest sustained rate below all overloaded rates; null if
    /// no rate or every rate overloaded the storage. At most the nominal rate.
    pub saturation: Option<f64>,
    /// Due I/Os per second at the lowest rate that overloaded the storage, or at the upper end of
    /// the range in which results contradict each other; at least the nominal rate.
    pub upper: Option<f64>,
    /// Null if there is no limit.
    pub knee: Option<Knee>,
    /// In the order of the runs.
    pub points: Vec<LoadPoint>,
    /// Planned rates that were not run.
    pub not_run: Vec<f64>,
    /// The next rate, if the curve ended before it because of `max_bytes`; otherwise null.
    #[serde(default)]
    pub ended_before: Option<f64>,
}

/// The highest rate with a p99 latency within a limit.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct Knee {
    pub state: KneeState,
    pub limit_ms: f64,
    pub rate: Option<f64>,
    /// Rates below `rate` whose p99 exceeds the limit, for example because of CPU idle states.
    pub slow_at: Vec<f64>,
}

/// A run at one rate.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize, ToSchema)]
pub struct LoadPoint {
    /// One-based step of the study.
    pub step: u32,
    /// Nominal arrivals per second.
    pub offered: f64,
    /// Completed I/Os per second.
    pub achieved: Option<f64>,
    pub class: PointClass,
    /// What disturbed the run.
    pub disturbance: Option<String>,
    /// Arrivals in the measured window.
    pub due: Option<u64>,
    /// Due I/Os that were not complete, at the start of the window and at its quarters.
    pub backlog: Vec<u64>,
    /// Why the run ended early; null if it lasted for its planned time.
    #[serde(default)]
    pub overload: Option<Overload>,
    /// Latencies are measured from the intended start. They are lower bounds if the rate overloaded
    /// the storage, because incomplete I/Os have no latency.
    pub lat_mean_ns: Option<f64>,
    pub lat_p50_ns: Option<f64>,
    /// Null with fewer than 1,000 I/Os.
    pub lat_p99_ns: Option<f64>,
    /// Null with fewer than 10,000 I/Os.
    pub lat_p999_ns: Option<f64>,
    pub is_lower_bound: bool,
}
