//! A job's stalls: periods without completions that its latencies do not explain.

use crate::{
    run::{report::measured_worker::MeasuredWorker, sampler::silence::MIN_SILENCE_NS},
    system::clock::NS_PER_MS,
};
use leadline_protocol::{
    histogram::percentiles,
    report::{
        missing_time::{Stalls, TimeSpan},
        stats::DirectionStats,
    },
};
use std::{cmp::Reverse, ops::Range};

/// Silences of up to this many median latencies are not stalls. With 1 GiB I/Os, for example, a
/// second without completions is normal.
const MEDIAN_LATENCIES: u64 = 10;
const MAX_SPANS: usize = 100;

/// Spans are CLOCK_MONOTONIC times in ns.
struct WorkerStalls {
    spans: Vec<Range<u64>>,
    total_ns: u64,
    measured_ns: u64,
}

/// `origin_ns`: start of the run. `directions`: the job's statistics.
pub(super) fn stalls(
    workers: &[&MeasuredWorker],
    directions: [&DirectionStats; 3],
    origin_ns: u64,
) -> Stalls {
    let threshold_ns = threshold_ns(directions);
    let all = workers
        .iter()
        .map(|worker| worker_stalls(worker, threshold_ns));
    let stalled: Vec<WorkerStalls> = all.filter(|stalls| !stalls.spans.is_empty()).collect();
    let none = Stalls {
        threshold_ms: ms(threshold_ns),
        ..Stalls::default()
    };
    let workers = stalled.len() as u32;
    let Some(worst) = stalled.into_iter().max_by_key(|stalls| stalls.total_ns) else {
        return none;
    };
    let longest_ns = worst.spans.iter().map(length).max().unwrap_or(0);
    Stalls {
        count: worst.spans.len() as u64,
        total_ms: ms(worst.total_ns),
        longest_ms: ms(longest_ns),
        share: worst.total_ns as f64 / worst.measured_ns.max(1) as f64,
        workers,
        spans: longest_spans(worst.spans)
            .into_iter()
            .map(|span| TimeSpan {
                start_ms: ms(span.start.saturating_sub(origin_ns)),
                duration_ms: ms(length(&span)),
            })
            .collect(),
        ..none
    }
}

/// Minimum length of a stall in ns. Uses the median of the slowest direction: if all I/Os in flight
/// are writes, the median of fast reads is irrelevant. If no I/O completed, there is no median, and
/// `MIN_SILENCE_NS` applies.
fn threshold_ns(directions: [&DirectionStats; 3]) -> u64 {
    let medians = directions.iter().filter_map(|stats| {
        let median_ns = percentiles(&stats.lat_ns.buckets, &[50.0]);
        median_ns.first().copied()
    });
    (medians.max().unwrap_or(0) * MEDIAN_LATENCIES).max(MIN_SILENCE_NS)
}

/// Clips the silences to the measured window, because a blocked worker's silence can extend beyond
/// its end.
fn worker_stalls(worker: &MeasuredWorker, threshold_ns: u64) -> WorkerStalls {
    let window = worker.outcome.measure_ns..worker.outcome.end_ns;
    let spans = worker.silences.iter();
    let within = spans.map(|span| span.start.max(window.start)..span.end.min(window.end));
    let spans: Vec<Range<u64>> = within
        .filter(|span| span.end > span.start && length(span) >= threshold_ns)
        .collect();
    WorkerStalls {
        total_ns: spans.iter().map(length).sum(),
        spans,
        measured_ns: worker.measured_ns(),
    }
}

/// The longest spans, sorted by time.
fn longest_spans(mut spans: Vec<Range<u64>>) -> Vec<Range<u64>> {
    spans.sort_by_key(|span| Reverse(length(span)));
    spans.truncate(MAX_SPANS);
    spans.sort_by_key(|span| span.start);
    spans
}

fn length(span: &Range<u64>) -> u64 {
    span.end - span.start
}

fn ms(ns: u64) -> f64 {
    ns as f64 / NS_PER_MS as f64
}
