//! How deep the I/O of one direction went: the depth gauge in figures, from what was issued to what the device counted.

use crate::cli::print::sheet::Sheet;
use crate::cli::print::style::Tone;
use leadline_protocol::counters::DeviceCounts;
use leadline_protocol::evidence::Direction;
use leadline_protocol::format::{bytes, count, duration};
use leadline_protocol::plan::resolved::ResolvedJob;
use leadline_protocol::report::{DeviceReport, Report};
use leadline_protocol::verdict::{Verdict, VerdictClass};

/// Width of a figure with its unit, in characters.
const FIGURE: usize = 13;
/// Width of the share behind it.
const SHARE: usize = 9;
/// What devices did for others is told from here on, in bytes: below it is the host's own small change.
const OTHERS: u64 = 4 << 20;

/// Direct I/O of which no more than this share was answered by memory went past it.
const NEGLIGIBLE: f64 = 0.02;

/// I/Os and bytes that crossed from one layer into the next; `None` where they were not counted.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    ios: Option<u64>,
    bytes: Option<u64>,
}

/// The sentence, the gauge and the shares of a direction.
pub fn depth(
    out: &mut Sheet,
    direction: Direction,
    verdict: &Verdict,
    report: &Report,
    jobs: &[ResolvedJob],
) {
    let (name, dir) = match direction {
        Direction::Read => ("reads", &report.read),
        Direction::Write => ("writes", &report.write),
    };
    out.line(
        if is_well(verdict) {
            Tone::Good
        } else {
            Tone::Mind
        },
        name,
        &verdict.sentence,
    );
    let cached = verdict.shares.get("page_cache").copied().unwrap_or(0.0);
    let direct = cached <= NEGLIGIBLE
        && jobs
            .iter()
            .filter(|job| goes(direction, job))
            .all(|job| job.direct);
    let issued = Crossing {
        ios: Some(dir.ios),
        bytes: Some(dir.bytes),
    };
    let device = report.device.as_ref();
    let ours = ours(direction, verdict, device);
    let past = if direct {
        issued
    } else {
        past_cache(direction, device, verdict, ours)
    };
    let reached = beneath(direction, device, ours, direct.then_some(issued));
    table(
        out,
        device.map_or("the device", |device| &device.name),
        direct,
        [issued, past, reached],
    );
    if let Some(transition_ms) = verdict.transition_ms {
        out.row(
            Tone::Aside,
            "  turned",
            &format!("to memory, {} after the run began", duration(transition_ms)),
        );
    }
    if !verdict.shares.is_empty() {
        out.line(Tone::Aside, "  answered", &shares(verdict));
    }
    let counted_bytes = device.map_or(0, |device| counted(direction, &device.counts).1);
    let others = counted_bytes - scaled(counted_bytes, ours);
    if others > OTHERS {
        out.line(
            Tone::Aside,
            "  others",
            &format!(
                "{} that the device moved meanwhile were not this run's",
                bytes(others)
            ),
        );
    }
}

/// Whether the number is the device's alone.
fn is_well(verdict: &Verdict) -> bool {
    matches!(
        verdict.class,
        VerdictClass::Device | VerdictClass::Readahead | VerdictClass::Merged
    )
}

fn goes(direction: Direction, job: &ResolvedJob) -> bool {
    match direction {
        Direction::Read => job.pattern.rw.reads(),
        Direction::Write => job.pattern.rw.writes(),
    }
}

/// I/Os, bytes and merges of a direction.
fn counted(direction: Direction, counts: &DeviceCounts) -> (u64, u64, u64) {
    match direction {
        Direction::Read => (counts.read_ios, counts.read_bytes, counts.read_merges),
        Direction::Write => (counts.write_ios, counts.write_bytes, counts.write_merges),
    }
}

/// Share of what the device counted that was this run's, from 0 to 1. What a filesystem writes beside the data, in threads of
/// its own, belongs to the run: writes that went to the device are not told from it.
fn ours(direction: Direction, verdict: &Verdict, device: Option<&DeviceReport>) -> f64 {
    use VerdictClass::{DeferredWrite, Foreign, Mixed, PageCache};
    let is_told = direction == Direction::Read
        || matches!(verdict.class, DeferredWrite | Foreign | Mixed | PageCache);
    let all = device.map_or(0, |device| counted(direction, &device.counts).1);
    match verdict.evidence.get("own_bytes") {
        Some(own) if is_told && all > 0 => (*own as f64 / all as f64).min(1.0),
        _ => 1.0,
    }
}

fn scaled(value: u64, share: f64) -> u64 {
    (value as f64 * share).round() as u64
}

/// Through the cache: the requests that became the device's I/Os, and the bytes that this process had storage move.
fn past_cache(
    direction: Direction,
    device: Option<&DeviceReport>,
    verdict: &Verdict,
    ours: f64,
) -> Crossing {
    let counts = device.map(|device| counted(direction, &device.counts));
    let own = verdict.evidence.get("own_bytes").copied();
    Crossing {
        ios: counts.map(|(ios, _, merges)| scaled(ios + merges, ours)),
        bytes: own.or(counts.map(|(_, bytes, _)| bytes)),
    }
}

/// What the physical devices under the target counted for this run. `direct`: what was issued, where that reaches the device
/// as it was issued; then as many I/Os are ours as made our bytes.
fn beneath(
    direction: Direction,
    device: Option<&DeviceReport>,
    ours: f64,
    direct: Option<Crossing>,
) -> Crossing {
    let Some(device) = device else {
        return Crossing {
            ios: None,
            bytes: None,
        };
    };
    let whole = [counted(direction, &device.counts)];
    let physical_devices: Vec<_> = device
        .physical_devices
        .iter()
        .map(|leaf| counted(direction, &leaf.counts))
        .collect();
    let counts = if physical_devices.is_empty() {
        &whole[..]
    } else {
        &physical_devices
    };
    let ios: u64 = counts.iter().map(|counts| counts.0).sum();
    let moved = scaled(counts.iter().map(|counts| counts.1).sum(), ours);
    let own_ios = match direct {
        Some(Crossing {
            ios: Some(issued),
            bytes: Some(whole @ 1..),
        }) if ours < 1.0 => scaled(issued, moved as f64 / whole as f64).min(ios),
        _ => scaled(ios, ours),
    };
    Crossing {
        ios: Some(own_ios),
        bytes: Some(moved),
    }
}

fn table(out: &mut Sheet, device: &str, direct: bool, crossings: [Crossing; 3]) {
    let past = if direct {
        "cache bypassed"
    } else {
        "past the cache"
    };
    let wide = FIGURE + SHARE;
    out.aside(&format!(
        "{:>FIGURE$}{past:>wide$}{:>wide$}",
        "issued",
        format!("reached {device}")
    ));
    let [issued, ..] = crossings;
    for (label, pick, show) in [
        (
            "  I/Os",
            (|crossing: &Crossing| crossing.ios) as fn(&Crossing) -> Option<u64>,
            count as fn(u64) -> String,
        ),
        ("  bytes", |crossing| crossing.bytes, bytes),
    ] {
        let whole = pick(&issued).unwrap_or(0);
        let [_, past, reached] = crossings.map(|crossing| cell(pick(&crossing), whole, show));
        out.row(
            Tone::Aside,
            label,
            &format!("{:>FIGURE$}{past}{reached}", show(whole)),
        );
    }
}

/// `1,121  43.8 %`, as wide as its column.
fn cell(value: Option<u64>, whole: u64, show: fn(u64) -> String) -> String {
    let Some(value) = value else {
        return format!("{:>FIGURE$}{:>SHARE$}", "not counted", "");
    };
    let ratio = value as f64 / whole.max(1) as f64;
    let share = if ratio >= 10.0 {
        format!("{ratio:.0} ×")
    } else {
        format!("{:.1} %", ratio * 100.0)
    };
    format!("{:>FIGURE$}{share:>SHARE$}", show(value))
}

/// `43.8 % device · 56.2 % page cache, each give or take 0.1 %`.
fn shares(verdict: &Verdict) -> String {
    let shares = verdict
        .shares
        .iter()
        .map(|(layer, share)| format!("{:.1} % {}", share * 100.0, layer.replace('_', " ")));
    format!(
        "{}, each give or take {:.1} %",
        shares.collect::<Vec<_>>().join(" · "),
        verdict.uncertainty * 100.0
    )
}
