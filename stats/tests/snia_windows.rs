//! Compares measurement windows with exact fractions that were computed by an independent author,
//! who had not seen this code.

use leadline_stats::steady_state::{WINDOW, first_steady, last_window};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    name: String,
    rounds: Vec<f64>,
    /// One-based.
    attained_at_round: Option<usize>,
    average: Option<f64>,
    range: Option<f64>,
    slope: Option<f64>,
    slope_excursion: Option<f64>,
}

#[test]
fn results_match_an_independent_program() {
    let cases: Vec<Case> =
        serde_json::from_str(include_str!("fixtures/snia_windows.json")).expect("a list of cases");
    assert_eq!(cases.len(), 13);
    for case in &cases {
        let first = first_steady(&[&case.rounds]);
        let attained = first.map(|first| first + WINDOW);
        assert_eq!(attained, case.attained_at_round, "{}", case.name);
        let rounds = attained.unwrap_or(case.rounds.len());
        let Some(window) = last_window(&case.rounds[..rounds]) else {
            assert_eq!(case.average, None, "{}", case.name);
            continue;
        };
        for (actual, expected) in [
            (window.average, case.average),
            (window.excursion, case.range),
            (window.slope, case.slope),
            (window.slope_excursion, case.slope_excursion),
        ] {
            let expected = expected.expect("a number");
            let error = (actual - expected).abs();
            assert!(
                error <= 1e-9 * expected.abs().max(1.0),
                "{}: {actual} is not {expected}",
                case.name
            );
        }
    }
}
