//! Conditions under which a gate does not pass, even though its numbers meet the rules.

use super::{members, run, scaled};
use crate::{
    gate::gate_obstacle,
    group::Group,
    rule::{Outcome, Rule},
};
use leadline_protocol::{run::Run, status::RunStatus};

fn runs(factor: f64, first: u64, class: &str) -> Vec<Run> {
    let runs = (first..).zip(scaled(factor));
    runs.map(|(number, iops)| run(number, iops, class, "6.1"))
        .collect()
}

fn outcome(a: &[Run], b: &[Run]) -> (Outcome, String) {
    let groups = [("a", a), ("b", b)].map(|(label, runs)| Group {
        label: label.into(),
        runs: members(runs, true),
    });
    let assessment = crate::compare(&groups, 0, 2.0);
    let rule = Rule::parse("read.iops worse than 5%").unwrap();
    let result = rule.evaluate(&assessment, gate_obstacle(&groups).as_deref());
    (result.outcome, result.sentence)
}

#[test]
fn speed_from_memory_does_not_pass() {
    let (device, memory) = (runs(1.0, 1, "device"), runs(40.0, 101, "page_cache"));
    let (decided, sentence) = outcome(&device, &memory);
    assert_eq!(decided, Outcome::Undecided);
    let expected = "“a” was served by the device, and “b” by memory. Changed by";
    assert!(sentence.starts_with(expected), "{sentence}");
    for class in ["mixed", "unwritten", "deferred_write"] {
        let other = runs(2.0, 201, class);
        assert_eq!(outcome(&device, &other).0, Outcome::Undecided, "{class}");
    }
    assert_eq!(outcome(&memory, &device).0, Outcome::Failed, "still worse");
}

#[test]
fn equal_and_unknown_layers_pass() {
    let device = runs(1.0, 1, "device");
    for class in ["device", "readahead", "unknown"] {
        let other = runs(1.0, 101, class);
        assert_eq!(outcome(&device, &other).0, Outcome::Passed, "{class}");
    }
}

#[test]
fn memory_and_an_unknown_layer_do_not_pass() {
    let (unknown, memory) = (runs(1.0, 1, "unknown"), runs(40.0, 101, "page_cache"));
    let mut without_verdict = runs(1.0, 201, "device");
    without_verdict
        .iter_mut()
        .for_each(|run| run.verdict = None);
    for other in [&unknown, &without_verdict] {
        let (decided, sentence) = outcome(other, &memory);
        assert_eq!(decided, Outcome::Undecided);
        let expected = "“b” was served by memory, and “a” by an unknown layer. Changed by";
        assert!(sentence.starts_with(expected), "{sentence}");
        assert_eq!(outcome(&memory, other).0, Outcome::Failed, "still worse");
    }
    assert_eq!(outcome(&unknown, &without_verdict).0, Outcome::Passed);
}

#[test]
fn runs_that_have_not_ended_do_not_pass() {
    let (a, mut b) = (runs(1.0, 1, "device"), runs(1.0, 101, "device"));
    b[9].summary.status = RunStatus::Queued;
    let (decided, sentence) = outcome(&a, &b);
    assert_eq!(decided, Outcome::Undecided);
    assert!(sentence.starts_with("1 run in these groups"), "{sentence}");
    b[9].summary.status = RunStatus::Failed;
    assert_eq!(outcome(&a, &b).0, Outcome::Passed);
}
