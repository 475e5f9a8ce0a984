//! Order and random seeds of repeated steps.

use leadline_protocol::{
    job::Job,
    study::{definition::RepeatOrder, parse::MAX_SEED},
};
use rand::{Rng, SeedableRng, rngs::StdRng, seq::SliceRandom};
use serde_json::Value;

/// A run of a study: index of the step, and repeat from 1.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Turn {
    pub step: usize,
    pub repeat: u32,
}

/// All runs in order. Interleaved repeats are blocks with one run of each step in random order
/// (a randomized complete block design), except for a single repeat.
pub(crate) fn turns(steps: usize, repeats: u32, order: RepeatOrder, seed: u64) -> Vec<Turn> {
    if repeats == 1 || order == RepeatOrder::Sequential {
        let steps = 0..steps;
        return steps
            .flat_map(|step| (1..=repeats).map(move |repeat| Turn { step, repeat }))
            .collect();
    }
    let mut random = StdRng::seed_from_u64(seed);
    let mut turns = Vec::new();
    for repeat in 1..=repeats {
        let mut block: Vec<Turn> = (0..steps).map(|step| Turn { step, repeat }).collect();
        block.shuffle(&mut random);
        turns.extend(block);
    }
    turns
}

/// Sets the random seed of a repeated job unless it has one: equal in a block, so that its runs
/// access the same offsets, and new in each block.
pub(crate) fn with_seed(mut job: Value, parsed: &Job, repeat: u32, seed: u64) -> Value {
    let has_seed = parsed.randseed.is_some() || parsed.randrepeat.is_some();
    if let Some(options) = job.as_object_mut()
        && !has_seed
    {
        let block = StdRng::seed_from_u64(seed ^ u64::from(repeat)).next_u64();
        options.insert("randseed".into(), (block & MAX_SEED).into());
    }
    job
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn blocks_contain_each_step_once_in_random_order() {
        let turns = turns(3, 20, RepeatOrder::Interleaved, 7);
        let mut orders = BTreeSet::new();
        for (index, block) in turns.chunks(3).enumerate() {
            assert!(block.iter().all(|turn| turn.repeat as usize == index + 1));
            let order: Vec<usize> = block.iter().map(|turn| turn.step).collect();
            assert_eq!(BTreeSet::from_iter(order.clone()).len(), 3);
            orders.insert(order);
        }
        assert!(orders.len() > 3, "{orders:?}");
        assert_eq!(turns, super::turns(3, 20, RepeatOrder::Interleaved, 7));
        assert_ne!(turns, super::turns(3, 20, RepeatOrder::Interleaved, 8));
    }

    #[test]
    fn sequential_and_single_repeats_keep_the_order() {
        let order = |repeats, order| -> Vec<(usize, u32)> {
            let turns = turns(2, repeats, order, 7);
            turns.iter().map(|turn| (turn.step, turn.repeat)).collect()
        };
        assert_eq!(order(1, RepeatOrder::Interleaved), [(0, 1), (1, 1)]);
        assert_eq!(
            order(2, RepeatOrder::Sequential),
            [(0, 1), (0, 2), (1, 1), (1, 2)]
        );
    }
}
