//! Who is compared. A contender knows how to be told a workload in its own words, and how to read its own result.

pub mod fio;
pub mod runner;
pub mod t_io_uring;

use anyhow::Result;
use serde::Serialize;

use crate::child::Invocation;
use crate::work::{Engine, Length, Work};

/// What a contender says of one measurement.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// I/Os done.
    pub ios: f64,
    /// I/Os a second, in its own measured window.
    pub iops: f64,
    /// I/Os in flight by Little's law (IOPS × mean latency); `None` where it records no latency.
    pub achieved_depth: Option<f64>,
}

/// A program that can do a workload.
pub trait Contender {
    /// What it is called in tables.
    fn name(&self) -> String;

    /// Whether it can do the workload as it is, and can be told how long to work.
    fn can(&self, work: &Work, length: Length) -> bool;

    /// Whether its random offsets may come again before every block had its turn. The two must not be compared: the
    /// processor's caches hit a block again the sooner.
    fn repeats(&self) -> bool;

    /// How it is started on the file or device `path`.
    fn invocation(&self, work: &Work, path: &str, length: Length) -> Invocation;

    /// What its output says.
    ///
    /// # Errors
    /// Where the output is not what it was when this was written.
    fn read(&self, output: &str, length: Length) -> Result<Counts>;
}

/// How many I/Os are handed over and taken back at once.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Batch {
    /// fio's `iodepth_batch_submit`.
    pub submit: u32,
    /// fio's `iodepth_batch_complete_min`.
    pub complete_min: u32,
}

impl Batch {
    /// All ways worth trying: one I/O, a quarter of the depth and all of it, for each of the two.
    pub fn all(work: &Work) -> Vec<Self> {
        let sizes = Self::sizes(work);
        let pairs = sizes.iter().flat_map(|submit| {
            sizes
                .iter()
                .map(move |complete_min| (*submit, *complete_min))
        });
        pairs
            .map(|(submit, complete_min)| Self {
                submit,
                complete_min,
            })
            .collect()
    }

    /// Those that hand over as many as they take back.
    pub fn even(work: &Work) -> Vec<Self> {
        Self::all(work)
            .into_iter()
            .filter(|batch| batch.submit == batch.complete_min)
            .collect()
    }

    fn sizes(work: &Work) -> Vec<u32> {
        let depth = if work.ioengine == Engine::Psync {
            1
        } else {
            work.iodepth
        };
        let mut sizes = vec![1, depth / 4, depth];
        sizes.retain(|size| *size > 0);
        sizes.dedup();
        sizes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::Cell;

    #[test]
    fn nothing_is_tried_twice() {
        let tries = |name: &str| {
            let cell = Cell::all()
                .into_iter()
                .find(|cell| cell.name == name)
                .unwrap();
            (Batch::all(&cell.work).len(), Batch::even(&cell.work).len())
        };
        assert_eq!(tries("hot16m-d1"), (1, 1));
        assert_eq!(tries("hot16m-psync"), (1, 1));
        assert_eq!(tries("file-d8"), (9, 3));
        assert_eq!(tries("hot16m-d32"), (9, 3));
    }
}
