//! Storage layers of a job's sampled I/Os.

use crate::{
    analysis::estimate::{LayerCounts, PartEstimate, merged},
    load::{
        histogram::Counter,
        layer_sampler::{layer_sums::LayerSums, write_samples::WriteSample},
        pattern::io::Kind,
    },
    run::report::measured_worker::MeasuredWorker,
    system::layers::{LayerBytes, StoredFile},
};
use leadline_protocol::{plan::job::ResolvedJob, report::layers::JobLayers, verdict::StorageLayer};
use rustix::param::page_size;
use std::sync::Arc;

pub(super) fn job_layers(job: &ResolvedJob, workers: &[&MeasuredWorker]) -> JobLayers {
    let files = workers.iter().flat_map(|worker| &worker.layers);
    JobLayers {
        page_bytes: page_size() as u64,
        cache_block_bytes: files.map(|file| file.cache_block_bytes()).min(),
        read: merged(workers.iter().filter_map(|worker| reads(worker))),
        write: merged(workers.iter().filter_map(|worker| writes(job, worker))),
    }
}

fn reads(worker: &MeasuredWorker) -> Option<PartEstimate> {
    let stats = worker.stats().of(Kind::Read);
    let ios = stats.ios.get();
    if ios == 0 || worker.layers.is_empty() {
        return None;
    }
    let counts = if are_layers_unchanged(worker) {
        counts(&stats.layers)
    } else {
        LayerCounts::default()
    };
    Some(PartEstimate {
        ios,
        bytes: stats.bytes.get(),
        estimate: counts.estimate(),
    })
}

/// Whether no loop device's direct I/O mode was changed during the run; otherwise, the samples are
/// wrong.
fn are_layers_unchanged(worker: &MeasuredWorker) -> bool {
    worker.layers.iter().all(|file| file.is_unchanged())
}

fn counts(sums: &LayerSums) -> LayerCounts {
    let numbers = |counters: &[Counter; StorageLayer::COUNT]| {
        std::array::from_fn(|index| counters[index].get() as f64)
    };
    LayerCounts {
        samples: sums.samples.get(),
        ios: numbers(&sums.ios),
        bytes: numbers(&sums.bytes),
        spread: sums.spread.get() as f64,
        overwritten: None,
    }
}

fn writes(job: &ResolvedJob, worker: &MeasuredWorker) -> Option<PartEstimate> {
    let stats = worker.stats();
    let ios = stats.of(Kind::Write).ios.get();
    let samples = if are_layers_unchanged(worker) {
        &worker.outcome.write_samples[..]
    } else {
        &[]
    };
    if ios == 0 || worker.layers.is_empty() {
        return None;
    }
    let syncs = Syncs {
        completed: stats.of(Kind::Sync).ios.get(),
        // With multiple I/Os in flight, the next sync to complete may have been submitted before
        // the write, so it may not cover the write.
        needed: if job.in_flight() > 1 { 2 } else { 1 },
        cover_all: worker.layers.len() == 1,
    };
    let mut counts = LayerCounts::default();
    let mut overwritten = 0.0;
    for sample in samples {
        let weight = sample.weight as f64;
        let found = look_up(sample, &worker.layers, job.direct, &syncs);
        counts.samples += 1;
        counts.ios[found.highest() as usize] += weight;
        for layer in StorageLayer::TOP_DOWN {
            counts.bytes[layer as usize] += weight * found.of(layer) as f64;
        }
        counts.spread += weight * (weight - 1.0);
        overwritten += if sample.was_dirty { weight } else { 0.0 };
    }
    counts.overwritten = Some(overwritten);
    Some(PartEstimate {
        ios,
        bytes: stats.of(Kind::Write).bytes.get(),
        estimate: counts.estimate(),
    })
}

/// Determines which of a worker's writes a completed sync covers.
struct Syncs {
    completed: u64,
    /// A write is covered after this many syncs have completed.
    needed: u64,
    /// Whether the worker has only one target, so that every sync covers all its writes.
    cover_all: bool,
}

fn look_up(
    sample: &WriteSample,
    files: &[Arc<StoredFile>],
    direct: bool,
    syncs: &Syncs,
) -> LayerBytes {
    let file = &files[usize::from(sample.io.target)];
    let range = sample.io.offset..sample.io.offset + u64::from(sample.io.len);
    let is_synced = syncs.cover_all && syncs.completed >= sample.syncs_before + syncs.needed;
    if is_synced {
        file.synced(range, direct)
    } else {
        file.written(range, direct)
    }
}
