//! Order and random seeds of repeated steps.

use leadline_protocol::{
    job::Job,
    study::definition::{MAX_SEED, RepeatOrder},
};
use serde_json::Value;
use sha2::{Digest, Sha256};

/// A run in a study: the index of its step (from 0), and the number of its repeat (from 1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct StepRun {
    pub step: usize,
    pub repeat: u32,
}

/// All runs in order. Interleaved repeats form blocks with one run of each step in random order (a
/// randomized complete block design), unless there is only one repeat.
pub(crate) fn step_runs(steps: usize, repeats: u32, order: RepeatOrder, seed: u64) -> Vec<StepRun> {
    if repeats == 1 || order == RepeatOrder::Sequential {
        let steps = 0..steps;
        return steps
            .flat_map(|step| (1..=repeats).map(move |repeat| StepRun { step, repeat }))
            .collect();
    }
    let mut step_runs = Vec::new();
    for repeat in 1..=repeats {
        let mut block: Vec<StepRun> = (0..steps).map(|step| StepRun { step, repeat }).collect();
        block.sort_by_key(|step_run| random(seed, repeat, step_run.step as u64 + 1));
        step_runs.extend(block);
    }
    step_runs
}

/// Sets the random seed of a repeated job unless it has one. Runs in a block share a seed, so that
/// they access the same offsets; each block has a different seed.
pub(crate) fn with_seed(mut job: Value, parsed: &Job, repeat: u32, seed: u64) -> Value {
    let has_seed = parsed.randseed.is_some() || parsed.randrepeat.is_some();
    if let Some(options) = job.as_object_mut()
        && !has_seed
    {
        options.insert(
            "randseed".into(),
            (random(seed, repeat, 0) & MAX_SEED).into(),
        );
    }
    job
}

/// A pseudo-random number that is the same in every version, so that a study can be repeated.
fn random(seed: u64, repeat: u32, item: u64) -> u64 {
    let digest = Sha256::digest(format!("{seed} {repeat} {item}"));
    let first: [u8; 8] = std::array::from_fn(|index| digest[index]);
    u64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn blocks_contain_each_step_once_in_random_order() {
        let step_runs = step_runs(3, 20, RepeatOrder::Interleaved, 7);
        let mut orders = BTreeSet::new();
        for (index, block) in step_runs.chunks(3).enumerate() {
            assert!(
                block
                    .iter()
                    .all(|step_run| step_run.repeat as usize == index + 1)
            );
            let order: Vec<usize> = block.iter().map(|step_run| step_run.step).collect();
            assert_eq!(BTreeSet::from_iter(order.clone()).len(), 3);
            orders.insert(order);
        }
        assert!(orders.len() > 3, "{orders:?}");
        assert_eq!(
            step_runs,
            super::step_runs(3, 20, RepeatOrder::Interleaved, 7)
        );
        assert_ne!(
            step_runs,
            super::step_runs(3, 20, RepeatOrder::Interleaved, 8)
        );
    }

    #[test]
    fn sequential_and_single_repeats_keep_the_order() {
        let order = |repeats, order| -> Vec<(usize, u32)> {
            let step_runs = step_runs(2, repeats, order, 7);
            step_runs
                .iter()
                .map(|step_run| (step_run.step, step_run.repeat))
                .collect()
        };
        assert_eq!(order(1, RepeatOrder::Interleaved), [(0, 1), (1, 1)]);
        assert_eq!(
            order(2, RepeatOrder::Sequential),
            [(0, 1), (0, 2), (1, 1), (1, 2)]
        );
    }
}
