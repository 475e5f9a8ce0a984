//! Tests that a comparison's HTML file is complete without other sources.

use super::{STEADY, compare, compare_groups, compare_runs, members, run, scaled};
use crate::export::html::render;
use serde_json::json;

#[test]
fn columns_and_axis_are_labeled() {
    let html = render(&compare_groups(&STEADY, &scaled(0.95), false));
    for expected in [
        "before<span class=\"mute\">median of 10 runs</span></th>",
        "after<span class=\"mute\">median of 10 runs</span></th>",
        "“after” has 5.0 % lower read IOPS than “before”",
        "text-anchor=\"middle\">0</text>",
    ] {
        assert!(html.contains(expected), "{expected}: {html}");
    }
    let single = render(&compare_groups(&STEADY[..1], &scaled(0.95)[..1], false));
    assert!(!single.contains("median of 1"), "{single}");
}

#[test]
fn changes_beyond_the_axis_are_arrows() {
    let heads = |factor| {
        let html = render(&compare_groups(&STEADY, &scaled(factor), false));
        html.matches("Z\" fill=\"currentColor\"/>").count()
    };
    assert_eq!(heads(0.95), 0);
    // IOPS, bandwidth, and CPU time per I/O.
    assert_eq!(heads(4.0), 3);
}

#[test]
fn findings_have_names() {
    let mut second = run(2, 1000.0, "device", "6.1");
    let finding = json!({"code": "thermal_throttling", "severity": "serious", "sentence": "", "evidence": {}, "remedy": "", "patch": {}, "patch_label": ""});
    second.findings = vec![serde_json::from_value(finding).unwrap()];
    let html = render(&compare(&[run(1, 1000.0, "device", "6.1"), second], 0));
    assert!(html.contains("<td>finding: thermal throttling"), "{html}");
    assert!(!html.contains("thermal_throttling"), "{html}");
}

#[test]
fn rows_without_a_change_have_a_reason() {
    let before: Vec<_> = (1..)
        .zip(STEADY)
        .map(|(n, iops)| run(n, iops, "device", "6.1"))
        .collect();
    let mut after = before.clone();
    for run in &mut after {
        run.summary.number += 100;
        run.report.as_mut().unwrap().cpu = None;
    }
    let groups = [
        ("before", members(&before, false)),
        ("after", members(&after, false)),
    ];
    let html = render(&compare_runs(&groups));
    let row = html.split("CPU time per I/O").nth(1).unwrap();
    let reason = row.split("</tr>").nth(1).unwrap();
    assert!(
        reason.contains("No run of “after” has a value."),
        "{reason}"
    );
}
