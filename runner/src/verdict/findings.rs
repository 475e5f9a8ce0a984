//! What a reader of the report must know: everything that was seen afterwards and makes the number mean something else
//! than was asked. What could be seen before the run is `plan::findings`'.

use serde_json::{Value, json};

use super::class::MORE;
use super::evidence::{Direction, Evidence};
use super::late::late;
use crate::job::EngineName;
use crate::plan::{Mode, ResolvedJob, SHORT_RUN_MS};
use crate::print::number::{bytes, count, duration};
use crate::report::Severity::{Note, Serious, Warning};
use crate::report::{EndedBy, Finding, Report, Severity, VerdictClass};

/// Below this part of the depth asked for, the device was not kept as busy as asked; above, it is the time between
/// reaping and refilling.
const DEPTH_REACHED: f64 = 0.8;
/// From this part of its processors' time on, the runner was the limit: what is left is the timer's and the kernel's.
const BUSY_PERCENT: f64 = 95.0;
/// Traffic of the direction that the jobs do not go in: below this it is the filesystem's own.
const FOREIGN_BYTES: u64 = 16 << 20;

/// All that is true of this report.
pub(super) fn gather(report: &Report, jobs: &[ResolvedJob], judged: &[(Evidence, VerdictClass)]) -> Vec<Finding> {
    let by_direction = judged.iter().filter_map(|(evidence, class)| by_class(evidence, *class));
    let checks = [errors, interrupted, short_run, counters_absent, depth, late, cpu, foreign];
    by_direction.chain(checks.into_iter().filter_map(|check| check(report, jobs))).collect()
}

pub(super) fn finding(severity: Severity, code: &str, sentence: String, evidence: &[(&str, Value)], remedy: &str) -> Finding {
    let evidence = evidence.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
    Finding { code: code.into(), severity, sentence, evidence, remedy: remedy.into() }
}

fn by_class(evidence: &Evidence, class: VerdictClass) -> Option<Finding> {
    let device = evidence.device.as_ref().ok()?;
    let (noun, name) = (evidence.direction.noun(), &device.name);
    let numbers =
        [("issued_bytes", json!(evidence.bytes)), ("device_bytes", json!(device.bytes)), ("device_ios", json!(device.ios))];
    let told = |severity, code, sentence, remedy| Some(finding(severity, code, sentence, &numbers, remedy));
    match class {
        VerdictClass::PageCache => told(
            Serious,
            "cache_answered",
            format!("The number is that of memory, not of {name}."),
            "Write direct=1 to go past the page cache, or work on at least twice the memory.",
        ),
        VerdictClass::Readahead => told(
            Warning,
            "readahead_answered",
            format!("Readahead turned {} small {noun} into {} large ones.", count(evidence.ios), count(device.ios)),
            "Write direct=1 for I/Os of this size, or fadvise_hint=random to turn readahead off.",
        ),
        VerdictClass::DeferredWrite => told(
            Serious,
            "deferred_write",
            format!("Most of what was written was still in memory at the end; {name} had yet to take it."),
            "Write direct=1, or end_fsync=1 to have the flush told beside it, or run until dirty memory stays level.",
        ),
        VerdictClass::NoDevice if evidence.direct => told(
            Serious,
            "direct_not_honoured",
            format!(
                "The {noun} were direct, but {name} hardly saw them: the blocks were never written, or the filesystem answers by itself."
            ),
            "Write the file first (overwrite=1), or use a filesystem that does direct I/O, such as ext4 or xfs.",
        ),
        VerdictClass::Amplified => told(
            Warning,
            "more_than_asked",
            format!(
                "{name} moved {:.1} times the bytes asked: readahead, journal, copy on write, or somebody else's I/O.",
                evidence.bytes_ratio()
            ),
            "Look who else uses the device; on a raw device only read-modify-write and others remain.",
        ),
        _ => None,
    }
}

fn errors(report: &Report, _: &[ResolvedJob]) -> Option<Finding> {
    let first = report.errors.first.as_ref()?;
    let sentence = format!(
        "{} I/Os failed; the first was a {} of {} at {} of job {}: {}.",
        count(report.errors.total),
        first.operation,
        bytes(first.bytes),
        count(first.offset),
        first.job,
        first.message.trim_end_matches('.')
    );
    let evidence = [("errors", json!(report.errors.total)), ("errno", json!(first.errno))];
    Some(finding(Serious, "io_errors", sentence, &evidence, "Look into the kernel's log (dmesg) for what the device said."))
}

fn interrupted(report: &Report, _: &[ResolvedJob]) -> Option<Finding> {
    let sentence = format!("The run was stopped after {:.1} s: the numbers are those until then.", report.duration_ms / 1000.0);
    (report.ended_by == EndedBy::Signal).then(|| finding(Warning, "stopped_early", sentence, &[], "Run it again to its end."))
}

fn short_run(report: &Report, _: &[ResolvedJob]) -> Option<Finding> {
    let sentence = format!("{} is short: good for a look, not for a number.", duration(report.duration_ms));
    let is_short = report.duration_ms < SHORT_RUN_MS as f64;
    is_short.then(|| {
        finding(
            Note,
            "short_run",
            sentence,
            &[("duration_ms", json!(report.duration_ms))],
            "Run for at least 10 s, with time_based=1.",
        )
    })
}

fn counters_absent(report: &Report, jobs: &[ResolvedJob]) -> Option<Finding> {
    let wanted = jobs.iter().flat_map(|job| &job.targets).any(|target| target.device.is_some());
    let reason = report.absent.get("device").filter(|_| wanted && report.device.is_none())?;
    let sentence =
        format!("The device's counters are missing, so nothing proves where the I/O went: {}.", reason.trim_end_matches('.'));
    Some(finding(Warning, "device_counters_absent", sentence, &[], "Run where /sys/dev/block can be read."))
}

/// Whether the depth asked for was in flight. Jobs that are held back on purpose are left out.
fn depth(report: &Report, jobs: &[ResolvedJob]) -> Option<Finding> {
    let is_held_back = |job: &ResolvedJob| job.mode == Mode::Null || job.thinktime_us > 0 || job.has_rate();
    let achieved = report.achieved_depth.filter(|_| !jobs.iter().any(is_held_back))?;
    let clones: u64 = jobs.iter().map(|job| u64::from(job.numjobs)).sum();
    let asked = jobs.iter().map(|job| u64::from(job.iodepth) * u64::from(job.numjobs)).sum::<u64>() as f64 / clones.max(1) as f64;
    let evidence = [("asked_depth", json!(asked)), ("achieved_depth", json!(achieved))];
    if asked <= 1.0 || achieved >= DEPTH_REACHED * asked {
        return None;
    }
    if jobs.iter().all(|job| job.ioengine == EngineName::Psync) {
        let sentence = format!("psync does one I/O at a time: the depth was 1, not {asked:.0}.");
        return Some(finding(
            Warning,
            "depth_is_one",
            sentence,
            &evidence,
            "Use ioengine=io_uring, or numjobs for I/Os side by side.",
        ));
    }
    let sentence = format!("{achieved:.1} I/Os were in flight on average, {asked:.0} were asked for.");
    let remedy = if jobs.iter().any(|job| !job.direct) {
        "Write direct=1: through the page cache an I/O is done, or waits, while it is submitted."
    } else {
        "More jobs (numjobs) submit side by side; a filesystem may also make writers wait for each other."
    };
    Some(finding(Warning, "depth_not_reached", sentence, &evidence, remedy))
}

/// The runner's own threads were busy all the time; or everybody's together were, and ours had to wait for a processor.
fn cpu(report: &Report, jobs: &[ResolvedJob]) -> Option<Finding> {
    let cpu = report.cpu?;
    let threads: u32 = jobs.iter().map(|job| job.numjobs).sum();
    let evidence = [("percent_of_one", json!(cpu.percent_of_one)), ("machine_percent", json!(cpu.machine_percent))];
    let (ours, all) = (cpu.percent_of_one, cpu.machine_percent);
    if ours >= BUSY_PERCENT * f64::from(threads) {
        let sentence = format!("The processor was the limit, not the storage: the runner used {ours:.0} % of one.");
        let remedy = "Use more jobs (numjobs) on more processors, or larger I/Os.";
        Some(finding(Warning, "cpu_bound", sentence, &evidence, remedy))
    } else if all >= BUSY_PERCENT {
        let sentence = format!(
            "All processors of this host were busy ({all:.0} %), while the runner used {ours:.0} % of one: its I/Os waited for a processor."
        );
        Some(finding(Warning, "busy_host", sentence, &evidence, "Run it again when nothing else runs."))
    } else {
        None
    }
}

/// Traffic in a direction that no job goes in is somebody else's.
fn foreign(report: &Report, jobs: &[ResolvedJob]) -> Option<Finding> {
    let device = report.device.as_ref()?;
    let (reads, writes) = (jobs.iter().any(|job| job.rw.reads()), jobs.iter().any(|job| job.rw.destroys()));
    let others = [(reads, Direction::Read, device.counts.read_bytes), (writes, Direction::Write, device.counts.write_bytes)];
    let ours = (report.read.bytes + report.write.bytes) as f64;
    let (_, direction, bytes_moved) =
        others.into_iter().find(|(goes, _, moved)| !goes && *moved > FOREIGN_BYTES && *moved as f64 > ours * (MORE - 1.0))?;
    let sentence = format!("{} did {} of {} that are not of this run.", device.name, bytes(bytes_moved), direction.noun());
    Some(finding(
        Warning,
        "other_io",
        sentence,
        &[("bytes", json!(bytes_moved))],
        "Look who else uses the device, and run again when it is quiet.",
    ))
}
