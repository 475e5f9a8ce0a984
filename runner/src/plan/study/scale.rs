//! Fits the sizes of a study to the host: they are halved, all of them together, until they keep within its bounds, so
//! that the steps stay what they are to each other. Settled once for the whole study, when it is planned, and said.

use crate::plan::host_view::{HostView, PathKind};
use leadline_protocol::format::bytes;
use leadline_protocol::job::Job;
use leadline_protocol::job::value::Extent;
use leadline_protocol::study::StudySpec;
use leadline_protocol::study::scaling::Scale;
use leadline_protocol::study::scaling::Scaled;
use std::collections::BTreeMap;

/// What sizes are never halved below, in bytes: below it a run measures its own beginning.
const SMALLEST_BYTES: u64 = 1 << 20;

/// One bound on this host: what counts, how much of it there may be, and how it is called.
struct Bound {
    asked: u64,
    most: u64,
    name: String,
}

/// How the sizes of the study are to be fitted to this host.
pub(crate) fn fit(ask: &StudySpec, host: &dyn HostView) -> Scaled {
    let jobs: Vec<&Job> = ask.steps.iter().flat_map(|step| &step.ask.jobs).collect();
    let largest = jobs
        .iter()
        .filter_map(|job| job.size.and_then(Extent::bytes))
        .max()
        .unwrap_or(0);
    let plain = Scaled {
        note: ask.scale.note.clone(),
        ..Scaled::as_asked(largest)
    };
    let bounds = bounds(&ask.scale, &jobs, largest, host);
    let mut divided_by = 1;
    while bounds
        .iter()
        .any(|bound| bound.asked / divided_by > bound.most)
        && largest / divided_by / 2 >= SMALLEST_BYTES
    {
        divided_by *= 2;
    }
    // The tightest is the reason.
    let Some(bound) = bounds
        .iter()
        .filter(|_| divided_by > 1)
        .max_by_key(|bound| bound.asked / bound.most.max(1))
    else {
        return plain;
    };
    let (here, asked) = (bytes(largest / divided_by), bytes(largest));
    let sentence = format!(
        "Sizes are divided by {divided_by}, {here} at most instead of {asked}, to keep within {}.",
        bound.name
    );
    Scaled {
        divided_by,
        largest_bytes: largest / divided_by,
        sentence,
        ..plain
    }
}

fn bounds(scale: &Scale, jobs: &[&Job], largest: u64, host: &dyn HostView) -> Vec<Bound> {
    let share = |whole: u64, percent: u8| (u128::from(whole) * u128::from(percent) / 100) as u64;
    let most = scale.max_size.map(|most| Bound {
        asked: largest,
        most,
        name: format!("the {} that it asks for", bytes(most)),
    });
    let memory = scale.memory_percent.map(|percent| {
        let available = host.available_memory();
        let name = format!(
            "{percent} % of the memory that is available ({})",
            bytes(available)
        );
        Bound {
            asked: largest,
            most: share(available, percent),
            name,
        }
    });
    let free = scale
        .free_percent
        .zip(free_bytes(jobs, host))
        .map(|(percent, free)| {
            let name = format!("{percent} % of the free space ({})", bytes(free));
            Bound {
                asked: footprint(jobs),
                most: share(free, percent),
                name,
            }
        });
    [most, memory, free].into_iter().flatten().collect()
}

/// Room on the filesystem of the first file; `None` when the study works on devices only.
fn free_bytes(jobs: &[&Job], host: &dyn HostView) -> Option<u64> {
    let facts = jobs.iter().map(|job| host.path(&place(job)));
    facts
        .filter(|facts| facts.kind != PathKind::Device)
        .map(|facts| facts.free_bytes)
        .next()
}

fn place(job: &Job) -> String {
    let file = job
        .filename
        .as_ref()
        .and_then(|files| files.0.first())
        .cloned();
    let directory = job.directory.clone().unwrap_or_default();
    match file {
        Some(file) if directory.is_empty() => file,
        Some(file) => format!("{directory}/{file}"),
        None if directory.is_empty() => job.name.clone().unwrap_or_else(|| "job".into()),
        None => format!("{directory}/{}", job.name.as_deref().unwrap_or("job")),
    }
}

/// Bytes that all files of a study come to: the largest that is asked of each, and what is appended.
fn footprint(jobs: &[&Job]) -> u64 {
    let mut files: BTreeMap<String, u64> = BTreeMap::new();
    for job in jobs {
        let clones = if job.filename.is_some() {
            1
        } else {
            u64::from(job.numjobs.unwrap_or(1))
        };
        let size = job
            .size
            .and_then(Extent::bytes)
            .unwrap_or(0)
            .saturating_mul(clones);
        let file = files.entry(place(job)).or_default();
        *file = if job.file_append.is_some_and(|append| append.0) {
            file.saturating_add(size)
        } else {
            size.max(*file)
        };
    }
    files
        .values()
        .fold(0, |sum, size| sum.saturating_add(*size))
}
