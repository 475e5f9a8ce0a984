//! Short notes on how each layer changed the flow.

use crate::analysis::{gauge::flows::Flows, verdict::threshold::NEGLIGIBLE};
use leadline_protocol::{
    format::bytes,
    gauge::{ForeignIo, LayerFlow},
    verdict::Layer,
};
use std::collections::BTreeMap;

/// Ratio of device I/O to issued I/O above which a note reports amplification; a smaller excess is
/// due to metadata and rounding.
const AMPLIFIED: f64 = 1.1;
/// Ratio below which a note reports merging; a ratio between this value and 1 is due to rounding.
const MERGED: f64 = 0.9;
/// Minimum share of the issued bytes for a note about the filesystem.
const FILESYSTEM_SHARE: f64 = 0.1;

pub(super) fn notes(flows: &Flows, foreign: Option<&ForeignIo>) -> BTreeMap<Layer, String> {
    if !flows.is_used() {
        return BTreeMap::new();
    }
    let filesystem = flows.past_cache.zip(flows.reached);
    let notes = [
        (Layer::PageCache, page_cache(flows)),
        (
            Layer::Filesystem,
            filesystem.and_then(|(past_cache, reached)| below_cache(flows, past_cache, reached)),
        ),
        (Layer::Device, device(flows, foreign)),
    ];
    let some = |(layer, note): (Layer, Option<String>)| Some((layer, note?));
    notes.into_iter().filter_map(some).collect()
}

fn page_cache(flows: &Flows) -> Option<String> {
    if flows.bypassed {
        return Some("bypassed".into());
    }
    let past_cache = flows.past_cache?;
    let is_write = flows.written_bytes * 2 > flows.issued.bytes;
    let is_waiting = flows.pending_bytes as f64 > flows.written_bytes as f64 * NEGLIGIBLE.value;
    if is_write && is_waiting {
        return Some(format!(
            "{} in memory, not yet written",
            bytes(flows.pending_bytes)
        ));
    }
    let ios = ratio(past_cache.ios, flows.issued.ios);
    let share = ratio(past_cache.bytes, flows.issued.bytes);
    if share < NEGLIGIBLE.value {
        let note = if is_write {
            "in memory, not yet written"
        } else {
            "served from memory"
        };
        return Some(note.into());
    }
    if ios < share / 2.0 {
        let merged = format_two_digits(share / ios);
        return Some(if is_write {
            format!("{merged} writes merged into one")
        } else {
            format!("readahead: one read served {merged}")
        });
    }
    if share > AMPLIFIED {
        return Some(format!("{} × the issued bytes", format_two_digits(share)));
    }
    let kept = ((1.0 - share) * 100.0).round();
    let layer = if is_write {
        "still in memory"
    } else {
        "served from memory"
    };
    (kept >= 1.0).then(|| format!("{kept} % {layer}"))
}

fn below_cache(flows: &Flows, past_cache: LayerFlow, reached: LayerFlow) -> Option<String> {
    let issued = flows.issued.bytes;
    if ratio(flows.unwritten_bytes, issued) > FILESYSTEM_SHARE {
        return Some("returned zeros: never written".into());
    }
    if past_cache.ios == 0 {
        return None;
    }
    if ratio(reached.bytes, issued) < NEGLIGIBLE.value && past_cache.bytes * 2 > issued {
        return Some("returned zeros: holes or unwritten blocks".into());
    }
    let ios = ratio(reached.ios, past_cache.ios);
    let more = ios.max(ratio(reached.bytes, past_cache.bytes));
    if more > AMPLIFIED {
        return Some(format!(
            "amplified {} × by the journal, metadata or other programs",
            format_two_digits(more)
        ));
    }
    let is_merged = ios < MERGED && ratio(past_cache.bytes, issued) >= NEGLIGIBLE.value;
    is_merged.then(|| {
        format!(
            "{} I/Os merged into one",
            format_two_digits(ratio(past_cache.ios, reached.ios))
        )
    })
}

fn device(flows: &Flows, foreign: Option<&ForeignIo>) -> Option<String> {
    if flows.reached.is_none() {
        return Some("not counted".into());
    }
    foreign.map(|foreign| format!("+ {} by {}", bytes(foreign.bytes), foreign.source.label()))
}

fn ratio(part: u64, whole: u64) -> f64 {
    part as f64 / whole.max(1) as f64
}

/// Two significant digits, without trailing zeros.
fn format_two_digits(value: f64) -> String {
    let magnitude = value.log10().floor() as i32;
    let unit = 10f64.powi(magnitude - 1);
    let rounded = (value / unit).round() * unit;
    format!("{rounded:.*}", (1 - magnitude).max(0) as usize)
        .trim_end_matches(".0")
        .to_owned()
}
