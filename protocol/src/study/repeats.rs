//! Parses the options that control how a study repeats its steps.

use crate::{
    job::run_spec::{self, IDLE_WAIT_REMEDY},
    limits::{MAX_STEPS, MAX_STUDY_THRESHOLD},
    metrics::METRICS,
    problem::object_reader::ObjectReader,
    study::definition::{MAX_SEED, RepeatOrder, UntilDecidedDefinition},
};

/// Maximum number of pairs in a comparison.
const MAX_PAIRS: u32 = 50;
const DEFAULT_IDLE_WAIT_SECONDS: u32 = 10;
/// Maximum number of metrics. Each additional metric requires more pairs for a decision.
const MAX_METRICS: usize = 6;
const UNTIL_DECIDED_EXAMPLE: &str =
    "{\"metrics\":[\"read_iops\"],\"threshold_percent\":2} or {} for the defaults";

pub(super) fn parse_repeats(reader: &mut ObjectReader, steps: usize) -> u32 {
    let Some(value) = reader.take("repeats") else {
        return 1;
    };
    let most = MAX_STEPS / steps.max(1);
    let repeats = value.as_u64().filter(|repeats| *repeats > 0);
    match repeats.and_then(|repeats| u32::try_from(repeats).ok()) {
        Some(repeats) if repeats as usize <= most => return repeats,
        Some(repeats) => {
            let runs = u64::from(repeats) * steps as u64;
            let detail = format!("{repeats} repeats of {steps} steps would be {runs} runs.");
            let remedy =
                format!("A study has at most {MAX_STEPS} runs: use at most {most} repeats.");
            reader.reject("step_count", "repeats", detail, remedy);
        }
        None => {
            let detail = format!("{value} is not a valid number of repeats.");
            let remedy = format!("Use an integer from 1 to {most}.");
            reader.reject("bad_value", "repeats", detail, remedy);
        }
    }
    1
}

pub(super) fn parse_order(reader: &mut ObjectReader) -> RepeatOrder {
    let Some(value) = reader.take("order") else {
        return RepeatOrder::default();
    };
    let order = value.as_str().and_then(|name| name.parse().ok());
    order.unwrap_or_else(|| {
        let detail = format!("{value} is not a valid order.");
        reader.reject(
            "bad_value",
            "order",
            detail,
            "Use \"interleaved\" or \"sequential\".",
        );
        RepeatOrder::default()
    })
}

pub(super) fn parse_order_seed(reader: &mut ObjectReader) -> Option<u64> {
    let value = reader.take("order_seed")?;
    let seed = value.as_u64().filter(|seed| *seed <= MAX_SEED);
    if seed.is_none() {
        let detail = format!("{value} is not a valid seed.");
        let remedy = format!("Use an integer from 0 to {MAX_SEED}.");
        reader.reject("bad_value", "order_seed", detail, remedy);
    }
    seed
}

/// By default, interleaved repeats wait for idle devices, because they are compared with each
/// other.
pub(super) fn parse_idle_wait_seconds(
    reader: &mut ObjectReader,
    repeats: u32,
    order: RepeatOrder,
) -> u32 {
    let is_interleaved = repeats > 1 && order == RepeatOrder::Interleaved;
    let default = if is_interleaved {
        DEFAULT_IDLE_WAIT_SECONDS
    } else {
        0
    };
    let Some(value) = reader.take("idle_wait_seconds") else {
        return default;
    };
    run_spec::idle_wait_seconds(&value).unwrap_or_else(|| {
        let detail = format!("{value} is not a valid number of seconds.");
        reader.reject("bad_value", "idle_wait_seconds", detail, IDLE_WAIT_REMEDY);
        default
    })
}

/// When the study may end before its last repeat.
pub(super) fn parse_until_decided(
    reader: &mut ObjectReader,
    steps: usize,
    repeats: u32,
    order: RepeatOrder,
) -> Option<UntilDecidedDefinition> {
    let field = "until_decided";
    let value = reader.take(field)?;
    let definition: UntilDecidedDefinition = match serde_json::from_value(value) {
        Ok(definition) => definition,
        Err(error) => {
            let detail = format!("until_decided is not valid: {error}.");
            let remedy = format!("Use {UNTIL_DECIDED_EXAMPLE}.");
            reader.reject("bad_value", field, detail, remedy);
            return None;
        }
    };
    if steps != 2 {
        let detail = format!("until_decided compares two steps, but the study has {steps}.");
        let remedy = "Use two steps, or remove until_decided.";
        reader.reject("step_count", field, detail, remedy);
    }
    if order == RepeatOrder::Sequential {
        let detail = "until_decided compares pairs, but sequential repeats are not pairs.";
        reader.reject("bad_value", field, detail, "Use \"order\":\"interleaved\".");
    }
    if repeats > MAX_PAIRS {
        let detail = format!("{repeats} repeats are more than a comparison supports.");
        let remedy = format!("Use at most {MAX_PAIRS} repeats with until_decided.");
        reader.reject("bad_value", "repeats", detail, remedy);
    }
    check_metrics(reader, &definition);
    let is_threshold = |percent: f64| percent > 0.0 && percent <= MAX_STUDY_THRESHOLD;
    if let Some(percent) = definition.threshold_percent
        && !is_threshold(percent)
    {
        let detail = format!("{percent} is not a valid threshold.");
        let remedy = "Use a percentage above 0, such as 2.";
        reader.reject(
            "bad_value",
            "until_decided.threshold_percent",
            detail,
            remedy,
        );
    }
    Some(definition)
}

fn check_metrics(reader: &mut ObjectReader, definition: &UntilDecidedDefinition) {
    let Some(metrics) = &definition.metrics else {
        return;
    };
    let field = "until_decided.metrics";
    if metrics.is_empty() || metrics.len() > MAX_METRICS {
        let detail = format!("{} metrics are listed.", metrics.len());
        let remedy = format!("Use 1 to {MAX_METRICS} metrics, such as read_iops.");
        reader.reject("bad_value", field, detail, remedy);
        return;
    }
    for (index, name) in metrics.iter().enumerate() {
        let is_tested = METRICS
            .iter()
            .any(|metric| metric.is_tested && metric.name == name);
        let detail = if !is_tested {
            format!("`{name}` is not a metric that comparisons test.")
        } else if metrics[..index].contains(name) {
            format!("`{name}` is listed twice.")
        } else {
            continue;
        };
        let remedy = "Use different metrics, such as read_iops and read_lat_p99_ns.";
        reader.reject("bad_value", field, detail, remedy);
    }
}

#[cfg(test)]
mod tests {
    use crate::study::parse::parse_study;
    use serde_json::{Value, json};

    fn study(until_decided: Value) -> Value {
        let step =
            json!({"jobs": [{"filename": "f", "size": "1m", "rw": "randread", "direct": 1}]});
        json!({"repeats": 20, "until_decided": until_decided, "steps": [step, step]})
    }

    #[test]
    fn interleaved_repeats_wait_for_idle_devices() {
        let wait = |changes: Value| {
            let mut study = study(json!(null));
            for (name, value) in changes.as_object().unwrap() {
                study[name] = value.clone();
            }
            parse_study(study).map(|spec| spec.idle_wait_seconds)
        };
        assert_eq!(wait(json!({})), Ok(10));
        assert_eq!(wait(json!({"order": "sequential"})), Ok(0));
        assert_eq!(wait(json!({"repeats": 1})), Ok(0));
        assert_eq!(wait(json!({"idle_wait_seconds": 0})), Ok(0));
        assert_eq!(
            wait(json!({"repeats": 1, "idle_wait_seconds": 600})),
            Ok(600)
        );
        for invalid in [json!(601), json!(-1), json!(1.5), json!("10"), json!(true)] {
            let problems = wait(json!({"idle_wait_seconds": invalid})).unwrap_err();
            assert_eq!(problems[0].field.as_deref(), Some("idle_wait_seconds"));
        }
    }

    #[test]
    fn until_decided_has_defaults() {
        let spec = parse_study(study(json!({}))).unwrap();
        assert_eq!(spec.until_decided, Some(Default::default()));
        let spec = parse_study(study(json!(null))).unwrap();
        assert_eq!(spec.until_decided, None);
    }

    #[test]
    fn until_decided_requires_two_interleaved_steps_and_tested_metrics() {
        let check = |edit: &dyn Fn(&mut Value), field: &str, part: &str| {
            let mut study = study(json!({}));
            edit(&mut study);
            let problems = parse_study(study.clone()).unwrap_err();
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert_eq!(problems[0].field.as_deref(), Some(field), "{study}");
            assert!(problems[0].detail.contains(part), "{}", problems[0]);
        };
        let metrics = |names: Value| {
            move |study: &mut Value| study["until_decided"]["metrics"] = names.clone()
        };
        let field = "until_decided.metrics";
        check(&metrics(json!(["iops"])), field, "`iops` is not a metric");
        check(&metrics(json!(["read_lat_max_ns"])), field, "not a metric");
        check(&metrics(json!([])), field, "0 metrics");
        let twice = json!(["read_iops", "read_iops"]);
        check(&metrics(twice), field, "listed twice");
        check(
            &|study| study["until_decided"]["threshold_percent"] = json!(0),
            "until_decided.threshold_percent",
            "0 is not a valid threshold",
        );
        check(
            &|study| study["order"] = json!("sequential"),
            "until_decided",
            "not pairs",
        );
        check(
            &|study| study["repeats"] = json!(51),
            "repeats",
            "51 repeats are more",
        );
        check(
            &|study| {
                let step = study["steps"][0].clone();
                study["steps"].as_array_mut().unwrap().push(step);
            },
            "until_decided",
            "the study has 3",
        );
        check(
            &|study| study["until_decided"] = json!(true),
            "until_decided",
            "not valid",
        );
        check(
            &|study| study["until_decided"]["looks"] = json!([1]),
            "until_decided",
            "unknown field `looks`",
        );
    }
}
