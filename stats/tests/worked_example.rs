//! Computes the numbers in the worked example in docs/comparison.md, and checks that they appear in
//! the text.

use leadline_stats::{
    comparison::{Better, Ratio, Verdict, compare_groups, compare_pairs},
    holm,
    median::interval,
    sample_size::{Goal, Spread},
};

const IOPS: [(f64, f64); 8] = [
    (41_200.0, 39_500.0),
    (40_800.0, 39_300.0),
    (41_900.0, 40_100.0),
    (41_500.0, 39_200.0),
    (40_600.0, 39_400.0),
    (41_100.0, 38_900.0),
    (41_700.0, 40_300.0),
    (40_900.0, 38_700.0),
];

/// p99 latency in µs.
const P99: [(f64, f64); 8] = [
    (310.0, 322.0),
    (305.0, 329.0),
    (322.0, 318.0),
    (318.0, 335.0),
    (301.0, 317.0),
    (308.0, 325.0),
    (315.0, 326.0),
    (304.0, 312.0),
];

const THRESHOLD: f64 = 1.02;

fn signed(percent: f64) -> String {
    let sign = if percent < 0.0 { "−" } else { "+" };
    format!("{sign}{:.2} %", percent.abs())
}

/// `−4.33 % (−5.38 % to −3.36 %)`
fn text(ratio: &Ratio) -> String {
    let percent = |ratio: f64| signed(ratio * 100.0 - 100.0);
    let estimate = ratio.estimate;
    format!(
        "{} ({} to {})",
        percent(estimate.value),
        percent(estimate.low),
        percent(estimate.high)
    )
}

#[test]
fn document_contains_the_computed_numbers() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/comparison.md");
    let document = std::fs::read_to_string(path).expect("the document");
    let (_, example) = document.split_once("## Worked example").expect("heading");
    let (example, _) = example.split_once("\n## ").expect("next heading");
    // The text may be wrapped anywhere.
    let example = example.split_whitespace().collect::<Vec<_>>().join(" ");
    let assert_stated = |expected: String| assert!(example.contains(&expected), "{expected}");

    let group = |values: &[(f64, f64)]| -> (Vec<f64>, Vec<f64>) { values.iter().copied().unzip() };
    let (a, b) = group(&IOPS);
    for (label, values) in [("A", &a), ("B", &b)] {
        let found = interval(values);
        assert_stated(format!(
            "{label}: median {:.0} IOPS ({:.0} to {:.0}, confidence {:.1} %)",
            found.value,
            found.low,
            found.high,
            found.confidence * 100.0
        ));
    }

    let iops = compare_pairs(&IOPS).expect("positive values");
    let p99 = compare_pairs(&P99).expect("positive values");
    assert_stated(format!("IOPS: {}", text(&iops)));
    assert_stated(format!("p99: {}", text(&p99)));
    assert_stated(format!(
        "confidence {:.1} %",
        iops.estimate.confidence * 100.0
    ));
    assert_stated(format!(
        "p = {:.4} for IOPS and {:.4} for p99",
        iops.p_value, p99.p_value
    ));
    let adjusted = holm::adjust(&[iops.p_value, p99.p_value]);
    assert_stated(format!(
        "adjusted: {:.4} and {:.4}",
        adjusted[0], adjusted[1]
    ));
    let verdicts = [
        iops.verdict(Better::Higher, THRESHOLD, adjusted[0]),
        p99.verdict(Better::Lower, THRESHOLD, adjusted[1]),
    ];
    assert_eq!(verdicts, [Verdict::Worse; 2]);

    let unpaired = compare_groups(&a, &b).expect("positive values");
    assert_stated(format!("as two groups: {}", text(&unpaired)));

    let goal = Goal {
        metrics: 2,
        ..Goal::default()
    };
    for (name, values, ratio) in [("IOPS", IOPS, &iops), ("p99", P99, &p99)] {
        let spread = Spread::from_pairs(&values).expect("a spread");
        let difference = spread.runs_for_difference(ratio.estimate.value, &goal);
        let equivalence = spread.runs_for_equivalence(THRESHOLD, &goal);
        assert_stated(format!(
            "{name}: s = {:.4}, {} pairs for the difference, {} pairs for equivalence",
            spread.standard_deviation,
            difference.expect("a number"),
            equivalence.expect("a number")
        ));
    }
}
