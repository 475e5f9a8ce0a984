//! Which runs run, which wait, and for what. Pure: numbers and locks in, decisions out.
//!
//! A run holds a lock on everything it does I/O on: the devices under its targets, or their paths where there is no
//! device. Runs that share a lock never run side by side and keep their order; a run that shares none may overtake.

use leadline_protocol::run::QueuePosition;
use std::collections::{BTreeMap, BTreeSet};

/// What a run must have for itself: kernel names of devices, or paths.
pub type Locks = BTreeSet<String>;

/// The runs that wait and those that run.
#[derive(Debug)]
pub struct Queue {
    /// By number, which is the order in which they were asked for.
    waiting: BTreeMap<u64, Locks>,
    running: BTreeMap<u64, Locks>,
    /// How many may run side by side.
    max_running: usize,
}

impl Queue {
    /// An empty one.
    pub fn new(max_running: usize) -> Self {
        Self {
            waiting: BTreeMap::new(),
            running: BTreeMap::new(),
            max_running,
        }
    }

    /// Appends a run.
    pub fn push(&mut self, run: u64, locks: Locks) {
        self.waiting.insert(run, locks);
    }

    /// Takes a waiting run out, with its locks; `None` when it does not wait.
    pub fn withdraw(&mut self, run: u64) -> Option<Locks> {
        self.waiting.remove(&run)
    }

    /// The next run that may start; it counts as running from now on.
    pub fn start_next(&mut self) -> Option<u64> {
        let next = self
            .waiting
            .keys()
            .copied()
            .find(|run| self.obstacle(*run).is_none())?;
        let locks = self.waiting.remove(&next)?;
        self.running.insert(next, locks);
        Some(next)
    }

    /// A run gives its locks back.
    pub fn finish(&mut self, run: u64) {
        self.running.remove(&run);
    }

    /// Where a waiting run stands; `None` when it does not wait.
    pub fn place(&self, run: u64) -> Option<QueuePosition> {
        let position = self.waiting.keys().position(|waiting| *waiting == run)? as u64 + 1;
        Some(QueuePosition {
            position,
            reason: self.obstacle(run).unwrap_or_else(|| "starts now".into()),
        })
    }

    /// How many run, and how many wait.
    pub fn counts(&self) -> (usize, usize) {
        (self.running.len(), self.waiting.len())
    }

    /// The runs that run.
    pub fn running(&self) -> impl Iterator<Item = u64> {
        self.running.keys().copied()
    }

    /// What a waiting run waits for; `None` when it may start.
    fn obstacle(&self, run: u64) -> Option<String> {
        let locks = self.waiting.get(&run)?;
        let others = self.running.iter().chain(self.waiting.range(..run));
        // The latest of those in the way is the one that it comes right behind.
        let blocker = others
            .filter_map(|(other, held)| Some((*other, held.intersection(locks).next()?)))
            .max_by_key(|(other, _)| *other);
        match blocker {
            Some((other, shared)) if shared.starts_with("study ") => {
                Some(format!("runs after #{other} in {shared}"))
            }
            Some((other, shared)) => Some(format!("runs after #{other} on {shared}")),
            None if self.running.len() >= self.max_running => Some(format!(
                "{} runs run, and no more may side by side",
                self.running.len()
            )),
            None => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    /// Runs that wait, how many may run, and those that start at once.
    fn check(max_running: usize, runs: &[(u64, &str)], expect: &[u64]) {
        assert_eq!(start_all(&mut queue(max_running, runs)), expect, "{runs:?}");
    }

    #[test]
    fn same_device_waits_other_devices_overtake() {
        check(4, &[], &[]);
        check(4, &[(1, "vda"), (2, "vda")], &[1]);
        check(4, &[(1, "vda"), (2, "vdb")], &[1, 2]);
        check(4, &[(1, "vda"), (2, "vda vdb"), (3, "vdb")], &[1]);
        check(4, &[(1, "vda"), (2, "vda vdb"), (3, "vdc")], &[1, 3]);
        check(1, &[(1, "vda"), (2, "vdb")], &[1]);
        check(4, &[(1, ""), (2, ""), (3, "vda")], &[1, 2, 3]);
    }

    #[test]
    fn a_story_of_three_runs_on_one_device() {
        let mut queue = queue(4, &[(7, "vda"), (8, "vda"), (9, "vda")]);
        assert_eq!(start_all(&mut queue), [7]);
        assert_eq!(queue.place(7), None);
        assert_eq!(
            queue.place(8),
            Some(QueuePosition {
                position: 1,
                reason: "runs after #7 on vda".into()
            })
        );
        assert_eq!(
            queue.place(9),
            Some(QueuePosition {
                position: 2,
                reason: "runs after #8 on vda".into()
            })
        );
        assert_eq!(queue.withdraw(8), Some(locks("vda")));
        assert_eq!(queue.withdraw(8), None);
        assert_eq!(queue.place(9).unwrap().reason, "runs after #7 on vda");
        queue.finish(7);
        assert_eq!(start_all(&mut queue), [9]);
        assert_eq!((queue.counts(), queue.withdraw(9)), ((1, 0), None));
    }

    #[test]
    fn no_more_than_may_run_side_by_side() {
        let mut queue = queue(2, &[(1, "a"), (2, "b"), (3, "c")]);
        assert_eq!(start_all(&mut queue), [1, 2]);
        assert_eq!(
            queue.place(3).unwrap().reason,
            "2 runs run, and no more may side by side"
        );
        queue.finish(2);
        assert_eq!(start_all(&mut queue), [3]);
        assert_eq!(queue.running().collect::<Vec<_>>(), [1, 3]);
    }
}
