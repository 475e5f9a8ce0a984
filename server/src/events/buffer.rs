//! A run that has not come to its end, as its listeners see it: the newest events in memory, and a bell that rings when
//! there is a new one. Bounded: what is stored and old leaves memory, and who lags behind reads the store.

use crate::scheduler::states::Stop;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use tokio::sync::watch;

/// Stored events that stay in memory: three seconds at 100 ms, so that a listener in step never reads the store.
const KEEP_LINES: usize = 32;
/// The most bytes of stored events that stay in memory.
const KEEP_BYTES: usize = 256 * 1024;

/// A run that has not come to its end.
#[derive(Debug)]
pub struct Live {
    tail: Mutex<Tail>,
    /// Rings when the list grew or ended; its value is the next number.
    bell: watch::Sender<u64>,
    stop: watch::Sender<Option<Stop>>,
}

#[derive(Debug)]
struct Tail {
    lines: VecDeque<Arc<str>>,
    bytes: usize,
    /// Number of the first line in memory.
    first: u64,
    /// Events below this number are in the store.
    stored: u64,
    ended: bool,
    /// I/Os a second of the last window.
    iops: f64,
}

/// What comes next for a listener.
#[derive(Debug, PartialEq)]
pub enum Ahead {
    /// These lines.
    Lines(Vec<Arc<str>>),
    /// What the store has.
    Store,
    /// Nothing yet.
    Nothing,
    /// Nothing any more.
    End,
}

impl Live {
    /// A run whose events below `next` are in the store.
    pub fn new(next: u64) -> Self {
        let tail = Tail {
            lines: VecDeque::new(),
            bytes: 0,
            first: next,
            stored: next,
            ended: false,
            iops: 0.0,
        };
        Self {
            tail: Mutex::new(tail),
            bell: watch::Sender::new(next),
            stop: watch::Sender::new(None),
        }
    }

    /// Tells the next event.
    pub fn tell(&self, line: Arc<str>) {
        let mut tail = self.tail();
        tail.bytes += line.len();
        tail.lines.push_back(line);
        let next = tail.next();
        drop(tail);
        self.bell.send_replace(next);
    }

    /// Everything below this number is in the store now.
    pub fn stored(&self, below: u64) {
        let mut tail = self.tail();
        tail.stored = below;
        while tail.first < tail.stored && (tail.lines.len() > KEEP_LINES || tail.bytes > KEEP_BYTES)
        {
            let Some(line) = tail.lines.pop_front() else {
                break;
            };
            tail.bytes -= line.len();
            tail.first += 1;
        }
    }

    /// The last event was told.
    pub fn end(&self) {
        self.tail().ended = true;
        self.bell.send_modify(|_| {});
    }

    /// What comes next for a listener that has everything below `next`.
    pub fn ahead(&self, next: u64) -> Ahead {
        let tail = self.tail();
        if next < tail.first {
            Ahead::Store
        } else if next < tail.next() {
            Ahead::Lines(
                tail.lines
                    .range((next - tail.first) as usize..)
                    .cloned()
                    .collect(),
            )
        } else if tail.ended {
            Ahead::End
        } else {
            Ahead::Nothing
        }
    }

    /// Rings whenever `ahead` may have changed.
    pub fn bell(&self) -> watch::Receiver<u64> {
        self.bell.subscribe()
    }

    /// Asks the run to stop. Who asked first counts.
    pub fn ask_to_stop(&self, stop: Stop) {
        self.stop
            .send_if_modified(|asked| asked.is_none() && asked.replace(stop).is_none());
    }

    /// Who asked the run to stop.
    pub fn stop_asked(&self) -> watch::Receiver<Option<Stop>> {
        self.stop.subscribe()
    }

    /// Notes how fast it is at the moment, in I/Os a second.
    pub fn set_iops(&self, iops: f64) {
        self.tail().iops = iops;
    }

    /// How fast it is at the moment, in I/Os a second.
    pub fn iops(&self) -> f64 {
        self.tail().iops
    }

    fn tail(&self) -> MutexGuard<'_, Tail> {
        // A panic while it is held would have been ours, between two plain assignments.
        self.tail
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Tail {
    fn next(&self) -> u64 {
        self.first + self.lines.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str) -> Arc<str> {
        text.into()
    }

    #[test]
    fn early_late_and_lagging_listeners() {
        let live = Live::new(2);
        assert_eq!(
            (live.ahead(0), live.ahead(2), live.ahead(9)),
            (Ahead::Store, Ahead::Nothing, Ahead::Nothing)
        );
        live.tell(line("two"));
        live.tell(line("three"));
        assert_eq!(
            live.ahead(2),
            Ahead::Lines(vec![line("two"), line("three")])
        );
        assert_eq!(live.ahead(3), Ahead::Lines(vec![line("three")]));
        live.end();
        assert_eq!(
            (live.ahead(3), live.ahead(4), live.ahead(1)),
            (Ahead::Lines(vec![line("three")]), Ahead::End, Ahead::Store)
        );
    }

    #[test]
    fn only_what_is_stored_leaves_memory() {
        let live = Live::new(0);
        (0..100).for_each(|n| live.tell(line(&n.to_string())));
        assert!(matches!(live.ahead(0), Ahead::Lines(lines) if lines.len() == 100));
        live.stored(90);
        assert_eq!(
            (live.ahead(67), live.ahead(68)),
            (
                Ahead::Store,
                Ahead::Lines((68..100).map(|n| line(&n.to_string())).collect())
            )
        );
        live.tell(line(&"x".repeat(KEEP_BYTES)));
        live.stored(99);
        assert!(matches!(live.ahead(99), Ahead::Lines(lines) if lines.len() == 2));
        assert_eq!(live.ahead(98), Ahead::Store);
    }

    #[test]
    fn who_asked_first_counts() {
        let live = Live::new(0);
        live.ask_to_stop(Stop::Cancel);
        live.ask_to_stop(Stop::Server);
        assert_eq!(*live.stop_asked().borrow(), Some(Stop::Cancel));
    }
}
