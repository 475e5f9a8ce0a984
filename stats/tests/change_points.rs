//! Change points against Apache Otava: `fixtures/change-points.json`, which
//! `fixtures/change_points.py` makes.

use leadline_stats::change_points::{Parameters, find};
use serde_json::Value;

fn number(value: &Value) -> f64 {
    value.as_f64().expect("number")
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .expect("array")
        .iter()
        .map(number)
        .collect()
}

fn is_close(actual: f64, expected: f64) -> bool {
    (actual - expected).abs() <= 1e-9 * expected.abs().max(1e-300)
}

#[test]
fn change_points_equal_those_of_otava() {
    let cases: Vec<Value> =
        serde_json::from_str(include_str!("fixtures/change-points.json")).expect("JSON");
    assert!(cases.len() >= 50, "{}", cases.len());
    let mut failures = Vec::new();
    for case in &cases {
        let values = numbers(&case["values"]);
        for result in case["results"].as_array().expect("results") {
            let parameters = Parameters {
                window: result["window"].as_u64().expect("window") as usize,
                max_p: number(&result["max_p"]),
                min_change: number(&result["min_change"]),
            };
            let points = find(&values, &parameters);
            let expected: Vec<Vec<f64>> = result["points"]
                .as_array()
                .expect("points")
                .iter()
                .map(numbers)
                .collect();
            let is_equal = points.len() == expected.len()
                && points.iter().zip(&expected).all(|(point, expected)| {
                    point.index as f64 == expected[0]
                        && is_close(point.p_value, expected[1])
                        && is_close(point.mean_before, expected[2])
                        && is_close(point.mean_after, expected[3])
                });
            if !is_equal {
                failures.push(format!(
                    "{}: {parameters:?}\n  {points:?}\n  {expected:?}",
                    case["name"]
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
}
