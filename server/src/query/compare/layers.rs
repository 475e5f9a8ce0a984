//! Compares the layers that served the I/O of runs.

use leadline_protocol::{
    compare::Rerun,
    evidence::transition::Direction::{self, Read, Write},
    run::Run,
    verdict::{ModifierKind, Verdict, VerdictClass},
};

/// Smaller speedups by the page cache are not mentioned.
const MIN_SPEEDUP: f64 = 1.5;

/// Describes how the serving layers differ. Returns `None` if they are the same or unknown.
pub(crate) fn difference(runs: &[Run]) -> Option<String> {
    let reads = different_layers(runs, Read);
    let writes = different_layers(runs, Write);
    let first = if reads.is_some() { Read } else { Write };
    let layers = match (reads, writes) {
        (Some(reads), Some(writes)) => format!("reads: {reads}; writes: {writes}"),
        (reads, writes) => reads.or(writes)?,
    };
    let speedup = cache_speedup(runs, first).unwrap_or_default();
    Some(format!("Not the same test: {layers}.{speedup}"))
}

/// Returns `#1 was served by the device, #2, #3 by memory`, in the order of the runs.
fn different_layers(runs: &[Run], direction: Direction) -> Option<String> {
    let mut layers: Vec<(&str, Vec<String>)> = Vec::new();
    for run in runs {
        let Some(verdict) = known_verdict(run, direction) else {
            continue;
        };
        let layer = layer(verdict);
        let number = format!("#{}", run.summary.number);
        match layers.iter_mut().find(|(other, _)| *other == layer) {
            Some((_, numbers)) => numbers.push(number),
            None => layers.push((layer, vec![number])),
        }
    }
    let [(layer, numbers), others @ ..] = &layers[..] else {
        return None;
    };
    if others.is_empty() {
        return None;
    }
    let verb = if numbers.len() == 1 { "was" } else { "were" };
    let mut text = format!("{} {verb} served by {layer}", numbers.join(", "));
    for (layer, numbers) in others {
        text += &format!(", {} by {layer}", numbers.join(", "));
    }
    Some(text)
}

fn known_verdict(run: &Run, direction: Direction) -> Option<&Verdict> {
    let verdicts = run.verdict.as_ref()?;
    let verdict = direction.select(&verdicts.read, &verdicts.write).as_ref()?;
    (verdict.class != VerdictClass::Unknown).then_some(verdict)
}

fn known_class(run: &Run, direction: Direction) -> Option<VerdictClass> {
    known_verdict(run, direction).map(|verdict| verdict.class)
}

/// The class with the modifier that makes it a different test.
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
        VerdictClass::Mixed => "several layers",
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

/// Describes the speedup of two runs if exactly one of them was served by memory.
fn cache_speedup(runs: &[Run], direction: Direction) -> Option<String> {
    let [first, second] = runs else { return None };
    let first_cached = is_memory(known_class(first, direction)?);
    let second_cached = is_memory(known_class(second, direction)?);
    let (cached, uncached) = match (first_cached, second_cached) {
        (true, false) => (first, second),
        (false, true) => (second, first),
        _ => return None,
    };
    let iops = |run: &Run| {
        let report = run.report.as_ref()?;
        Some(direction.select(report.read.iops, report.write.iops))
    };
    let speedup = iops(cached)? / iops(uncached)?;
    (speedup.is_finite() && speedup >= MIN_SPEEDUP)
        .then(|| format!(" The {speedup:.1}× speedup comes from memory, not from a faster disk."))
}

/// The rerun suggested by a finding of the first run that was served by memory.
pub(crate) fn rerun(runs: &[Run]) -> Option<Rerun> {
    let is_cached = |run: &&Run| {
        let classes = [Read, Write].map(|direction| known_class(run, direction));
        classes.into_iter().flatten().any(is_memory)
    };
    let run = runs.iter().find(is_cached)?;
    let (finding, patch) = run.findings.iter().find_map(|finding| {
        let patch = finding.patch.as_ref()?;
        (!patch.is_empty()).then_some((finding, patch))
    })?;
    Some(Rerun {
        run: run.summary.number,
        label: finding.patch_label.clone()?,
        patch: patch.clone(),
    })
}
