//! The counters behind a verdict, from application to device, before and after the measured window,
//! most with a shell command that prints them.

use crate::analysis::verdict::evidence::Evidence;
use leadline_protocol::{
    counters::{ChargedIo, Memory},
    evidence::{target::TargetReport, transition::Direction},
    plan::{job::ResolvedJob, target::TargetKind},
    report::{Report, device::Reading},
    verdict::{Layer, Proof, StorageLayer},
};
use std::collections::BTreeMap;

/// Maximum number of targets shown.
const MAX_TARGETS: usize = 4;

/// Name of a line in /proc/meminfo, and how to get its value.
type MemoryLine = (&'static str, fn(&Memory) -> u64);

/// Ordered by layer.
pub(crate) fn proof(evidence: &Evidence, report: &Report, jobs: &[ResolvedJob]) -> Vec<Proof> {
    let direction = evidence.direction;
    let is_used = |target: &&TargetReport| {
        let mut jobs = jobs.iter().filter(|job| direction.is_used_by(job));
        jobs.any(|job| target.jobs.contains(&job.name))
    };
    let used = report.targets.iter().filter(is_used);
    let targets: Vec<&TargetReport> = used.take(MAX_TARGETS).collect();
    let mut rows = issued(evidence);
    rows.extend(sampled(evidence));
    for target in &targets {
        rows.extend(residency(direction, target));
    }
    rows.extend(memory(direction, report, &targets));
    rows.extend(process(direction, report));
    rows.extend(targets.iter().filter_map(|target| unwritten(target)));
    for reading in &report.readings {
        rows.extend(device(direction, reading, report));
    }
    rows.extend(charged(direction, report));
    rows.sort_by_key(|row| row.layer);
    rows
}

fn row(layer: Layer, name: String, unit: &str, before: u64, after: u64) -> Proof {
    Proof {
        before: Some(before),
        after: Some(after),
        ..difference_row(layer, name, unit, after as i64 - before as i64)
    }
}

fn difference_row(layer: Layer, name: String, unit: &str, difference: i64) -> Proof {
    Proof {
        layer,
        name,
        unit: unit.into(),
        before: None,
        after: None,
        difference,
        command: None,
    }
}

fn with_command(row: Proof, command: String) -> Proof {
    Proof {
        command: Some(command),
        ..row
    }
}

fn issued(evidence: &Evidence) -> Vec<Proof> {
    let issued = format!("{} issued", evidence.direction.noun());
    let moved = evidence.direction.select("bytes read", "bytes written");
    vec![
        difference_row(Layer::Application, issued, "I/Os", evidence.ios as i64),
        difference_row(
            Layer::Application,
            moved.into(),
            "bytes",
            evidence.bytes as i64,
        ),
    ]
}

/// Sampled I/Os by the layer that held their data.
fn sampled(evidence: &Evidence) -> Vec<Proof> {
    let Some(estimate) = &evidence.estimate else {
        return Vec::new();
    };
    let noun = evidence.direction.noun();
    let samples = estimate.samples as f64;
    let looked_up = format!("{noun} looked up");
    let mut rows = vec![difference_row(
        Layer::Application,
        looked_up,
        "I/Os",
        estimate.samples as i64,
    )];
    for share in &estimate.layers {
        let (layer, location) = match share.layer {
            StorageLayer::PageCache => (Layer::PageCache, "in the page cache"),
            StorageLayer::LowerCache => (Layer::Filesystem, "in memory below the device"),
            StorageLayer::Unwritten => (Layer::Filesystem, "in holes and unwritten extents"),
            StorageLayer::Device => (Layer::Device, "on the device"),
            StorageLayer::Unknown => (Layer::Device, "in an unknown location"),
        };
        if share.ios.share > 0.0 {
            let ios = (share.ios.share * samples).round() as i64;
            let name = format!("{noun} looked up, found {location}");
            rows.push(difference_row(layer, name, "I/Os", ios));
        }
    }
    rows
}

fn residency(direction: Direction, target: &TargetReport) -> Vec<Proof> {
    let Some((start, end)) = target.residency.start.zip(target.residency.end) else {
        return Vec::new();
    };
    let path = &target.path;
    let name = format!("{path} in the page cache");
    let mut cached = row(Layer::PageCache, name, "bytes", start.cached, end.cached);
    if target.kind == TargetKind::File {
        cached.command = Some(format!(
            "fincore --bytes --output RES,FILE {}",
            quote_path(path)
        ));
    }
    let mut rows = vec![cached];
    let pending = start.pending_write_bytes().zip(end.pending_write_bytes());
    if let (Direction::Write, Some((start, end))) = (direction, pending) {
        let name = format!("{path} dirty or in writeback");
        rows.push(row(Layer::PageCache, name, "bytes", start, end));
    }
    rows
}

/// File pages are counted as `Cached`, block device pages as `Buffers`.
fn memory(direction: Direction, report: &Report, targets: &[&TargetReport]) -> Vec<Proof> {
    let Some(memory) = report.memory else {
        return Vec::new();
    };
    let is_raw = targets
        .iter()
        .any(|target| target.kind == TargetKind::Device);
    let mut lines: Vec<MemoryLine> = Vec::new();
    if is_raw {
        lines.push(("Buffers", |memory| memory.buffers));
    } else {
        lines.push(("Cached", |memory| memory.cached));
    }
    if direction == Direction::Write {
        lines.push(("Dirty", |memory| memory.dirty));
        lines.push(("Writeback", |memory| memory.writeback));
    }
    let proof = |(name, value): MemoryLine| {
        let start = value(&memory.start);
        let end = value(&memory.end);
        let row = row(
            Layer::PageCache,
            format!("{name} (whole host)"),
            "bytes",
            start,
            end,
        );
        with_command(
            row,
            format!("awk '/^{name}:/ {{print $2*1024}}' /proc/meminfo"),
        )
    };
    lines.into_iter().map(proof).collect()
}

fn process(direction: Direction, report: &Report) -> Option<Proof> {
    let storage = report.storage?;
    let (name, field, bytes) = direction.select(
        (
            "bytes read from storage by this process",
            "read_bytes",
            storage.read_bytes,
        ),
        (
            "bytes written or dirtied by this process",
            "write_bytes",
            storage.write_bytes,
        ),
    );
    let row = difference_row(Layer::Filesystem, name.into(), "bytes", bytes as i64);
    let command = format!("grep ^{field} /proc/$(pgrep -n leadline-runner)/io");
    Some(with_command(row, command))
}

fn unwritten(target: &TargetReport) -> Option<Proof> {
    let (before, after) = target.extents.before.zip(target.extents.after)?;
    let name = format!("{} in holes and unwritten extents", target.path);
    let before = before.unwritten + before.hole;
    let after = after.unwritten + after.hole;
    let row = row(Layer::Filesystem, name, "bytes", before, after);
    Some(with_command(
        row,
        format!("filefrag -v {}", quote_path(&target.path)),
    ))
}

/// I/O by the run's control group, counting each disk once.
fn charged(direction: Direction, report: &Report) -> Vec<Proof> {
    let Some(group) = &report.cgroup else {
        return Vec::new();
    };
    let disks: BTreeMap<&str, &ChargedIo> = group
        .devices
        .iter()
        .map(|device| (device.disk.as_str(), &device.counts))
        .collect();
    let proof = |(disk, counts): (&str, &ChargedIo)| {
        let (moved, bytes) = direction.select(
            ("bytes read", counts.read_bytes),
            ("bytes written", counts.write_bytes),
        );
        let name = format!("{moved} by this run on {disk}");
        let row = difference_row(layer_of(disk, report), name, "bytes", bytes as i64);
        let stat = quote_path(&format!("{}/io.stat", group.path));
        with_command(
            row,
            format!("grep \"^$(cat /sys/class/block/{disk}/dev) \" {stat}"),
        )
    };
    disks.into_iter().map(proof).collect()
}

fn layer_of(device: &str, report: &Report) -> Layer {
    let is_physical = report.device.as_ref().is_none_or(|report| {
        let mut physical = report.physical_devices.iter();
        physical.any(|physical| physical.name == device)
    });
    if is_physical {
        Layer::Device
    } else {
        Layer::Filesystem
    }
}

fn device(direction: Direction, reading: &Reading, report: &Report) -> Vec<Proof> {
    let device = &reading.device;
    let layer = layer_of(device, report);
    let start = reading.start.of(direction);
    let end = reading.end.of(direction);
    // Columns of /sys/block/*/stat (Documentation/block/stat.rst), from 1: I/Os, merges, sectors.
    let [ios, merges, bytes] = direction.select(
        [
            ("reads completed", "$1"),
            ("reads merged", "$2"),
            ("bytes read", "$3*512"),
        ],
        [
            ("writes completed", "$5"),
            ("writes merged", "$6"),
            ("bytes written", "$7*512"),
        ],
    );
    let proof = |(counted, column), unit, start, end| {
        let row = row(layer, format!("{counted} by {device}"), unit, start, end);
        with_command(
            row,
            format!("awk '{{print {column}}}' /sys/class/block/{device}/stat"),
        )
    };
    vec![
        proof(ios, "I/Os", start.ios, end.ios),
        proof(merges, "I/Os", start.merges, end.merges),
        proof(bytes, "bytes", start.bytes, end.bytes),
    ]
}

/// Quotes a path for a shell.
fn quote_path(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,".contains(c);
    if path.chars().all(is_plain) {
        path.into()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}
