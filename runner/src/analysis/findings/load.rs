//! Whether the device had the load that was asked for, and no other: depth, processors, neighbours.

use crate::analysis::case::Case;
use crate::analysis::findings::rerun;
use crate::analysis::verdict::class::is_more;
use crate::analysis::verdict::evidence::dir;
use leadline_protocol::evidence::Direction;
use leadline_protocol::finding::Finding;
use leadline_protocol::finding::Severity::Warning;
use leadline_protocol::format::bytes;
use leadline_protocol::job::value::EngineName;
use leadline_protocol::plan::resolved::{Mode, ResolvedJob};
use serde_json::{Value, json};

/// Below this part of the depth asked for, the device was not kept as busy as asked; above, it is the time between
/// reaping and refilling.
const DEPTH_REACHED: f64 = 0.8;
/// From this part of its processors' time on, the runner was the limit: what is left is the timer's and the kernel's.
const BUSY_PERCENT: f64 = 95.0;

/// Whether the depth asked for was in flight. Jobs that are held back on purpose are left out.
pub(crate) fn depth(case: &Case) -> Option<Finding> {
    let jobs = case.jobs;
    let achieved = case
        .report
        .achieved_depth
        .filter(|_| !jobs.iter().any(is_held_back))?;
    let clones: u64 = jobs.iter().map(|job| u64::from(job.numjobs)).sum();
    let asked = jobs
        .iter()
        .map(|job| u64::from(job.ring.iodepth) * u64::from(job.numjobs))
        .sum::<u64>() as f64
        / clones.max(1) as f64;
    let evidence = [
        ("requested_depth", json!(asked)),
        ("achieved_depth", json!(achieved)),
    ];
    if asked <= 1.0 || achieved >= DEPTH_REACHED * asked {
        return None;
    }
    if jobs
        .iter()
        .all(|job| job.ring.ioengine == EngineName::Psync)
    {
        let sentence = format!("psync does one I/O at a time: the depth was 1, not {asked:.0}.");
        let remedy = "Use ioengine=io_uring, or numjobs for I/Os side by side.";
        let finding = Finding::new(Warning, "depth_is_one", sentence, &evidence, remedy);
        return Some(finding.with_rerun(("Rerun with io_uring", json!({"ioengine": "io_uring"}))));
    }
    let sentence =
        format!("{achieved:.1} I/Os were in flight on average, {asked:.0} were asked for.");
    let (remedy, label, patch) = if jobs.iter().any(|job| !job.direct) {
        (
            "Write direct=1: through the page cache an I/O is done, or waits, while it is submitted.",
            "Rerun direct".into(),
            json!({"direct": 1}),
        )
    } else {
        let (label, patch) = twice_the_jobs(jobs);
        (
            "More jobs (numjobs) submit side by side; a filesystem may also make writers wait for each other.",
            label,
            patch,
        )
    };
    Some(
        Finding::new(Warning, "depth_not_reached", sentence, &evidence, remedy)
            .with_rerun((&label, patch)),
    )
}

fn is_held_back(job: &ResolvedJob) -> bool {
    // Trims too: a clone does one at a time, which the plan minds.
    job.mode == Mode::Null
        || job.timing.thinktime_us > 0
        || job.has_rate()
        || job.pattern.rw.trims()
}

/// A patch is the same for all jobs of a run, so that it doubles the largest.
fn twice_the_jobs(jobs: &[ResolvedJob]) -> (String, Value) {
    let twice = 2 * jobs.iter().map(|job| job.numjobs).max().unwrap_or(1);
    (
        format!("Rerun with {twice} jobs"),
        json!({"numjobs": twice}),
    )
}

/// The runner's own threads were busy all the time; or everybody's together were, and ours had to wait for a processor.
pub(crate) fn cpu(case: &Case) -> Option<Finding> {
    let cpu = case.report.cpu?;
    let threads: u32 = case.jobs.iter().map(|job| job.numjobs).sum();
    let evidence = [
        ("process_percent", json!(cpu.process_percent)),
        ("host_percent", json!(cpu.host_percent)),
    ];
    let (ours, all) = (cpu.process_percent, cpu.host_percent);
    if ours >= BUSY_PERCENT * f64::from(threads) {
        let sentence = format!(
            "The processor was the limit, not the storage: the runner used {ours:.0} % of one."
        );
        let remedy = "Use more jobs (numjobs) on more processors, or larger I/Os.";
        let (label, patch) = twice_the_jobs(case.jobs);
        Some(
            Finding::new(Warning, "cpu_bound", sentence, &evidence, remedy)
                .with_rerun((&label, patch)),
        )
    } else if all >= BUSY_PERCENT {
        let sentence = format!(
            "All processors of this host were busy ({all:.0} %), while the runner used {ours:.0} % of one: its I/Os waited for a processor."
        );
        Some(
            Finding::new(
                Warning,
                "busy_host",
                sentence,
                &evidence,
                "Run it again when nothing else runs.",
            )
            .with_rerun(rerun::unchanged()),
        )
    } else {
        None
    }
}

/// What the device did beside this run, in either direction.
pub(crate) fn others(case: &Case) -> Option<Finding> {
    let device = case.report.device.as_ref()?;
    let ours = case.report.read.bytes + case.report.write.bytes;
    let beside = [Direction::Read, Direction::Write]
        .map(|direction| (direction, bytes_of_others(case, direction)));
    let (direction, moved) = beside.into_iter().max_by_key(|(_, moved)| *moved)?;
    let all: u64 = beside.iter().map(|(_, moved)| moved).sum();
    is_more(ours + all, ours).then(|| {
        let sentence = format!("{} did {} of {} that are not of this run.", device.name, bytes(moved), direction.noun());
        let numbers = [("read_bytes", json!(beside[0].1)), ("write_bytes", json!(beside[1].1))];
        let remedy = "Look who else uses the device (iotop -o, pidstat -d 1), and run again when it is quiet.";
        Finding::new(Warning, "foreign_io", sentence, &numbers, remedy).with_rerun(rerun::unchanged())
    })
}

/// Where no job goes in a direction, all that the device moved is others', but for what this process did by the way.
fn bytes_of_others(case: &Case, direction: Direction) -> u64 {
    if let Some(judged) = case
        .judged
        .iter()
        .find(|judged| judged.evidence.direction == direction)
    {
        return if judged.evidence.own.is_ok() {
            judged.shares.others
        } else {
            0
        };
    }
    let counts = case
        .report
        .device
        .as_ref()
        .map(|device| device.counts)
        .unwrap_or_default();
    let own = case.report.storage.unwrap_or_default();
    dir(direction, counts.read_bytes, counts.write_bytes).saturating_sub(dir(
        direction,
        own.read_bytes,
        own.write_bytes,
    ))
}
