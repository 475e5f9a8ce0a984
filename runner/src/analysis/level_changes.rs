//! Finds the times at which a run's IOPS shifted to a different level, for example because a
//! warm-up ended, a device's write cache was full, or throttling began.
//!
//! The measured window is divided into blocks of equal length, whose means are searched for change
//! points. Neighboring blocks are rarely independent, because the effects of writeback, caches and
//! other programs last for seconds. Therefore, blocks are joined until the means within a level
//! have little autocorrelation. If too few blocks remain, there is no result.

use leadline_protocol::{
    evidence::{level_change::LevelChange, transition::Direction},
    sample::Sample,
};
use leadline_stats::change_points::{self, ChangePoint, Parameters};

/// Maximum number of blocks, which limits memory use in long runs. Once it is reached, neighboring
/// blocks are joined in pairs. Must be even.
const MAX_BLOCKS: usize = 1024;
/// Initial number of blocks.
const BLOCKS: usize = 60;
/// Minimum number of blocks for a result.
const MIN_BLOCKS: usize = 12;
/// Minimum length of a block, in ms. A single burst would dominate a shorter block.
const MIN_BLOCK_MS: f64 = 500.0;
/// Minimum number of blocks in a level.
const MIN_LENGTH: usize = 3;
/// Smaller changes are not reported: storage varies by a few percent within most runs.
const MIN_CHANGE: f64 = 0.1;
const MAX_P: f64 = 0.001;
/// Largest autocorrelation of neighboring blocks within a level.
const MAX_AUTOCORRELATION: f64 = 0.3;

/// I/Os in a part of the measured window.
#[derive(Clone, Copy, Debug)]
struct Block {
    /// End, in ms since the start of the run.
    end_ms: f64,
    length_ms: f64,
    /// Reads and writes.
    ios: [u64; 2],
}

impl Block {
    fn join(self, next: Self) -> Self {
        let [reads, writes] = self.ios;
        Self {
            end_ms: next.end_ms,
            length_ms: self.length_ms + next.length_ms,
            ios: [reads + next.ios[0], writes + next.ios[1]],
        }
    }
}

/// Collects the samples of the measured window, in blocks of equal numbers of samples.
#[derive(Debug)]
pub(crate) struct Levels {
    blocks: Vec<Block>,
    samples_per_block: usize,
    /// Samples of the last block while it is incomplete.
    open: Option<(usize, Block)>,
}

impl Default for Levels {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            samples_per_block: 1,
            open: None,
        }
    }
}

impl Levels {
    /// `end_ms`: end of the sample, in ms since the start of the run.
    pub(crate) fn push(&mut self, end_ms: f64, sample: &Sample) {
        let block = Block {
            end_ms,
            length_ms: sample.window_ms,
            ios: [sample.read.ios, sample.write.ios],
        };
        let (samples, block) = match self.open.take() {
            Some((samples, open)) => (samples + 1, open.join(block)),
            None => (1, block),
        };
        if samples < self.samples_per_block {
            self.open = Some((samples, block));
            return;
        }
        self.blocks.push(block);
        if self.blocks.len() == MAX_BLOCKS {
            self.blocks = self.blocks.chunks(2).map(join_blocks).collect();
            self.samples_per_block *= 2;
        }
    }

    /// The changes of both directions, in order.
    pub(crate) fn changes(&self) -> Vec<LevelChange> {
        let directions = [Direction::Read, Direction::Write].into_iter();
        let mut all: Vec<LevelChange> = directions
            .flat_map(|direction| self.changes_of(direction))
            .collect();
        all.sort_by(|one, other| one.t_ms.total_cmp(&other.t_ms));
        all
    }

    fn changes_of(&self, direction: Direction) -> Vec<LevelChange> {
        let mut blocks = blocks(&self.blocks, BLOCKS);
        loop {
            let rates: Vec<f64> = blocks.iter().map(|block| iops(block, direction)).collect();
            if rates.len() < MIN_BLOCKS || rates.iter().all(|rate| *rate == 0.0) {
                return Vec::new();
            }
            let found = find(&rates);
            if autocorrelation(&rates, &found) <= MAX_AUTOCORRELATION {
                let change = |point: &ChangePoint| LevelChange {
                    t_ms: blocks[point.index].end_ms - blocks[point.index].length_ms,
                    direction,
                    before_iops: point.mean_before,
                    after_iops: point.mean_after,
                };
                return found.iter().map(change).collect();
            }
            blocks = blocks.chunks_exact(2).map(join_blocks).collect();
        }
    }
}

/// At most `count` blocks of about the same length. An incomplete last block is omitted.
fn blocks(all: &[Block], count: usize) -> Vec<Block> {
    let total_ms: f64 = all.iter().map(|block| block.length_ms).sum();
    let length_ms = (total_ms / count as f64).max(MIN_BLOCK_MS);
    let mut blocks = Vec::with_capacity(count);
    let mut open: Option<Block> = None;
    for block in all {
        let joined = open.map_or(*block, |open| open.join(*block));
        // The end of a block is accurate to half a sample.
        let is_complete = joined.length_ms >= length_ms - block.length_ms / 2.0;
        open = (!is_complete).then_some(joined);
        blocks.extend(is_complete.then_some(joined));
    }
    blocks
}

fn join_blocks(blocks: &[Block]) -> Block {
    let rest = blocks[1..].iter();
    rest.fold(blocks[0], |sum, next| sum.join(*next))
}

fn iops(block: &Block, direction: Direction) -> f64 {
    let [reads, writes] = block.ios;
    direction.select(reads, writes) as f64 / block.length_ms * 1000.0
}

fn find(rates: &[f64]) -> Vec<ChangePoint> {
    let parameters = Parameters {
        window: rates.len(),
        max_p: MAX_P,
        min_change: MIN_CHANGE,
        min_length: MIN_LENGTH,
    };
    change_points::find(rates, &parameters)
}

/// Returns the autocorrelation of neighboring rates, relative to the mean of their level.
fn autocorrelation(rates: &[f64], changes: &[ChangePoint]) -> f64 {
    let mut residuals = Vec::with_capacity(rates.len());
    let ends = changes.iter().map(|change| change.index);
    let mut start = 0;
    for end in ends.chain([rates.len()]) {
        let level = &rates[start..end];
        let mean = level.iter().sum::<f64>() / level.len() as f64;
        residuals.extend(level.iter().map(|rate| rate - mean));
        start = end;
    }
    let variance: f64 = residuals.iter().map(|residual| residual * residual).sum();
    let products = residuals.windows(2).map(|pair| pair[0] * pair[1]);
    // If all rates are equal, rounding errors are not noise.
    let largest = rates.iter().copied().fold(0.0, f64::max);
    if variance > (largest * 1e-9).powi(2) {
        products.sum::<f64>() / variance
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use leadline_protocol::{counters::IoCounts, phase::Phase};
    use rand::{RngExt, SeedableRng, rngs::Xoshiro256PlusPlus};

    fn sample(ios: u64) -> Sample {
        let counts = |ios| IoCounts {
            ios,
            bytes: ios * 4096,
            lat_ns: Vec::new(),
        };
        Sample {
            phase: Phase::Measure,
            window_ms: 100.0,
            read: counts(ios),
            write: counts(0),
            trim: counts(0),
            sync: counts(0),
            in_flight: 0,
            silent_ms: None,
            errors: 0,
            device: None,
            physical_devices: None,
            memory: None,
            cpu: None,
            pressure: None,
            storage: None,
            residency: None,
            gauge: None,
            steady_states: Vec::new(),
        }
    }

    /// Returns the level changes in a run of `seconds`: times in s, and changes in percent. `rate`:
    /// number of I/Os in the 100 ms that end at a time in s.
    fn changes(seconds: u32, mut rate: impl FnMut(f64) -> f64) -> Vec<(f64, f64)> {
        let mut levels = Levels::default();
        for number in 1..=seconds * 10 {
            let end_ms = f64::from(number) * 100.0;
            levels.push(end_ms, &sample(rate(end_ms / 1000.0) as u64));
        }
        let rounded = |change: LevelChange| {
            let percent = change.percent().unwrap();
            (change.t_ms / 1000.0, percent.round())
        };
        levels.changes().into_iter().map(rounded).collect()
    }

    fn noise(percent: f64) -> impl FnMut() -> f64 {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(7);
        move || 1.0 + percent / 100.0 * (rng.random::<f64>() - 0.5)
    }

    #[test]
    fn levels_and_their_changes_are_found() {
        let mut noise = noise(10.0);
        let mut at = |level: f64| level * noise();
        assert_eq!(changes(30, |_| at(1000.0)), []);
        let [(t_s, percent)] = changes(30, |t_s| at(if t_s <= 12.0 { 1000.0 } else { 700.0 }))[..]
        else {
            panic!("one change");
        };
        assert!((t_s - 12.0).abs() <= 0.5 && (percent + 30.0).abs() <= 1.0);
        // Stalls shorter than three blocks and changes below 10 % are not reported.
        let stall = |t_s: f64| {
            if (12.0..12.8).contains(&t_s) {
                0.0
            } else {
                1000.0
            }
        };
        assert_eq!(changes(30, |t_s| at(stall(t_s))), []);
        let small = |t_s: f64| if t_s <= 12.0 { 1000.0 } else { 950.0 };
        assert_eq!(changes(30, |t_s| at(small(t_s))), []);
        let two = changes(60, |t_s| match t_s {
            ..=20.0 => at(500.0),
            ..=40.0 => at(1000.0),
            _ => at(800.0),
        });
        assert_eq!(two.len(), 2, "{two:?}");
    }

    #[test]
    fn level_changes_depend_on_the_run_length() {
        assert_eq!(changes(5, |t_s| if t_s < 2.5 { 10.0 } else { 20.0 }), []);
        assert_eq!(changes(30, |_| 0.0), []);
        // A four-hour run.
        let found = changes(4 * 3600, |t_s| if t_s <= 7200.0 { 1000.0 } else { 500.0 });
        assert_eq!(found.len(), 1);
        assert!((found[0].0 - 7200.0).abs() < 300.0, "{found:?}");
    }

    /// A random walk has no levels, although neighboring parts differ.
    #[test]
    fn a_slow_drift_is_not_a_change() {
        let mut false_changes = 0;
        for seed in 0..100 {
            let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut level = 0.0;
            let found = changes(60, |_| {
                level = 0.98 * level + (rng.random::<f64>() - 0.5) * 40.0;
                1000.0 + level
            });
            false_changes += usize::from(!found.is_empty());
        }
        assert!(false_changes <= 5, "{false_changes} of 100");
    }
}
