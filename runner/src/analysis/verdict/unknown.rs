//! The sentence of an unknown verdict: which numbers contradict each other, or what is missing.

use crate::analysis::{
    context::DirectionAnalysis,
    verdict::{
        evidence::Evidence,
        limits::CounterSource,
        percentage::percent,
        threshold::{MAX_UNKNOWN, MOSTLY},
    },
};
use leadline_protocol::{
    format::{bytes, count},
    report::layers::LayerEstimate,
    verdict::StorageLayer,
};

pub(crate) fn unknown(analysis: &DirectionAnalysis) -> String {
    let evidence = &analysis.evidence;
    let noun = evidence.direction.noun();
    if let Some(job) = &evidence.null_job {
        return format!(
            "The layer that served the {noun} is unknown: job {job} performs no I/O (ioengine=null). Run it separately."
        );
    }
    let reason = match (&evidence.estimate, &evidence.device) {
        (Some(estimate), _) if evidence.no_device.is_some() => format!(
            "{} of the sampled {noun} accessed swapped-out data, and swap device I/O is not counted",
            percent(unknown_share(estimate))
        ),
        (None, Err(reason)) => reason.trim_end_matches('.').to_owned(),
        (None, Ok(_)) => "no I/O could be looked up in the page cache".into(),
        (Some(estimate), _) if estimate.samples == 0 => format!("no {noun} could be looked up"),
        (Some(estimate), device) => match analysis.shares.disputed_by {
            Some(counter) => describe_dispute(evidence, estimate, counter),
            None => explain_undecided(analysis, estimate, device.as_ref().err()),
        },
    };
    format!("The layer that served the {noun} is unknown: {reason}.")
}

/// Explains why a sample does not determine the layer although no counter contradicts it.
fn explain_undecided(
    analysis: &DirectionAnalysis,
    estimate: &LayerEstimate,
    missing_device: Option<&String>,
) -> String {
    let noun = analysis.evidence.direction.noun();
    let unknown = unknown_share(estimate);
    let samples = count(estimate.samples);
    match missing_device {
        _ if unknown > MOSTLY.value => {
            format!("the pages of {samples} sampled {noun} could not be looked up")
        }
        _ if unknown >= MAX_UNKNOWN.value => format!(
            "the pages of {} of {samples} sampled {noun} could not be looked up",
            percent(unknown)
        ),
        Some(reason) => format!(
            "{samples} {noun} were looked up, and device I/O was not counted ({})",
            reason.trim_end_matches('.')
        ),
        None => format!(
            "with {samples} sampled {noun} and the counters, the error bound is ±{}",
            percent(analysis.shares.uncertainty)
        ),
    }
}

/// Describes the numbers that contradict each other.
fn describe_dispute(
    evidence: &Evidence,
    estimate: &LayerEstimate,
    counter: CounterSource,
) -> String {
    let noun = evidence.direction.noun();
    let issued = bytes(evidence.bytes);
    let samples = count(estimate.samples);
    let cached = estimate.of(StorageLayer::PageCache);
    let below = percent(1.0 - cached.map_or(0.0, |share| share.bytes));
    let sampled = format!(
        "of {samples} sampled {noun}, {below} of the bytes were not in the page cache, and"
    );
    let (device, moved) = match &evidence.device {
        Ok(device) => (device.name.as_str(), bytes(device.bytes)),
        Err(_) => ("the device", "an unknown amount".into()),
    };
    let lower = evidence.lower_devices.as_ref();
    match counter {
        CounterSource::Process => format!(
            "{sampled} the process read {} from storage for {issued} issued",
            bytes(*evidence.process_bytes.as_ref().unwrap_or(&0))
        ),
        CounterSource::Device => {
            format!("{sampled} {device} transferred {moved} for {issued} issued")
        }
        CounterSource::PhysicalDevices => format!(
            "{sampled} {device} transferred {moved}, but the devices below it transferred {}",
            bytes(lower.map_or(0, |lower| lower.bytes))
        ),
        CounterSource::ControlGroup => {
            let charged = evidence.charged.unwrap_or_default();
            let below = if lower.is_some() {
                format!(" and {} on the devices below it", bytes(charged.lower))
            } else {
                String::new()
            };
            format!(
                "the run was charged for {} on {device}{below}, and {device} transferred {moved}",
                bytes(charged.device)
            )
        }
    }
}

fn unknown_share(estimate: &LayerEstimate) -> f64 {
    let unknown = estimate.of(StorageLayer::Unknown);
    unknown.map_or(0.0, |share| share.ios.share)
}
