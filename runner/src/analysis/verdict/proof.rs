//! "Show me": the numbers behind a verdict from the job down to the device, before, after and the difference, each with
//! the shell command that shows the same without us.

use crate::analysis::verdict::evidence::{Evidence, dir, unwritten_back};
use leadline_protocol::counters::{DeviceCounts, Memory};
use leadline_protocol::evidence::Direction;
use leadline_protocol::evidence::TargetReport;
use leadline_protocol::plan::resolved::{ResolvedJob, TargetKind};
use leadline_protocol::report::{Reading, Report};
use leadline_protocol::verdict::{Layer, Proof};

/// Targets that are listed one by one; of more, the first ones stand for all.
const MOST_TARGETS: usize = 4;
/// Columns of /sys/block/*/stat (Documentation/block/stat.rst) from 1 on: I/Os, merges, sectors.
const READ_COLUMNS: [u8; 3] = [1, 2, 3];
const WRITE_COLUMNS: [u8; 3] = [5, 6, 7];

/// A line of /proc/meminfo, and the same number of ours.
type Line = (&'static str, fn(&Memory) -> u64);

/// The rows of one direction, from top to bottom.
pub(crate) fn rows(evidence: &Evidence, report: &Report, jobs: &[ResolvedJob]) -> Vec<Proof> {
    let direction = evidence.direction;
    let names: Vec<&str> = jobs
        .iter()
        .filter(|job| direction.is_of(job))
        .map(|job| job.name.as_str())
        .collect();
    let is_of =
        |target: &&TargetReport| target.jobs.iter().any(|job| names.contains(&job.as_str()));
    let targets: Vec<&TargetReport> = report
        .targets
        .iter()
        .filter(is_of)
        .take(MOST_TARGETS)
        .collect();
    let application = issued(evidence);
    let cache = targets
        .iter()
        .flat_map(|target| cached(direction, target))
        .chain(memory(direction, report, &targets));
    let filesystem = own(direction, report)
        .into_iter()
        .chain(targets.iter().filter_map(|target| without_data(target)));
    let devices = report
        .readings
        .iter()
        .flat_map(|reading| device(direction, reading, report));
    let mut rows: Vec<Proof> = application
        .into_iter()
        .chain(cache)
        .chain(filesystem)
        .chain(devices)
        .collect();
    rows.sort_by_key(|row| row.layer);
    rows
}

fn row(
    layer: Layer,
    name: String,
    unit: &str,
    before: u64,
    after: u64,
    command: Option<String>,
) -> Proof {
    let difference = after as i64 - before as i64;
    Proof {
        layer,
        name,
        unit: unit.into(),
        before: Some(before),
        after: Some(after),
        difference,
        command,
    }
}

/// A number of which only the difference is known.
fn gain(layer: Layer, name: String, unit: &str, difference: u64, command: Option<String>) -> Proof {
    Proof {
        layer,
        name,
        unit: unit.into(),
        before: None,
        after: None,
        difference: difference as i64,
        command,
    }
}

fn issued(evidence: &Evidence) -> [Proof; 2] {
    let noun = evidence.direction.noun();
    [
        gain(
            Layer::Application,
            format!("{noun} issued and completed"),
            "I/Os",
            evidence.ios,
            None,
        ),
        gain(
            Layer::Application,
            format!("bytes of these {noun}"),
            "bytes",
            evidence.bytes,
            None,
        ),
    ]
}

fn cached(direction: Direction, target: &TargetReport) -> Vec<Proof> {
    let Some((start, end)) = target.residency.start.zip(target.residency.end) else {
        return Vec::new();
    };
    let shows = (target.kind == TargetKind::File)
        .then(|| format!("fincore --bytes --output RES,FILE {}", quoted(&target.path)));
    let cached = row(
        Layer::PageCache,
        format!("{} in the page cache", target.path),
        "bytes",
        start.cached,
        end.cached,
        shows,
    );
    let waiting = unwritten_back(&start)
        .zip(unwritten_back(&end))
        .filter(|_| direction == Direction::Write);
    let waiting = waiting.map(|(start, end)| {
        row(
            Layer::PageCache,
            format!("{} waiting in memory to be written", target.path),
            "bytes",
            start,
            end,
            None,
        )
    });
    [Some(cached), waiting].into_iter().flatten().collect()
}

/// The host's memory: what a file fills is `Cached`, what a block device fills is `Buffers`.
fn memory(direction: Direction, report: &Report, targets: &[&TargetReport]) -> Vec<Proof> {
    let Some(memory) = report.memory else {
        return Vec::new();
    };
    let is_raw = targets
        .iter()
        .any(|target| target.kind == TargetKind::Device);
    let filled: Line = if is_raw {
        ("Buffers", |m| m.buffers)
    } else {
        ("Cached", |m| m.cached)
    };
    let waiting: [Line; 2] = [("Dirty", |m| m.dirty), ("Writeback", |m| m.writeback)];
    let shown = [filled].into_iter().chain(
        waiting
            .into_iter()
            .filter(|_| direction == Direction::Write),
    );
    shown
        .map(|(name, of)| {
            let command = format!("awk '/^{name}:/ {{print $2*1024}}' /proc/meminfo");
            row(
                Layer::PageCache,
                format!("{name} of the whole host"),
                "bytes",
                of(&memory.start),
                of(&memory.end),
                Some(command),
            )
        })
        .collect()
}

fn own(direction: Direction, report: &Report) -> Option<Proof> {
    let storage = report.storage?;
    let (name, field, bytes) = dir(
        direction,
        (
            "read from storage for this process",
            "read_bytes",
            storage.read_bytes,
        ),
        (
            "written or dirtied by this process",
            "write_bytes",
            storage.write_bytes,
        ),
    );
    let command = format!("grep ^{field} /proc/$(pgrep -n leadline-runner)/io");
    Some(gain(
        Layer::Filesystem,
        name.into(),
        "bytes",
        bytes,
        Some(command),
    ))
}

fn without_data(target: &TargetReport) -> Option<Proof> {
    let (before, after) = target.extents.before.zip(target.extents.after)?;
    let command = Some(format!("filefrag -v {}", quoted(&target.path)));
    let name = format!("{} in holes and unwritten extents", target.path);
    Some(row(
        Layer::Filesystem,
        name,
        "bytes",
        before.unwritten + before.hole,
        after.unwritten + after.hole,
        command,
    ))
}

fn device(direction: Direction, reading: &Reading, report: &Report) -> Vec<Proof> {
    let name = &reading.device;
    let is_leaf = report.device.as_ref().is_none_or(|device| {
        device
            .physical_devices
            .iter()
            .any(|leaf| leaf.name == *name)
    });
    let layer = if is_leaf {
        Layer::Device
    } else {
        Layer::Filesystem
    };
    let columns = dir(direction, READ_COLUMNS, WRITE_COLUMNS);
    let of: fn(&DeviceCounts) -> [u64; 3] = match direction {
        Direction::Read => |counts| [counts.read_ios, counts.read_merges, counts.read_bytes],
        Direction::Write => |counts| [counts.write_ios, counts.write_merges, counts.write_bytes],
    };
    let (start, end) = (of(&reading.start), of(&reading.end));
    let what = dir(
        direction,
        ["reads completed", "reads merged", "bytes read"],
        ["writes completed", "writes merged", "bytes written"],
    );
    let unit = ["I/Os", "I/Os", "bytes"];
    (0..columns.len())
        .map(|at| {
            let factor = if unit[at] == "bytes" { "*512" } else { "" };
            let command = format!(
                "awk '{{print ${}{factor}}}' /sys/class/block/{name}/stat",
                columns[at]
            );
            row(
                layer,
                format!("{} by {name}", what[at]),
                unit[at],
                start[at],
                end[at],
                Some(command),
            )
        })
        .collect()
}

/// For a shell.
fn quoted(path: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+:@%,".contains(c);
    if path.chars().all(is_plain) {
        path.into()
    } else {
        format!("'{}'", path.replace('\'', r"'\''"))
    }
}
