//! Compares which layers served the I/O of runs.

use crate::group::{ComparedRun, Group, all_runs, quoted};
use leadline_protocol::{
    compare::Rerun,
    evidence::transition::Direction::{self, Read, Write},
    format::plural,
    verdict::{ModifierKind, Verdict, VerdictClass},
};

/// Smallest cache speedup that is mentioned.
const MIN_SPEEDUP: f64 = 1.5;
/// Maximum number of labels listed per layer.
const MAX_LISTED: usize = 4;

/// Describes how the serving layers differ. Returns `None` if they are equal or unknown.
pub(crate) fn difference(groups: &[Group]) -> Option<String> {
    let reads = different_layers(groups, Read);
    let writes = different_layers(groups, Write);
    let first = if reads.is_some() { Read } else { Write };
    let layers = match (reads, writes) {
        (Some(reads), Some(writes)) => format!("reads: {reads}; writes: {writes}"),
        (reads, writes) => reads.or(writes)?,
    };
    let speedup = cache_speedup(groups, first).unwrap_or_default();
    Some(format!("Served by different layers: {layers}.{speedup}"))
}

/// Describes which layers served most runs of A and of B, if they differ. Individual runs that were
/// served by a different layer are ignored.
pub(crate) fn majority_difference([a, b]: &[Group; 2]) -> Option<String> {
    [Read, Write].into_iter().find_map(|direction| {
        let (layer_a, layer_b) = (majority_layer(a, direction)?, majority_layer(b, direction)?);
        (layer_a != layer_b).then(|| {
            format!(
                "{} was served by {layer_a}, and {} by {layer_b}.",
                quoted(&a.label),
                quoted(&b.label)
            )
        })
    })
}

/// Like `majority_difference`, but ignores differences between layers of the same source, such as
/// two ways in which a device can serve I/O. Memory and an unknown layer count as different.
pub(crate) fn source_difference([a, b]: &[Group; 2]) -> Option<String> {
    [Read, Write].into_iter().find_map(|direction| {
        let verdicts = [a, b].map(|group| majority_verdict(group, direction));
        match verdicts {
            [Some(verdict_a), Some(verdict_b)] => {
                (source(verdict_a.class) != source(verdict_b.class)).then(|| {
                    let (layer_a, layer_b) = (layer(verdict_a), layer(verdict_b));
                    format!(
                        "{} was served by {layer_a}, and {} by {layer_b}.",
                        quoted(&a.label),
                        quoted(&b.label)
                    )
                })
            }
            [Some(known), None] => memory_and_unknown((a, known), b, direction),
            [None, Some(known)] => memory_and_unknown((b, known), a, direction),
            [None, None] => None,
        }
    })
}

fn memory_and_unknown(
    (known, verdict): (&Group, &Verdict),
    unknown: &Group,
    direction: Direction,
) -> Option<String> {
    let mut reports = unknown.included().filter_map(|run| run.report);
    let is_used = reports.any(|report| direction.select(report.read.ios, report.write.ios) > 0);
    (is_memory(verdict.class) && is_used).then(|| {
        format!(
            "{} was served by {}, and {} by an unknown layer.",
            quoted(&known.label),
            layer(verdict),
            quoted(&unknown.label)
        )
    })
}

/// Returns the same number for classes that are comparable with each other.
fn source(class: VerdictClass) -> u8 {
    match class {
        class if is_memory(class) => 0,
        VerdictClass::Mixed => 1,
        VerdictClass::Unwritten | VerdictClass::NoDevice => 2,
        _ => 3,
    }
}

/// The most frequent layer among a group's included runs.
fn majority_layer(group: &Group, direction: Direction) -> Option<&'static str> {
    majority_verdict(group, direction).map(layer)
}

/// The verdict of a run served by the most frequent layer.
fn majority_verdict<'a>(group: &'a Group<'a>, direction: Direction) -> Option<&'a Verdict> {
    let verdicts = group
        .included()
        .filter_map(|run| known_verdict(run, direction));
    let verdicts: Vec<&Verdict> = verdicts.collect();
    let count = |verdict: &Verdict| {
        let layers = verdicts.iter().map(|other| layer(other));
        layers.filter(|other| *other == layer(verdict)).count()
    };
    verdicts
        .iter()
        .copied()
        .max_by_key(|verdict| count(verdict))
}

/// Returns text such as `#1 was served by the device, #2, #3 by memory`, in group order. If the
/// runs of a group were served by different layers, they are listed individually.
fn different_layers(groups: &[Group], direction: Direction) -> Option<String> {
    let mut layers: Vec<(&str, Vec<&str>)> = Vec::new();
    for (label, layer) in groups
        .iter()
        .flat_map(|group| group_layers(group, direction))
    {
        match layers.iter_mut().find(|(other, _)| *other == layer) {
            Some((_, labels)) => labels.push(label),
            None => layers.push((layer, vec![label])),
        }
    }
    let [(layer, labels), others @ ..] = &layers[..] else {
        return None;
    };
    if others.is_empty() {
        return None;
    }
    let unknown = all_runs(groups).filter(|run| is_unknown(run, direction));
    let unknown = unknown.count();
    let verb = if labels.len() == 1 { "was" } else { "were" };
    let mut text = format!("{} {verb} served by {layer}", listed(labels));
    for (layer, labels) in others {
        text += &format!(", {} by {layer}", listed(labels));
    }
    if unknown > 0 {
        text += &format!(", {} by an unknown layer", plural(unknown as u64, "run"));
    }
    Some(text)
}

/// The labels, or their number if there are many.
pub(crate) fn listed(labels: &[&str]) -> String {
    if labels.len() > MAX_LISTED {
        return plural(labels.len() as u64, "run");
    }
    let labels: Vec<String> = labels.iter().map(|label| quoted(label)).collect();
    labels.join(", ")
}

/// Returns the label of the group with its layer, or the labels of its runs if their layers differ.
fn group_layers<'g>(group: &'g Group, direction: Direction) -> Vec<(&'g str, &'static str)> {
    let layer_of = |run: &'g ComparedRun| {
        let verdict = known_verdict(run, direction)?;
        Some((run.label.as_str(), layer(verdict)))
    };
    let runs: Vec<(&str, &str)> = group.runs.iter().filter_map(layer_of).collect();
    match runs.first() {
        Some((_, first)) if runs.iter().all(|(_, layer)| layer == first) => {
            vec![(group.label.as_str(), first)]
        }
        _ => runs,
    }
}

fn known_verdict<'a>(run: &ComparedRun<'a>, direction: Direction) -> Option<&'a Verdict> {
    let verdicts = run.verdict?;
    let verdict = direction.select(&verdicts.read, &verdicts.write).as_ref()?;
    (verdict.class != VerdictClass::Unknown).then_some(verdict)
}

fn is_unknown(run: &ComparedRun, direction: Direction) -> bool {
    let verdict = run
        .verdict
        .and_then(|verdicts| direction.select(&verdicts.read, &verdicts.write).as_ref());
    verdict.is_some_and(|verdict| verdict.class == VerdictClass::Unknown)
}

fn known_class(run: &ComparedRun, direction: Direction) -> Option<VerdictClass> {
    known_verdict(run, direction).map(|verdict| verdict.class)
}

/// Describes the layer of a verdict, including a modifier that makes it a different test.
fn layer(verdict: &Verdict) -> &'static str {
    let has = |kind| {
        verdict
            .modifiers
            .iter()
            .any(|modifier| modifier.kind == kind)
    };
    match verdict.class {
        VerdictClass::Device if has(ModifierKind::Foreign) => "the device with foreign I/O",
        VerdictClass::Device if has(ModifierKind::Amplified) => "the device with amplified I/O",
        VerdictClass::Device if has(ModifierKind::Readahead) => "the device with readahead",
        VerdictClass::Device if has(ModifierKind::Merged) => "the device with merged I/O",
        VerdictClass::Device => "the device",
        VerdictClass::LowerCache => "memory below a block device",
        VerdictClass::Readahead => "the device with readahead",
        VerdictClass::PageCache => "memory",
        VerdictClass::DeferredWrite => "memory with deferred writes",
        VerdictClass::Merged => "the device with merged I/O",
        VerdictClass::Unwritten => "the filesystem from unwritten blocks",
        VerdictClass::Foreign => "the device with foreign I/O",
        VerdictClass::Amplified => "the device with amplified I/O",
        VerdictClass::Mixed => "multiple layers",
        VerdictClass::NoDevice => "no device",
        VerdictClass::Unknown => "an unknown layer",
    }
}

fn is_memory(class: VerdictClass) -> bool {
    matches!(
        class,
        VerdictClass::PageCache | VerdictClass::LowerCache | VerdictClass::DeferredWrite
    )
}

/// Describes the speedup between two groups if exactly one of them was served by memory.
fn cache_speedup(groups: &[Group], direction: Direction) -> Option<String> {
    let [first, second] = groups else { return None };
    let is_cached = |group: &Group| {
        let classes = group.runs.iter().map(|run| known_class(run, direction));
        let mut cached = classes.map(|class| class.is_some_and(is_memory));
        cached
            .next()
            .filter(|first| cached.all(|other| other == *first))
    };
    let (cached, uncached) = match (is_cached(first)?, is_cached(second)?) {
        (true, false) => (first, second),
        (false, true) => (second, first),
        _ => return None,
    };
    let speedup = median_iops(cached, direction)? / median_iops(uncached, direction)?;
    // For repeated runs, `answer` estimates the factor in a different way, and a second number
    // would be confusing.
    let factor = match cached.runs.len().max(uncached.runs.len()) {
        1 => format!("{speedup:.1}× "),
        _ => String::new(),
    };
    (speedup.is_finite() && speedup >= MIN_SPEEDUP)
        .then(|| format!(" The {factor}speedup comes from memory, not from a faster disk."))
}

fn median_iops(group: &Group, direction: Direction) -> Option<f64> {
    let reports = group.runs.iter().filter_map(|run| run.report);
    let iops: Vec<f64> = reports
        .map(|report| direction.select(report.read.iops, report.write.iops))
        .collect();
    (!iops.is_empty()).then(|| leadline_stats::median::median(&iops))
}

/// Returns the rerun suggested by a finding of the first run that was served by memory.
pub(crate) fn rerun(groups: &[Group]) -> Option<Rerun> {
    let is_cached = |run: &&ComparedRun| {
        let classes = [Read, Write].map(|direction| known_class(run, direction));
        classes.into_iter().flatten().any(is_memory)
    };
    let run = all_runs(groups).find(is_cached)?;
    let (finding, patch) = run.findings.iter().find_map(|finding| {
        let patch = finding.patch.as_ref()?;
        (!patch.is_empty()).then_some((finding, patch))
    })?;
    Some(Rerun {
        run: run.number?,
        label: finding.patch_label.clone()?,
        patch: patch.clone(),
    })
}
