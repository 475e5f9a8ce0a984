//! The run queue: decides which runs may start, and why the others must wait. Pure.
//!
//! A run holds locks on the devices under its targets, or on their filesystem type if there is no
//! device. Runs that share a lock execute one at a time, in queue order; other runs may overtake
//! them. A run's queue order is its number or, for a retry, the number of the failed run. A run
//! with the lock [`HOST_LOCK`] executes alone.

use leadline_protocol::run::QueuePosition;
use std::collections::{BTreeMap, BTreeSet};

/// Kernel names of devices, filesystem types, target paths, study locks, or [`HOST_LOCK`].
pub(crate) type Locks = BTreeSet<String>;

/// Lock held by runs that affect all other runs, for example by dropping the page cache.
pub(crate) const HOST_LOCK: &str = "this host (drop_caches)";

/// Returns the first lock that two runs cannot hold at the same time.
fn conflict<'a>(held: &'a Locks, requested: &'a Locks) -> Option<&'a str> {
    if held.contains(HOST_LOCK) || requested.contains(HOST_LOCK) {
        return Some(HOST_LOCK);
    }
    held.intersection(requested).next().map(String::as_str)
}

/// Returns the last of these runs, in queue order, whose locks conflict with the requested ones.
fn latest_conflict<'a>(
    runs: impl DoubleEndedIterator<Item = (&'a Key, &'a Locks)>,
    requested: &'a Locks,
) -> Option<(Key, &'a str)> {
    runs.rev()
        .find_map(|(key, held)| Some((*key, conflict(held, requested)?)))
}

/// See `locks::study_lock`.
fn is_study_lock(lock: &str) -> bool {
    lock.starts_with("study ")
}

/// A run's queue order and number.
type Key = (u64, u64);

fn find_key(runs: &BTreeMap<Key, Locks>, run: u64) -> Option<Key> {
    runs.keys().find(|(_, number)| *number == run).copied()
}

/// Locks of all runs that are ahead of a waiting run.
#[derive(Default)]
struct HeldLocks<'a> {
    locks: BTreeSet<&'a str>,
    has_runs: bool,
}

impl<'a> HeldLocks<'a> {
    fn add(&mut self, locks: &'a Locks) {
        self.has_runs = true;
        self.add_devices(locks);
    }

    /// Adds the locks of a hung run, which does not block runs that use other devices.
    fn add_devices(&mut self, locks: &'a Locks) {
        self.locks.extend(locks.iter().map(String::as_str));
    }

    /// See `conflict`.
    fn conflicts_with(&self, requested: &Locks) -> bool {
        let is_exclusive = self.has_runs && requested.contains(HOST_LOCK);
        is_exclusive
            || self.locks.contains(HOST_LOCK)
            || requested
                .iter()
                .any(|lock| self.locks.contains(lock.as_str()))
    }
}

#[derive(Debug)]
pub(crate) struct Queue {
    waiting: BTreeMap<Key, Locks>,
    running: BTreeMap<Key, Locks>,
    /// Ended runs whose runner is stuck in the kernel. They hold only their device and filesystem
    /// locks.
    hung: BTreeMap<u64, Locks>,
    max_running: usize,
}

impl Queue {
    pub(crate) fn new(max_running: usize) -> Self {
        Self {
            waiting: BTreeMap::new(),
            running: BTreeMap::new(),
            hung: BTreeMap::new(),
            max_running,
        }
    }

    pub(crate) fn push_at(&mut self, run: u64, queue_order: u64, locks: Locks) {
        self.waiting.insert((queue_order, run), locks);
    }

    /// Returns the queue order of a waiting run.
    pub(crate) fn queue_order(&self, run: u64) -> Option<u64> {
        find_key(&self.waiting, run).map(|(queue_order, _)| queue_order)
    }

    /// Removes a waiting run and returns its locks.
    pub(crate) fn remove(&mut self, run: u64) -> Option<Locks> {
        self.waiting.remove(&find_key(&self.waiting, run)?)
    }

    /// Starts the next run that may start.
    pub(crate) fn start_next(&mut self) -> Option<u64> {
        let next = self.next()?;
        let locks = self.waiting.remove(&next)?;
        self.running.insert(next, locks);
        Some(next.1)
    }

    /// Returns the first waiting run for which `wait` is `None`. Collects the locks of all
    /// earlier runs, because comparing with each run would be slow in a long queue.
    fn next(&self) -> Option<Key> {
        if self.running.len() >= self.max_running {
            return None;
        }
        let mut held = HeldLocks::default();
        self.hung.values().for_each(|locks| held.add_devices(locks));
        self.running.values().for_each(|locks| held.add(locks));
        for (key, locks) in &self.waiting {
            if !held.conflicts_with(locks) {
                return Some(*key);
            }
            held.add(locks);
        }
        None
    }

    /// Releases the locks of a running or hung run.
    pub(crate) fn finish(&mut self, run: u64) {
        if let Some(key) = find_key(&self.running, run) {
            self.running.remove(&key);
        }
        self.hung.remove(&run);
    }

    /// Releases the host and study locks of a run whose runner is stuck in the kernel. Locks on
    /// devices and filesystems are kept.
    pub(crate) fn hang(&mut self, run: u64) {
        let running = find_key(&self.running, run).and_then(|key| self.running.remove(&key));
        if let Some(mut locks) = running {
            locks.retain(|lock| lock != HOST_LOCK && !is_study_lock(lock));
            self.hung.insert(run, locks);
        }
    }

    /// Returns the position of a waiting run.
    pub(crate) fn position(&self, run: u64) -> Option<QueuePosition> {
        let key = find_key(&self.waiting, run)?;
        let wait = self.wait(run);
        Some(QueuePosition {
            position: self.waiting.range(..=key).count() as u64,
            behind: wait.as_ref().and_then(|wait| wait.behind),
            reason: wait.map_or_else(|| "starting".into(), |wait| wait.reason),
        })
    }

    /// Returns the numbers of running and waiting runs.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.running.len(), self.waiting.len())
    }

    pub(crate) fn running(&self) -> impl Iterator<Item = u64> {
        self.running.keys().map(|(_, run)| *run)
    }

    /// Returns `None` if the run may start.
    fn wait(&self, run: u64) -> Option<Wait> {
        let key = find_key(&self.waiting, run)?;
        let locks = self.waiting.get(&key)?;
        let hung = self.hung.iter();
        let mut held =
            hung.filter_map(|(other, held)| Some((other, held.intersection(locks).next()?)));
        if let Some((other, device)) = held.next() {
            return Some(Wait {
                reason: format!("waiting for #{other}, whose I/O hangs on {device}"),
                behind: None,
            });
        }
        // The last conflicting run in queue order is the one that directly precedes this run.
        let running = latest_conflict(self.running.iter(), locks);
        let waiting = latest_conflict(self.waiting.range(..key), locks);
        let predecessor = running.into_iter().chain(waiting);
        let predecessor = predecessor.max_by_key(|(other, _)| *other);
        if let Some(((_, other), shared)) = predecessor {
            let preposition = if is_study_lock(shared) { "in" } else { "on" };
            return Some(Wait {
                reason: format!("waiting for #{other} {preposition} {shared}"),
                behind: Some(other),
            });
        }
        let running = self.running.len();
        (running >= self.max_running).then(|| Wait {
            reason: format!("concurrency limit reached ({running} running)"),
            behind: None,
        })
    }
}

/// Why a run does not start yet.
struct Wait {
    reason: String,
    behind: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scheduler::locks::study_lock;
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    impl Queue {
        fn push(&mut self, run: u64, locks: Locks) {
            self.push_at(run, run, locks);
        }
    }

    fn locks(text: &str) -> Locks {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn queue(max_running: usize, runs: &[(u64, &str)]) -> Queue {
        let mut queue = Queue::new(max_running);
        runs.iter()
            .for_each(|(run, held)| queue.push(*run, locks(held)));
        queue
    }

    fn start_all(queue: &mut Queue) -> Vec<u64> {
        std::iter::from_fn(|| queue.start_next()).collect()
    }

    /// Checks which waiting runs start.
    fn check(max_running: usize, runs: &[(u64, &str)], expect: &[u64]) {
        assert_eq!(start_all(&mut queue(max_running, runs)), expect, "{runs:?}");
    }

    #[test]
    fn runs_on_other_devices_overtake() {
        check(4, &[], &[]);
        check(4, &[(1, "vda"), (2, "vda")], &[1]);
        check(4, &[(1, "vda"), (2, "vdb")], &[1, 2]);
        check(4, &[(1, "vda"), (2, "vda vdb"), (3, "vdb")], &[1]);
        check(4, &[(1, "vda"), (2, "vda vdb"), (3, "vdc")], &[1, 3]);
        check(1, &[(1, "vda"), (2, "vdb")], &[1]);
        check(4, &[(1, ""), (2, ""), (3, "vda")], &[1, 2, 3]);
    }

    #[test]
    fn runs_on_one_device_start_in_order() {
        let mut queue = queue(4, &[(7, "vda"), (8, "vda"), (9, "vda")]);
        assert_eq!(start_all(&mut queue), [7]);
        assert_eq!(queue.position(7), None);
        for (run, place) in [(8, 1), (9, 2)] {
            let position = queue.position(run).unwrap();
            assert_eq!(position.position, place);
            assert_eq!(position.reason, format!("waiting for #{} on vda", run - 1));
            assert_eq!(position.behind, Some(run - 1));
        }
        assert_eq!(queue.remove(8), Some(locks("vda")));
        assert_eq!(queue.remove(8), None);
        assert_eq!(queue.position(9).unwrap().reason, "waiting for #7 on vda");
        queue.finish(7);
        assert_eq!(start_all(&mut queue), [9]);
        assert_eq!((queue.counts(), queue.remove(9)), ((1, 0), None));
    }

    #[test]
    fn runs_that_affect_the_host_run_alone() {
        let mut queue = queue(4, &[(1, "vda"), (3, "vdc"), (4, "vdd")]);
        queue.push(2, Locks::from([HOST_LOCK.to_owned(), "vdb".to_owned()]));
        assert_eq!(start_all(&mut queue), [1]);
        let reason = |queue: &Queue, run| queue.position(run).unwrap().reason;
        assert_eq!(
            reason(&queue, 2),
            "waiting for #1 on this host (drop_caches)"
        );
        assert_eq!(
            reason(&queue, 3),
            "waiting for #2 on this host (drop_caches)"
        );
        queue.finish(1);
        assert_eq!(start_all(&mut queue), [2]);
        queue.finish(2);
        assert_eq!(start_all(&mut queue), [3, 4]);
    }

    #[test]
    fn hung_run_holds_only_its_devices() {
        let mut queue = queue(1, &[(2, "vdb"), (3, "vda"), (4, "vdc")]);
        queue.push(
            1,
            Locks::from(["vda".into(), HOST_LOCK.into(), "study #1".into()]),
        );
        assert_eq!(start_all(&mut queue), [1]);
        queue.hang(1);
        assert_eq!(queue.counts(), (0, 3));
        assert_eq!(start_all(&mut queue), [2]);
        queue.finish(2);
        let position = queue.position(3).unwrap();
        assert_eq!(position.reason, "waiting for #1, whose I/O hangs on vda");
        assert_eq!(position.behind, None);
        assert_eq!(start_all(&mut queue), [4]);
        queue.finish(4);
        for (run, lock) in [(5, "study #1"), (0, HOST_LOCK)] {
            queue.push(run, Locks::from([lock.into()]));
            assert_eq!(start_all(&mut queue), [run]);
            queue.finish(run);
        }
        queue.finish(1);
        assert_eq!(start_all(&mut queue), [3]);
    }

    #[test]
    fn runs_in_a_study_start_in_order() {
        let study = |number| Locks::from([study_lock(number)]);
        let mut queue = Queue::new(4);
        for (run, number) in [(1, 7), (2, 7), (3, 8)] {
            queue.push(run, study(number));
        }
        assert_eq!(start_all(&mut queue), [1, 3]);
        let position = queue.position(2).unwrap();
        assert_eq!(position.reason, "waiting for #1 in study #7");
        queue.finish(1);
        assert_eq!(start_all(&mut queue), [2]);
    }

    #[test]
    fn a_retry_takes_the_queue_position_of_the_failed_run() {
        let mut queue = queue(4, &[(1, "vda"), (2, "vda"), (3, "vda")]);
        assert_eq!(start_all(&mut queue), [1]);
        queue.push_at(4, 1, locks("vda"));
        assert_eq!(queue.position(4).unwrap().position, 1);
        assert_eq!(queue.position(2).unwrap().reason, "waiting for #4 on vda");
        assert_eq!(
            (queue.queue_order(4), queue.queue_order(2)),
            (Some(1), Some(2))
        );
        queue.finish(1);
        assert_eq!(start_all(&mut queue), [4]);
        assert_eq!(queue.running().collect::<Vec<_>>(), [4]);
        queue.finish(4);
        assert_eq!(start_all(&mut queue), [2]);
    }

    /// A queue of runs with random locks, some of which are running or hung.
    fn random_queue(random: &mut StdRng) -> Queue {
        let mut queue = Queue::new(random.random_range(1..4));
        let names = ["vda", "vdb", "vdc", "study #1", "study #2", HOST_LOCK];
        for run in 0..random.random_range(0..12) {
            let held = names.into_iter().filter(|_| random.random_bool(0.2));
            queue.push(run, held.map(str::to_owned).collect());
            if random.random_bool(0.3) {
                queue.start_next();
            }
            let running = queue.running().next();
            if random.random_bool(0.1) {
                running.into_iter().for_each(|run| queue.hang(run));
            }
        }
        queue
    }

    #[test]
    fn next_run_is_the_first_with_no_reason_to_wait() {
        let mut random = StdRng::seed_from_u64(256);
        for _ in 0..5_000 {
            let queue = random_queue(&mut random);
            let mut waiting = queue.waiting.keys().copied();
            let first = waiting.find(|(_, run)| queue.wait(*run).is_none());
            assert_eq!(queue.next(), first, "{queue:?}");
        }
    }

    #[test]
    fn concurrency_is_limited() {
        let mut queue = queue(2, &[(1, "a"), (2, "b"), (3, "c")]);
        assert_eq!(start_all(&mut queue), [1, 2]);
        assert_eq!(
            queue.position(3).unwrap().reason,
            "concurrency limit reached (2 running)"
        );
        queue.finish(2);
        assert_eq!(start_all(&mut queue), [3]);
        assert_eq!(queue.running().collect::<Vec<_>>(), [1, 3]);
    }
}
