//! Silences: periods in which a worker has I/Os in flight and none of them completes. They are
//! checked once per sample, so up to one sample interval at the start and at the end may be missed.

use crate::{
    load::{pattern::io::Kind, stats::WorkerStats},
    system::clock::NS_PER_SECOND,
};
use leadline_protocol::plan::job::ResolvedJob;
use std::ops::Range;

/// Minimum length of a recorded silence, in ns.
pub(crate) const MIN_SILENCE_NS: u64 = NS_PER_SECOND;
/// Maximum number of recorded silences, which bounds memory use in runs without a time limit.
const MAX_SPANS: usize = 10_000;

#[derive(Debug, Default)]
pub(crate) struct Silence {
    /// Finished silences of at least [`MIN_SILENCE_NS`] (CLOCK_MONOTONIC, in ns).
    spans: Vec<Range<u64>>,
    /// The current silence, up to the last sample.
    current: Option<Range<u64>>,
    /// Time of the first sample since the last completion in which I/Os were in flight
    /// (CLOCK_MONOTONIC, in ns).
    waiting_since_ns: Option<u64>,
    ended_ios: u64,
}

impl Silence {
    /// Adds a sample. `is_exempt`: whether something other than the storage explains a lack of
    /// completions in this sample.
    pub(crate) fn push(&mut self, now_ns: u64, stats: &WorkerStats, is_exempt: bool) {
        let ended_ios = stats.ended();
        let has_progressed = ended_ios != self.ended_ios;
        self.ended_ios = ended_ios;
        let is_waiting = stats.in_flight.get() > 0;
        if has_progressed || !is_waiting {
            self.waiting_since_ns = None;
        }
        if is_waiting {
            self.waiting_since_ns.get_or_insert(now_ns);
        }
        match &mut self.current {
            Some(current) if is_waiting && !has_progressed && !is_exempt => current.end = now_ns,
            _ => {
                self.end();
                self.current = is_waiting.then_some(now_ns..now_ns);
            }
        }
    }

    /// Time of the first sample since the last completion in which I/Os were in flight, including
    /// exempt samples (CLOCK_MONOTONIC, in ns).
    pub(crate) fn waiting_since_ns(&self) -> Option<u64> {
        self.waiting_since_ns
    }

    /// Length of the current silence at the last sample, in ns.
    pub(crate) fn current_ns(&self) -> u64 {
        self.current.as_ref().map_or(0, length)
    }

    /// All silences of at least [`MIN_SILENCE_NS`], in order.
    pub(crate) fn finish(mut self) -> Vec<Range<u64>> {
        self.end();
        self.spans
    }

    fn end(&mut self) {
        if let Some(span) = self.current.take()
            && length(&span) >= MIN_SILENCE_NS
            && self.spans.len() < MAX_SPANS
        {
            self.spans.push(span);
        }
    }
}

fn length(span: &Range<u64>) -> u64 {
    span.end - span.start
}

/// Whether a worker is waiting for kernel writeback: an fsync or a throttled buffered write may
/// take long even if the job's devices work. `is_writing` returns whether a device (kernel name) is
/// completing writes.
pub(crate) fn waits_for_writeback(
    stats: &WorkerStats,
    job: &ResolvedJob,
    is_writing: impl Fn(&str) -> bool,
) -> bool {
    let waits = match stats.last_kind() {
        Kind::Sync | Kind::Datasync => true,
        Kind::Write => !job.direct,
        Kind::Read | Kind::Trim => false,
    };
    let mut devices = job
        .targets
        .iter()
        .filter_map(|target| target.device.as_deref());
    waits && devices.any(is_writing)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Spans in ms, for samples every 500 ms. Each sample has the completed I/Os, the I/Os in
    /// flight, and `is_exempt`.
    fn spans(samples: &[(u64, u64, bool)]) -> Vec<(u64, u64)> {
        let mut silence = Silence::default();
        for (index, (ended, in_flight, is_exempt)) in samples.iter().enumerate() {
            let stats = WorkerStats::default();
            stats.of(Kind::Read).ios.add(*ended);
            stats.in_flight.set(*in_flight);
            silence.push(500 * MS * (index as u64 + 1), &stats, *is_exempt);
        }
        let spans = silence.finish().into_iter();
        spans.map(|span| (span.start / MS, span.end / MS)).collect()
    }

    #[test]
    fn silence_is_time_in_flight_without_completions() {
        let hung = [(5, 1, false), (5, 1, false), (5, 1, false), (6, 1, false)];
        assert_eq!(spans(&hung), [(500, 1500)]);
        let from_the_first_io = [(0, 1, false); 5];
        assert_eq!(spans(&from_the_first_io), [(500, 2500)]);
        let idle = [(5, 0, false); 5];
        assert_eq!(spans(&idle), []);
        let short = [(5, 1, false), (5, 1, false), (6, 1, false), (6, 1, false)];
        assert_eq!(spans(&short), []);
    }

    #[test]
    fn exempt_samples_start_a_new_silence() {
        let mut samples = [(5, 1, false); 6];
        samples[2].2 = true;
        assert_eq!(spans(&samples), [(1500, 3000)]);
    }

    #[test]
    fn the_age_of_an_io_includes_exempt_samples() {
        let stats = WorkerStats::default();
        stats.in_flight.set(1);
        let mut silence = Silence::default();
        for (second, is_exempt) in [(1, false), (2, true), (3, false)] {
            silence.push(second * NS_PER_SECOND, &stats, is_exempt);
        }
        assert_eq!(silence.waiting_since_ns(), Some(NS_PER_SECOND));
        assert_eq!(silence.current_ns(), NS_PER_SECOND);
    }
}
