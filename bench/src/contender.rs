//! Contenders: how to run a workload with a program, and how to parse its result.

pub mod fio;
pub mod runner;
pub mod t_io_uring;

use crate::{
    child::Invocation,
    work::{Engine, Length, Work},
};
use anyhow::Result;
use serde::Serialize;

#[derive(Clone, Copy, Debug)]
pub struct Counts {
    pub ios: f64,
    /// As reported by the program.
    pub iops: f64,
    /// By Little's law (IOPS × mean latency); `None` if the program records no latency.
    pub achieved_depth: Option<f64>,
}

pub trait Contender {
    fn name(&self) -> String;

    /// Whether the program supports this workload and run length.
    fn supports(&self, work: &Work, length: Length) -> bool;

    /// Whether random offsets may repeat before every block has been accessed. Such results are
    /// compared only with each other, because repeated blocks hit the CPU caches more often.
    fn may_repeat_offsets(&self) -> bool;

    /// Returns the command line that runs the workload on a file or device.
    fn invocation(&self, work: &Work, path: &str, length: Length) -> Invocation;

    fn parse(&self, output: &str, length: Length) -> Result<Counts>;
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
pub struct Batch {
    /// fio's `iodepth_batch_submit`.
    pub submit: u32,
    /// fio's `iodepth_batch_complete_min`.
    pub complete_min: u32,
}

impl Batch {
    /// All combinations of the batch sizes 1, a quarter of the depth, and the full depth.
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

    /// Combinations whose submit and completion batch sizes are the same.
    pub fn equal_sizes(work: &Work) -> Vec<Self> {
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
    fn batch_sizes_are_distinct() {
        let counts = |name: &str| {
            let cell = Cell::all()
                .into_iter()
                .find(|cell| cell.name == name)
                .unwrap();
            (
                Batch::all(&cell.work).len(),
                Batch::equal_sizes(&cell.work).len(),
            )
        };
        assert_eq!(counts("hot16m-d1"), (1, 1));
        assert_eq!(counts("hot16m-psync"), (1, 1));
        assert_eq!(counts("file-d8"), (9, 3));
        assert_eq!(counts("hot16m-d32"), (9, 3));
    }
}
