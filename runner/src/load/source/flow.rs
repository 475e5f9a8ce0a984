//! `flow`: workers share I/Os in proportion to their weights (fio flow.c).
//!
//! fio has one counter for all members. Here each member has a counter that only it writes, and a
//! check adds up all of them.

#[cfg(test)]
mod tests;

use crate::load::{
    pattern::io::Io,
    source::{Completed, Source},
    stats::WorkerStats,
};
use leadline_protocol::plan::job::FlowOptions;
use std::sync::{
    Arc,
    atomic::{
        AtomicU64,
        Ordering::{Acquire, Relaxed, Release},
    },
};

/// Time between two checks if `flow_sleep` is not set, in ns. fio checks again immediately, which
/// keeps a CPU busy.
const POLL_NS: u64 = 10_000;
const NS_PER_US: u64 = 1000;

/// A run's members with the same `flow_id`.
#[derive(Debug, Default)]
pub(crate) struct FlowGroup {
    members: Box<[Member]>,
}

/// Aligned to two cache lines, because other members read it while its worker writes it.
#[derive(Debug, Default)]
#[repr(align(128))]
struct Member {
    /// 0 once its worker has ended.
    weight: AtomicU64,
    /// I/Os and syncs issued so far.
    issued: AtomicU64,
}

/// A worker's membership, which ends when the value is dropped.
#[derive(Debug)]
pub(crate) struct FlowMember {
    group: Arc<FlowGroup>,
    index: usize,
    options: FlowOptions,
}

impl FlowGroup {
    /// `weights`: one per member. All workers are members from the start of the run, even if they
    /// start later, as in fio (init.c, `add_job`).
    pub(crate) fn new(weights: impl Iterator<Item = u32>) -> Arc<Self> {
        let member = |weight| Member {
            weight: AtomicU64::new(u64::from(weight)),
            issued: AtomicU64::new(0),
        };
        Arc::new(Self {
            members: weights.map(member).collect(),
        })
    }

    /// I/Os and weights of all workers that have not ended. fio's counter starts at 1.
    fn totals(&self) -> (u64, u64) {
        let mut totals = (1, 0);
        for member in &self.members {
            let weight = member.weight.load(Acquire);
            if weight > 0 {
                totals.0 += member.issued.load(Relaxed);
                totals.1 += weight;
            }
        }
        totals
    }
}

impl FlowMember {
    pub(crate) fn new(group: Arc<FlowGroup>, index: usize, options: FlowOptions) -> Self {
        Self {
            group,
            index,
            options,
        }
    }

    /// Returns the number of I/Os that this worker may issue now, at most `max`. Its share of the
    /// issued I/Os must not exceed its share of the weights (`flow_threshold_exceeded`).
    fn allowance(&self, max: usize) -> usize {
        let (total, weights) = self.group.totals();
        let issued = self.group.members[self.index].issued.load(Relaxed);
        let weight = u64::from(self.options.weight);
        let is_allowed = |next: u64| {
            let own = u128::from(issued + next) * u128::from(weights);
            own <= u128::from(weight) * u128::from(total + next)
        };
        (0..max).take_while(|next| is_allowed(*next as u64)).count()
    }

    fn count(&self, ios: usize) {
        let issued = &self.group.members[self.index].issued;
        issued.store(issued.load(Relaxed) + ios as u64, Relaxed);
    }
}

impl Drop for FlowMember {
    /// The remaining workers keep their weights (`flow_exit_job`).
    fn drop(&mut self) {
        self.group.members[self.index].weight.store(0, Release);
    }
}

/// A source that waits while its worker exceeds its share.
pub(crate) struct FlowLimited<S> {
    source: S,
    member: FlowMember,
    in_flight: usize,
    /// When to check the share again, in ns since the worker started.
    resume_ns: Option<u64>,
    /// Whether the worker waits for its I/Os in flight before it sleeps.
    quiesces: bool,
}

impl<S> FlowLimited<S> {
    pub(crate) fn new(source: S, member: FlowMember) -> Self {
        Self {
            source,
            member,
            in_flight: 0,
            resume_ns: None,
            quiesces: false,
        }
    }

    /// Pauses the worker because it exceeds its share. If `flow_sleep` is set, the worker sleeps
    /// once nothing is in flight.
    fn wait(&mut self, now_ns: u64) {
        let sleep_ns = u64::from(self.member.options.sleep_us) * NS_PER_US;
        self.quiesces = sleep_ns > 0 && self.in_flight > 0;
        let pause_ns = if sleep_ns > 0 { sleep_ns } else { POLL_NS };
        self.resume_ns = (!self.quiesces).then(|| now_ns + pause_ns);
    }
}

impl<S: Source> Source for FlowLimited<S> {
    fn draw(&mut self, out: &mut [Io]) -> usize {
        self.source.draw(out)
    }

    fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize {
        if next.is_empty()
            || self
                .resume_ns
                .is_some_and(|resume_ns| since_begin_ns < resume_ns)
        {
            return 0;
        }
        if std::mem::take(&mut self.quiesces) {
            self.wait(since_begin_ns);
            return 0;
        }
        self.resume_ns = None;
        let allowed = self.member.allowance(next.len());
        if allowed == 0 {
            self.wait(since_begin_ns);
            return 0;
        }
        let due = self.source.due(&next[..allowed], since_begin_ns);
        self.member.count(due);
        due
    }

    fn next_due_ns(&self) -> Option<u64> {
        if self.quiesces {
            return None;
        }
        self.resume_ns.or_else(|| self.source.next_due_ns())
    }

    fn on_submit(&mut self, slot: u32) {
        self.in_flight += 1;
        self.source.on_submit(slot);
    }

    fn on_complete(&mut self, slot: u32, completed: &Completed, stats: &WorkerStats) {
        self.in_flight -= 1;
        self.source.on_complete(slot, completed, stats);
    }

    fn on_error(&mut self, slot: u32) {
        self.in_flight -= 1;
        self.source.on_error(slot);
    }
}
