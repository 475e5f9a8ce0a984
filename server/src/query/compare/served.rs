//! Whether runs were served by the same layer: a number that came from memory says nothing about one that came from a
//! device. Pure. What else makes runs another test stands in `settings`.

use leadline_protocol::compare::Rerun;
use leadline_protocol::report::{DirectionStats, Report};
use leadline_protocol::run::Run;
use leadline_protocol::verdict::{Verdict, VerdictClass, Verdicts};
use std::collections::BTreeMap;

/// From this factor on, the difference between memory and a device is worth a number.
const WORTH_SAYING: f64 = 1.5;

/// A direction: what it is called, where its verdict and where its numbers stand.
struct Direction {
    noun: &'static str,
    verdict: fn(&Verdicts) -> Option<&Verdict>,
    stats: fn(&Report) -> &DirectionStats,
}

const DIRECTIONS: [Direction; 2] = [
    Direction {
        noun: "reads",
        verdict: |verdicts| verdicts.read.as_ref(),
        stats: |report| &report.read,
    },
    Direction {
        noun: "writes",
        verdict: |verdicts| verdicts.write.as_ref(),
        stats: |report| &report.write,
    },
];

/// The sentence when numbers come from different layers; `None` when they do not, or when nobody knows.
pub(crate) fn elsewhere(runs: &[Run]) -> Option<String> {
    let told: Vec<(&Direction, String)> = DIRECTIONS
        .iter()
        .filter_map(|direction| Some((direction, places(runs, direction)?)))
        .collect();
    let (first, _) = told.first()?;
    let named: Vec<String> = match told.as_slice() {
        [(_, places)] => vec![places.clone()],
        several => several
            .iter()
            .map(|(direction, places)| format!("{}: {places}", direction.noun))
            .collect(),
    };
    Some(format!(
        "{}: not the same test.{}",
        named.join("; "),
        factor(runs, first).unwrap_or_default()
    ))
}

fn class_of(run: &Run, direction: &Direction) -> Option<VerdictClass> {
    let class = run.verdict.as_ref().and_then(direction.verdict)?.class;
    (class != VerdictClass::Unknown).then_some(class)
}

/// `#1 was served by the device, #2, #3 by memory`, in the order of the runs; `None` when all are alike.
fn places(runs: &[Run], direction: &Direction) -> Option<String> {
    let mut places: Vec<(&str, Vec<String>)> = Vec::new();
    for (run, class) in runs
        .iter()
        .filter_map(|run| Some((run, class_of(run, direction)?)))
    {
        let (place, number) = (served_by(class), format!("#{}", run.summary.number));
        match places.iter_mut().find(|(other, _)| *other == place) {
            Some((_, numbers)) => numbers.push(number),
            None => places.push((place, vec![number])),
        }
    }
    let verb = places.first().map_or("", |(_, numbers)| {
        if numbers.len() > 1 {
            " were served"
        } else {
            " was served"
        }
    });
    let named = places.iter().enumerate().map(|(at, (place, numbers))| {
        let verb = if at == 0 { verb } else { "" };
        format!("{}{verb} {place}", numbers.join(", "))
    });
    (places.len() > 1).then(|| named.collect::<Vec<_>>().join(", "))
}

fn served_by(class: VerdictClass) -> &'static str {
    match class {
        VerdictClass::Device => "by the device",
        VerdictClass::Readahead => "by the device, ahead of the job",
        VerdictClass::PageCache => "by memory",
        VerdictClass::DeferredWrite => "by memory, written later",
        VerdictClass::Merged => "by the device, merged",
        VerdictClass::Unwritten => "by the filesystem, from blocks without data",
        VerdictClass::Foreign => "by the device, beside others",
        VerdictClass::Amplified => "by the device, amplified",
        VerdictClass::Mixed => "by several layers",
        VerdictClass::NoDevice => "by no device",
        VerdictClass::Unknown => "unknown",
    }
}

fn is_memory(class: VerdictClass) -> bool {
    matches!(class, VerdictClass::PageCache | VerdictClass::DeferredWrite)
}

/// How many times faster memory was, where one of two runs was served by it.
fn factor(runs: &[Run], direction: &Direction) -> Option<String> {
    let iops = |run: &Run| {
        run.report
            .as_ref()
            .map(|report| (direction.stats)(report).iops)
            .filter(|iops| *iops > 0.0)
    };
    let [one, other] = runs else { return None };
    let (memory, device) = match (
        is_memory(class_of(one, direction)?),
        is_memory(class_of(other, direction)?),
    ) {
        (true, false) => (one, other),
        (false, true) => (other, one),
        _ => return None,
    };
    let times = iops(memory)? / iops(device)?;
    (times >= WORTH_SAYING).then(|| format!(" The {times:.1} × is memory, not a faster disk."))
}

/// The rerun that would measure the device: what the first run that memory served says mends it.
pub(crate) fn rerun(runs: &[Run]) -> Option<Rerun> {
    let by_memory = |run: &&Run| {
        DIRECTIONS
            .iter()
            .filter_map(|direction| class_of(run, direction))
            .any(is_memory)
    };
    let run = runs.iter().find(by_memory)?;
    let mends = |patch: &BTreeMap<String, serde_json::Value>| !patch.is_empty();
    let finding = run
        .findings
        .iter()
        .find(|finding| finding.patch.as_ref().is_some_and(mends))?;
    Some(Rerun {
        run: run.summary.number,
        label: finding.patch_label.clone()?,
        patch: finding.patch.clone()?,
    })
}
