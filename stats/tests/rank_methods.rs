//! The rank methods against R and enumeration: `fixtures/rank-methods.json`, which
//! `fixtures/generate.py` makes.

use leadline_stats::comparison::{Ratio, compare_groups, compare_pairs};
use leadline_stats::{Estimate, holm, median, paired, unpaired};
use serde_json::Value;

const TOLERANCE: f64 = 1e-9;

fn cases() -> Vec<Value> {
    serde_json::from_str(include_str!("fixtures/rank-methods.json")).expect("JSON")
}

fn numbers(case: &Value, field: &str) -> Vec<f64> {
    let values = case[field].as_array().expect(field);
    values.iter().map(|v| v.as_f64().expect(field)).collect()
}

/// Adds a line for each number that differs from the expected one.
fn compare(failures: &mut Vec<String>, case: &Value, fields: &[(&str, f64)]) {
    for (field, actual) in fields {
        let expected = case[field].as_f64().expect(field);
        let error = (actual - expected).abs();
        if error.is_nan() || error > TOLERANCE * expected.abs().max(f64::MIN_POSITIVE) {
            let (kind, name) = (&case["kind"], &case["name"]);
            failures.push(format!("{kind} {name}: {field} {actual}, not {expected}"));
        }
    }
}

fn compare_estimate(failures: &mut Vec<String>, case: &Value, estimate: &Estimate, p_value: f64) {
    let fields = [
        ("value", estimate.value),
        ("low", estimate.low),
        ("high", estimate.high),
        ("confidence", estimate.confidence),
        ("p_value", p_value),
    ];
    let has_p_value = usize::from(case["p_value"].is_f64());
    compare(failures, case, &fields[..4 + has_p_value]);
}

fn compare_ratio<E: std::fmt::Debug>(
    failures: &mut Vec<String>,
    case: &Value,
    ratio: Result<Ratio, E>,
) {
    match ratio {
        Ok(ratio) => compare_estimate(failures, case, &ratio.estimate, ratio.p_value),
        Err(error) => failures.push(format!("{}: {error:?}", case["name"])),
    }
}

#[test]
fn estimates_and_p_values_equal_the_oracles() {
    let mut failures = Vec::new();
    let cases = cases();
    for case in &cases {
        match case["kind"].as_str().expect("kind") {
            "pairs" => {
                let (a, b) = (numbers(case, "a"), numbers(case, "b"));
                let pairs: Vec<_> = a.into_iter().zip(b).collect();
                compare_ratio(&mut failures, case, compare_pairs(&pairs));
            }
            "groups" => {
                let ratio = compare_groups(&numbers(case, "a"), &numbers(case, "b"));
                compare_ratio(&mut failures, case, ratio);
            }
            "differences" => {
                let x = numbers(case, "x");
                let p_value = paired::p_value(&x);
                compare_estimate(&mut failures, case, &paired::interval(&x), p_value);
            }
            "shifts" => {
                let (a, b) = (numbers(case, "a"), numbers(case, "b"));
                let p_value = unpaired::p_value(&a, &b);
                compare_estimate(&mut failures, case, &unpaired::interval(&a, &b), p_value);
            }
            "median" => {
                let estimate = median::interval(&numbers(case, "x"));
                compare_estimate(&mut failures, case, &estimate, 0.0);
            }
            "holm" => {
                let adjusted = holm::adjust(&numbers(case, "p"));
                for (actual, expected) in adjusted.iter().zip(numbers(case, "adjusted")) {
                    let expected = serde_json::json!({
                        "kind": "holm", "name": case["name"], "adjusted": expected
                    });
                    compare(&mut failures, &expected, &[("adjusted", *actual)]);
                }
            }
            kind => panic!("{kind}"),
        }
    }
    assert!(cases.len() >= 300, "{}", cases.len());
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
