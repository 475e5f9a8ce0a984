//! `verify_backlog`: reads back earlier writes in between writes (fio io_u.c, `check_get_verify`).
//!
//! Reads wait for all writes in flight, and writes wait for all reads, so a block does not change
//! while it is read. fio skips reads of blocks that are still being written.

#[cfg(test)]
mod tests;

use crate::load::{
    pattern::io::{Io, Kind},
    source::{Completed, DRAW, Source},
    stats::WorkerStats,
};
use leadline_protocol::plan::job::{ResolvedJob, VerifyBacklog};
use std::collections::VecDeque;

pub(crate) struct ReadBack<S> {
    source: S,
    options: VerifyBacklog,
    /// I/Os drawn from the source; `next..end` are not yet used.
    drawn: [Io; DRAW],
    next: usize,
    end: usize,
    /// Writes that have not been read back, oldest first.
    pending: VecDeque<Io>,
    /// Reads left in this batch.
    batch_left: u32,
    /// Whether the last I/O was a read.
    has_read: bool,
    /// Number of I/Os left. As in fio, reads count toward `number_ios`.
    ios_left: u64,
    /// Whether the due I/Os are reads.
    is_reading: bool,
    /// Whether the next I/O waits for I/Os in flight.
    is_waiting: bool,
    /// By slot.
    reads: Box<[bool]>,
    reads_in_flight: usize,
    others_in_flight: usize,
}

impl<S> ReadBack<S> {
    pub(crate) fn new(source: S, options: VerifyBacklog, job: &ResolvedJob, slots: usize) -> Self {
        let timing = &job.timing;
        let number_ios = timing.number_ios;
        Self {
            source,
            options,
            drawn: [Io::default(); DRAW],
            next: 0,
            end: 0,
            pending: VecDeque::with_capacity(options.writes as usize + 1),
            batch_left: 0,
            has_read: false,
            ios_left: number_ios.map_or(u64::MAX, |ios| ios.saturating_mul(timing.loops)),
            is_reading: false,
            is_waiting: false,
            reads: vec![false; slots].into(),
            reads_in_flight: 0,
            others_in_flight: 0,
        }
    }

    /// A batch begins when the number of writes that have not been read back is a multiple of
    /// `verify_backlog`. A batch that is larger than this number continues after the next write.
    fn next_read(&mut self) -> Option<Io> {
        let writes = self.pending.len();
        if self.batch_left == 0 {
            let is_due = writes > 0 && writes.is_multiple_of(self.options.writes as usize);
            if !is_due || self.has_read {
                return None;
            }
            self.batch_left = self.options.batch;
        }
        let write = self.pending.pop_front()?;
        self.batch_left -= 1;
        Some(Io {
            kind: Kind::Read,
            ..write
        })
    }
}

impl<S: Source> ReadBack<S> {
    fn next_io(&mut self) -> Option<Io> {
        let read = self.next_read();
        self.has_read = read.is_some();
        if read.is_some() {
            return read;
        }
        if self.next == self.end {
            self.next = 0;
            self.end = self.source.draw(&mut self.drawn);
        }
        let io = *self.drawn[..self.end].get(self.next)?;
        self.next += 1;
        if io.kind == Kind::Write {
            self.pending.push_back(io);
        }
        Some(io)
    }
}

impl<S: Source> Source for ReadBack<S> {
    fn draw(&mut self, out: &mut [Io]) -> usize {
        for (filled, slot) in out.iter_mut().enumerate() {
            if self.ios_left == 0 {
                return filled;
            }
            let Some(io) = self.next_io() else {
                return filled;
            };
            if matches!(io.kind, Kind::Read | Kind::Write) {
                self.ios_left -= 1;
            }
            *slot = io;
        }
        out.len()
    }

    fn due(&mut self, next: &[Io], since_begin_ns: u64) -> usize {
        let Some(first) = next.first() else { return 0 };
        self.is_reading = first.kind == Kind::Read;
        let others = if self.is_reading {
            self.others_in_flight
        } else {
            self.reads_in_flight
        };
        self.is_waiting = others > 0;
        if self.is_waiting {
            return 0;
        }
        let same = next
            .iter()
            .take_while(|io| (io.kind == Kind::Read) == self.is_reading)
            .count();
        if self.is_reading {
            same
        } else {
            self.source.due(&next[..same], since_begin_ns)
        }
    }

    fn next_due_ns(&self) -> Option<u64> {
        if self.is_waiting {
            None
        } else {
            self.source.next_due_ns()
        }
    }

    fn on_submit(&mut self, slot: u32) {
        self.reads[slot as usize] = self.is_reading;
        if self.is_reading {
            self.reads_in_flight += 1;
        } else {
            self.others_in_flight += 1;
            self.source.on_submit(slot);
        }
    }

    fn on_complete(&mut self, slot: u32, completed: &Completed, stats: &WorkerStats) {
        if self.reads[slot as usize] {
            self.reads_in_flight -= 1;
        } else {
            self.others_in_flight -= 1;
            self.source.on_complete(slot, completed, stats);
        }
    }

    fn on_error(&mut self, slot: u32) {
        if self.reads[slot as usize] {
            self.reads_in_flight -= 1;
        } else {
            self.others_in_flight -= 1;
            self.source.on_error(slot);
        }
    }
}
