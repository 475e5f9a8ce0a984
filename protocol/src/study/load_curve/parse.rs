//! Parses a curve and its base job.

use crate::{
    job::{Job, rw::RwKind},
    problem::object_reader::ObjectReader,
    study::load_curve::{LoadCurve, LoadCurveDefinition, MAX_RAMP_SECONDS, MAX_RATES, MAX_SECONDS},
};
use serde_json::{Map, Value};

const FIELD: &str = "load_curve";
const REMEDY: &str = "Use {} for a probe and rates derived from it, or {\"rates\":[1000,2000]}.";
const DEFAULT_RAMP_SECONDS: u32 = 2;
/// Minimum number of I/Os for a p99.
const MIN_IOS: f64 = 1_000.0;
/// Options that the base job must not have, because the curve sets them or does not support them.
const REJECTED_OPTIONS: &[&str] = &[
    "io_limit",
    "io_size",
    "loops",
    "number_ios",
    "overload_time",
    "ramp_time",
    "randrepeat",
    "randseed",
    "rate",
    "rate_iops",
    "rate_process",
    "runtime",
    "ss",
    "ss_dur",
    "ss_ramp",
    "startdelay",
    "steadystate",
    "steadystate_duration",
    "steadystate_ramp_time",
    "thinktime",
    "thinktime_blocks",
    "time_based",
    "timeout",
    "unlink",
    "verify",
    "verify_only",
];

/// Returns `None` if there is no curve or it is invalid.
pub(crate) fn parse_curve(reader: &mut ObjectReader, steps: Option<&Value>) -> Option<LoadCurve> {
    let definition: LoadCurveDefinition = match serde_json::from_value(reader.take(FIELD)?) {
        Ok(definition) => definition,
        Err(error) => {
            let detail = format!("load_curve is not valid: {error}.");
            reader.reject("bad_value", FIELD, detail, REMEDY);
            return None;
        }
    };
    let base = parse_base_job(reader, steps, definition.max_bytes.is_some())?;
    let curve = LoadCurve {
        rates: definition.rates,
        seconds: definition.seconds,
        ramp_seconds: definition.ramp_seconds.unwrap_or(DEFAULT_RAMP_SECONDS),
        p99_limit_ms: definition.p99_limit_ms,
        max_bytes: definition.max_bytes,
        base: Value::Object(base),
    };
    check(reader, &curve);
    (!reader.has_problems()).then_some(curve)
}

fn check(reader: &mut ObjectReader, curve: &LoadCurve) {
    let mut reject = |name: &str, detail: &str, remedy: &str| {
        reader.reject("bad_value", &format!("{FIELD}.{name}"), detail, remedy);
    };
    if curve
        .seconds
        .is_some_and(|seconds| !(1..=MAX_SECONDS).contains(&seconds))
    {
        reject("seconds", "seconds must be between 1 and 3600.", "Use 10.");
        return;
    }
    if curve.ramp_seconds > MAX_RAMP_SECONDS {
        reject(
            "ramp_seconds",
            "ramp_seconds must be between 0 and 600.",
            "Use 2.",
        );
    }
    let is_limit = |limit: f64| limit > 0.0 && limit.is_finite();
    if curve.p99_limit_ms.is_some_and(|limit| !is_limit(limit)) {
        reject(
            "p99_limit_ms",
            "The limit must be greater than 0.",
            "Use 1.",
        );
    }
    let Some(rates) = &curve.rates else { return };
    let workers = curve.workers() as u64;
    let is_valid = (1..=MAX_RATES).contains(&rates.len())
        && rates.is_sorted_by(|a, b| a < b)
        && rates
            .iter()
            .all(|rate| *rate >= workers && rate.is_multiple_of(workers));
    if !is_valid {
        reject(
            "rates",
            "rates must be 1 to 25 increasing numbers that are multiples of numjobs.",
            "Use rates such as [1000, 2000, 4000].",
        );
        return;
    }
    let ios = |rate: &u64| *rate as f64 * f64::from(curve.seconds_at(*rate as f64));
    if rates.iter().any(|rate| ios(rate) < MIN_IOS) {
        reject(
            "rates",
            "A run at one of the rates would have fewer than 1,000 I/Os.",
            "Use higher rates, or set seconds to a longer time.",
        );
    }
}

/// Returns the base job, which must not have options that the curve sets.
fn parse_base_job(
    reader: &mut ObjectReader,
    steps: Option<&Value>,
    has_max_bytes: bool,
) -> Option<Map<String, Value>> {
    let steps = steps.and_then(Value::as_array).map(Vec::as_slice);
    let jobs = match steps {
        Some([step]) => step["jobs"].as_array().map(Vec::as_slice),
        _ => None,
    };
    let Some([Value::Object(base)]) = jobs else {
        let detail = "A load curve requires one step with one job.";
        reader.reject("step_count", "steps", detail, "Use one step with one job.");
        return None;
    };
    for option in base
        .keys()
        .filter(|option| REJECTED_OPTIONS.contains(&option.as_str()))
    {
        let field = format!("steps[0].jobs[0].{option}");
        let detail = format!("The load curve sets {option} or does not support it.");
        reader.reject("conflicting_options", &field, detail, "Remove it.");
    }
    let mut problems = Vec::new();
    let kind = Job::parse(base, "", &mut problems).rw.map(|rw| rw.kind);
    if has_max_bytes && kind.is_some_and(|kind| !kind.writes()) {
        let detail = "max_bytes limits the written bytes, but the job does not write.";
        let field = format!("{FIELD}.max_bytes");
        reader.reject("conflicting_options", &field, detail, "Remove it.");
    }
    if kind.is_some_and(|kind| directions(kind) > 1) {
        let detail = "A load curve has one direction: rates apply to reads and writes separately.";
        let field = "steps[0].jobs[0].rw";
        reader.reject(
            "conflicting_options",
            field,
            detail,
            "Use rw=randread or randwrite.",
        );
    }
    Some(base.clone())
}

fn directions(kind: RwKind) -> usize {
    [kind.reads(), kind.writes(), kind.trims()]
        .into_iter()
        .filter(|is_used| *is_used)
        .count()
}

#[cfg(test)]
mod tests {
    use crate::study::{parse::parse_study, procedure::Procedure};
    use serde_json::{Value, json};

    fn study(curve: Value, changes: Value) -> Value {
        let mut job = json!({"filename": "f", "size": "1m", "rw": "randread", "direct": 1});
        let changes = changes.as_object().unwrap().clone();
        job.as_object_mut().unwrap().extend(changes);
        json!({"load_curve": curve, "steps": [{"jobs": [job]}]})
    }

    #[test]
    fn first_step_is_the_probe_or_the_lowest_rate() {
        let first = |curve: Value| {
            let spec = parse_study(study(curve, json!({"numjobs": 2}))).unwrap();
            assert!(matches!(spec.procedure, Some(Procedure::LoadCurve(_))));
            assert_eq!(spec.steps.len(), 1);
            spec.steps[0].clone()
        };
        let probe = first(json!({}));
        assert_eq!(probe.jobs[0]["runtime"], 10);
        assert!(probe.jobs[0]["rate_iops"].is_null());
        let rate = first(json!({"rates": [500, 4000], "p99_limit_ms": 1.5}));
        assert_eq!(rate.name, "500 IOPS");
        let job = &rate.jobs[0];
        // 500 IOPS are 250 for each worker; 10,000 I/Os take 20 s.
        assert_eq!(
            json!([
                job["rate_iops"],
                job["rate_process"],
                job["runtime"],
                job["ramp_time"]
            ]),
            json!([250, "poisson", 20, 2])
        );
    }

    #[test]
    fn rejects_invalid_curves() {
        let check = |curve: Value, job: Value, field: &str| {
            let problems = parse_study(study(curve.clone(), job)).unwrap_err();
            assert_eq!(problems[0].field.as_deref(), Some(field), "{curve}");
        };
        let none = || json!({});
        check(json!(7), none(), "load_curve");
        check(json!({"rates": []}), none(), "load_curve.rates");
        check(json!({"rates": [2000, 1000]}), none(), "load_curve.rates");
        check(json!({"rates": [1]}), none(), "load_curve.rates");
        check(
            json!({"rates": [1001]}),
            json!({"numjobs": 2}),
            "load_curve.rates",
        );
        check(json!({"seconds": 0}), none(), "load_curve.seconds");
        check(
            json!({"p99_limit_ms": 0}),
            none(),
            "load_curve.p99_limit_ms",
        );
        check(
            none(),
            json!({"rate_iops": 5}),
            "steps[0].jobs[0].rate_iops",
        );
        check(none(), json!({"rw": "randrw"}), "steps[0].jobs[0].rw");
        check(
            json!({"max_bytes": 1000}),
            json!({"rw": "randread"}),
            "load_curve.max_bytes",
        );
        let mut two = study(none(), none());
        two["steps"] = json!([two["steps"][0], two["steps"][0]]);
        assert_eq!(
            parse_study(two).unwrap_err()[0].field.as_deref(),
            Some("steps")
        );
    }
}
