//! The latest events of an active run. Memory is limited: stored events are evicted, and slow
//! subscribers read them from the store. If events cannot be stored for a long time, some samples
//! lose their data.

use crate::{scheduler::outcome::StopRequest, store::events::without_sample};
use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::sync::watch;

/// Maximum number of stored events kept in memory: three seconds at the default sampling interval,
/// so subscribers that keep up never read from the store.
const KEEP_LINES: usize = 32;
/// Maximum size of stored events in memory, in bytes.
const KEEP_BYTES: usize = 256 * 1024;

/// Maximum size of all events in memory, in bytes: at least ten minutes at the default sampling
/// interval.
const MAX_BYTES: usize = 32 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct EventBuffer {
    tail: Mutex<Tail>,
    /// The next sequence number, sent whenever an event is added and when the buffer is closed.
    notify: watch::Sender<u64>,
    stop: watch::Sender<Option<StopRequest>>,
}

#[derive(Debug)]
struct Tail {
    lines: VecDeque<Arc<str>>,
    bytes: usize,
    /// Sequence number of the first line.
    first: u64,
    closed: bool,
    /// IOPS in the last sample.
    iops: f64,
}

#[derive(Debug, PartialEq)]
pub(crate) enum BufferRead {
    Lines(Vec<Arc<str>>),
    /// The requested events were evicted, so they must be read from the store.
    InStore,
    /// There are no new events yet.
    Empty,
    /// All events have been read, and the buffer is closed.
    Ended,
}

impl EventBuffer {
    /// Creates the buffer for a run whose events before `next` are already stored.
    pub(crate) fn new(next: u64) -> Self {
        let tail = Tail {
            lines: VecDeque::new(),
            bytes: 0,
            first: next,
            closed: false,
            iops: 0.0,
        };
        Self {
            tail: Mutex::new(tail),
            notify: watch::Sender::new(next),
            stop: watch::Sender::new(None),
        }
    }

    /// Publishes the next event.
    pub(crate) fn push(&self, line: Arc<str>) {
        let mut tail = self.tail();
        tail.bytes += line.len();
        tail.lines.push_back(line);
        if tail.bytes > MAX_BYTES {
            tail.remove_samples();
        }
        let next = tail.next();
        drop(tail);
        self.notify.send_replace(next);
    }

    /// Marks the events before `below` as stored and evicts old ones.
    pub(crate) fn mark_stored(&self, below: u64) {
        let mut tail = self.tail();
        while tail.first < below && (tail.lines.len() > KEEP_LINES || tail.bytes > KEEP_BYTES) {
            let Some(line) = tail.lines.pop_front() else {
                break;
            };
            tail.bytes -= line.len();
            tail.first += 1;
        }
    }

    /// Closes the buffer, which ends all subscriptions after the last event.
    pub(crate) fn close(&self) {
        self.tail().closed = true;
        self.notify.send_modify(|_| {});
    }

    /// Returns the events starting at sequence number `next`.
    pub(crate) fn read_from(&self, next: u64) -> BufferRead {
        let tail = self.tail();
        if next < tail.first {
            BufferRead::InStore
        } else if next < tail.next() {
            let start = (next - tail.first) as usize;
            BufferRead::Lines(tail.lines.range(start..).cloned().collect())
        } else if tail.closed {
            BufferRead::Ended
        } else {
            BufferRead::Empty
        }
    }

    /// Changes whenever the result of `read_from` may have changed.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.notify.subscribe()
    }

    /// Requests that the run stop. Later requests are ignored.
    pub(crate) fn request_stop(&self, request: StopRequest) {
        self.stop
            .send_if_modified(|stop| stop.is_none() && stop.replace(request).is_none());
    }

    pub(crate) fn stop_requests(&self) -> watch::Receiver<Option<StopRequest>> {
        self.stop.subscribe()
    }

    pub(crate) fn set_iops(&self, iops: f64) {
        self.tail().iops = iops;
    }

    pub(crate) fn iops(&self) -> f64 {
        self.tail().iops
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        // Ignore poisoning, because no code panics while it holds the lock.
        self.tail.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tail {
    fn next(&self) -> u64 {
        self.first + self.lines.len() as u64
    }

    /// Drops every other sample's data.
    fn remove_samples(&mut self) {
        let mut is_removed = false;
        for line in &mut self.lines {
            if let Some(short) = without_sample(line) {
                is_removed = !is_removed;
                if is_removed {
                    self.bytes -= line.len() - short.len().min(line.len());
                    *line = short;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(numbers: std::ops::Range<u64>) -> BufferRead {
        BufferRead::Lines(numbers.map(|n| n.to_string().into()).collect())
    }

    #[test]
    fn read_result_depends_on_position() {
        let buffer = EventBuffer::new(2);
        assert_eq!(buffer.read_from(0), BufferRead::InStore);
        assert_eq!(buffer.read_from(2), BufferRead::Empty);
        assert_eq!(buffer.read_from(9), BufferRead::Empty);
        buffer.push("2".into());
        buffer.push("3".into());
        assert_eq!(buffer.read_from(2), lines(2..4));
        assert_eq!(buffer.read_from(3), lines(3..4));
        buffer.close();
        assert_eq!(buffer.read_from(3), lines(3..4));
        assert_eq!(buffer.read_from(4), BufferRead::Ended);
        assert_eq!(buffer.read_from(1), BufferRead::InStore);
    }

    #[test]
    fn only_stored_events_are_evicted() {
        let buffer = EventBuffer::new(0);
        (0..100).for_each(|n| buffer.push(n.to_string().into()));
        assert_eq!(buffer.read_from(0), lines(0..100));
        buffer.mark_stored(90);
        assert_eq!(buffer.read_from(67), BufferRead::InStore);
        assert_eq!(buffer.read_from(68), lines(68..100));
        buffer.push("x".repeat(KEEP_BYTES).into());
        buffer.mark_stored(99);
        assert!(matches!(buffer.read_from(99), BufferRead::Lines(lines) if lines.len() == 2));
        assert_eq!(buffer.read_from(98), BufferRead::InStore);
    }

    #[test]
    fn sample_data_is_dropped_if_nothing_is_stored() {
        let buffer = EventBuffer::new(0);
        let pad = "x".repeat(MAX_BYTES / 64);
        for seq in 0..200 {
            let line = format!(r#"{{"seq":{seq},"t_ms":1.0,"type":"sample","pad":"{pad}"}}"#);
            buffer.push(line.into());
        }
        assert!(buffer.tail().bytes <= MAX_BYTES);
        let BufferRead::Lines(lines) = buffer.read_from(0) else {
            panic!("events are missing");
        };
        assert_eq!(
            lines.iter().map(|line| line.len()).sum::<usize>(),
            buffer.tail().bytes
        );
        for (seq, line) in lines.iter().enumerate() {
            assert!(line.starts_with(&format!(r#"{{"seq":{seq},"#)), "{seq}");
        }
        let kept = lines.iter().filter(|line| line.contains("sample")).count();
        assert!((16..64).contains(&kept), "{kept}");
    }

    #[test]
    fn later_stop_requests_are_ignored() {
        let buffer = EventBuffer::new(0);
        buffer.request_stop(StopRequest::Cancel);
        buffer.request_stop(StopRequest::Shutdown);
        assert_eq!(*buffer.stop_requests().borrow(), Some(StopRequest::Cancel));
    }
}
