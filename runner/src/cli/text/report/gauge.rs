//! The verdict and depth gauge for one direction.

use crate::cli::text::{
    style::{GREEN, YELLOW},
    writer::{LABEL_HEADER, TextWriter, number_table},
};
use leadline_protocol::{
    evidence::transition::Direction,
    format::{bytes, count, duration},
    gauge::{Gauge, LayerFlow},
    report::{Report, device::DeviceReport},
    verdict::{Verdict, VerdictClass},
};

pub(super) fn write_direction(
    out: &mut TextWriter,
    direction: Direction,
    verdict: &Verdict,
    report: &Report,
) {
    let style = match verdict.class {
        VerdictClass::Device | VerdictClass::Readahead | VerdictClass::Merged => GREEN,
        _ => YELLOW,
    };
    out.styled_field(style, direction.noun(), &verdict.sentence);
    let device = report
        .device
        .as_ref()
        .map_or_else(|| "device".into(), physical_names);
    let gauge = report
        .gauge
        .as_ref()
        .and_then(|gauge| direction.select(&gauge.read, &gauge.write).as_ref());
    match gauge {
        Some(gauge) => write_table(out, gauge, &device),
        None => out.field("  gauge", "not recorded"),
    }
    if let Some(transition_ms) = verdict.transition_ms {
        let text = format!("to memory {} into the run", duration(transition_ms));
        out.field("  change", &text);
    }
    if !verdict.shares.is_empty() {
        out.field("  served by", &shares(verdict));
    }
    if let Some(foreign) = gauge.and_then(|gauge| gauge.foreign) {
        let text = format!("{} by {}", bytes(foreign.bytes), foreign.source.label());
        out.field("  foreign", &text);
    }
}

/// The devices that the gauge counts: the physical devices below the target's device, if any.
fn physical_names(device: &DeviceReport) -> String {
    let names = device.physical_devices.iter();
    let names: Vec<&str> = names.map(|physical| physical.name.as_str()).collect();
    if names.is_empty() {
        device.name.clone()
    } else {
        names.join("+")
    }
}

fn write_table(out: &mut TextWriter, gauge: &Gauge, device: &str) {
    let past_cache = if gauge.bypassed {
        "cache bypassed"
    } else {
        "past the cache"
    };
    let reached = format!("reached {device}");
    let mut table = number_table([LABEL_HEADER, "issued", past_cache, "", &reached, ""]);
    table.add_row(row("  I/Os", gauge, |flow| flow.ios, count));
    table.add_row(row("  bytes", gauge, |flow| flow.bytes, bytes));
    out.table(&table);
}

fn row(
    label: &str,
    gauge: &Gauge,
    value: fn(LayerFlow) -> u64,
    format: fn(u64) -> String,
) -> Vec<String> {
    let issued = value(gauge.issued);
    let mut row = vec![label.into(), format(issued)];
    for flow in [gauge.past_cache, gauge.reached] {
        let flow = flow.map(value);
        row.push(flow.map_or("not counted".into(), format));
        row.push(flow.map_or(String::new(), |flow| ratio(flow, issued)));
    }
    row
}

/// `43.8 %`, or `12 ×` for factors of 10 or more.
fn ratio(value: u64, issued: u64) -> String {
    let ratio = value as f64 / issued.max(1) as f64;
    if ratio >= 10.0 {
        format!("{ratio:.0} ×")
    } else {
        format!("{:.1} %", ratio * 100.0)
    }
}

/// `device 43.8 % · page cache 56.2 % (±0.1 %)`.
fn shares(verdict: &Verdict) -> String {
    let shares: Vec<String> = verdict
        .shares
        .iter()
        .map(|(layer, share)| format!("{} {:.1} %", layer.replace('_', " "), share * 100.0))
        .collect();
    format!(
        "{} (±{:.1} %)",
        shares.join(" · "),
        verdict.uncertainty * 100.0
    )
}
