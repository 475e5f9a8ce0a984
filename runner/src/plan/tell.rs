//! What the number will tell: one sentence a job, in words that need no manual. The honest answer to "so how fast is my
//! disk?" before it is measured.

use leadline_protocol::format::bytes;
use leadline_protocol::job::value::{RwKind, SyncMode};
use leadline_protocol::plan::resolved::{Mode, ResolvedJob, TargetKind};

/// The sentences of all jobs, each once.
pub(crate) fn measures(jobs: &[ResolvedJob]) -> String {
    let mut sentences: Vec<String> = Vec::new();
    for sentence in jobs.iter().map(sentence) {
        if !sentences.contains(&sentence) {
            sentences.push(sentence);
        }
    }
    sentences.join(" ")
}

fn sentence(job: &ResolvedJob) -> String {
    let (what, place) = (workload(job), place(job));
    let waits =
        job.target.sync != SyncMode::None || job.pattern.fsync > 0 || job.pattern.fdatasync > 0;
    match job.mode {
        Mode::Null => format!(
            "How many {what} this runner could issue if they cost nothing: the ceiling of every other number from this host."
        ),
        Mode::Raw if job.direct => format!(
            "How fast {place} itself does {what}, with no filesystem and no page cache in between."
        ),
        Mode::Direct => format!("How fast {place} does {what}, past the page cache."),
        _ if job.pattern.rw.reads() && !job.pattern.rw.writes() => {
            format!(
                "How fast a program gets {what} from {place} through the page cache; what memory answers, the device never sees."
            )
        }
        _ if waits => format!("How fast {what} become durable on {place} through the page cache."),
        _ if job.pattern.rw.trims() => format!("How fast {place} does {what}."),
        _ => format!(
            "How fast memory takes {what} for {place}; most of them reach the device later, or after the run."
        ),
    }
}

/// Such as `random reads of 4 KiB at depth 32 from 4 clones`.
fn workload(job: &ResolvedJob) -> String {
    let kind = match job.pattern.rw {
        RwKind::Read => "sequential reads",
        RwKind::Write => "sequential writes",
        RwKind::Trim => "sequential trims",
        RwKind::Randread => "random reads",
        RwKind::Randwrite => "random writes",
        RwKind::Randtrim => "random trims",
        RwKind::Rw => "sequential reads and writes",
        RwKind::Randrw => "random reads and writes",
    };
    let clones = if job.numjobs > 1 {
        format!(" from {} clones", job.numjobs)
    } else {
        String::new()
    };
    format!(
        "{kind} of {} at depth {}{clones}",
        sizes(job),
        job.in_flight()
    )
}

fn sizes(job: &ResolvedJob) -> String {
    let used = [
        (job.pattern.rw.reads(), &job.pattern.bs.read),
        (job.pattern.rw.writes(), &job.pattern.bs.write),
        (job.pattern.rw.trims(), &job.pattern.bs.trim),
    ];
    let used: Vec<_> = used
        .into_iter()
        .filter(|(used, _)| *used)
        .map(|(_, bs)| bs)
        .collect();
    let min = used.iter().map(|bs| bs.min).min().unwrap_or(0);
    let max = used.iter().map(|bs| bs.max).max().unwrap_or(0);
    if min == max {
        bytes(min)
    } else {
        format!("{} to {}", bytes(min), bytes(max))
    }
}

/// Such as `ext4 on vda`, `the device vdb`.
fn place(job: &ResolvedJob) -> String {
    let Some(target) = job.targets.first() else {
        return "nothing".into();
    };
    match (target.kind, &target.filesystem, &target.device) {
        (TargetKind::Loop, ..) => format!("a loop device of our own on {}", target.path),
        (TargetKind::Device, _, Some(device)) => format!("the device {device}"),
        (_, Some(filesystem), Some(device)) => format!("{filesystem} on {device}"),
        (_, Some(filesystem), None) => format!("{filesystem} (no block device)"),
        _ => target.path.clone(),
    }
}
