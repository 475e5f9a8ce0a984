//! Selects the target of the next I/O (`file_service_type`). A target that has used up its share of
//! a pass is skipped until the pass ends, so targets of different sizes are covered equally.

use crate::load::pattern::offset_distribution::OffsetDistribution;
use leadline_protocol::job::file_service::{FileOrder, FileService};
use rand::{Rng, RngExt};

/// Resolution of the distribution from which files are drawn, as in fio (FIO_FSERVICE_SHIFT).
const RANKS_PER_FILE: u64 = 1 << 10;
/// Random draws before falling back to a linear search for an unfinished target. More are needed
/// only at the end of a pass.
const MAX_DRAWS: usize = 32;

#[derive(Clone, Debug)]
pub(crate) struct FileChooser {
    service: FileService,
    /// Distribution over `RANKS_PER_FILE` ranks per target.
    distribution: Option<Box<OffsetDistribution>>,
    /// Bytes per pass, by target.
    shares: Vec<u64>,
    /// Bytes left in this pass, by target.
    left: Vec<u64>,
    last: usize,
    /// I/Os left until another target is chosen.
    ios_left: u32,
}

impl FileChooser {
    /// `bytes_per_pass`: by target, for at least one target.
    pub(crate) fn new(
        service: FileService,
        bytes_per_pass: impl Iterator<Item = u64>,
        rng: &mut impl Rng,
    ) -> Self {
        let shares: Vec<u64> = bytes_per_pass.collect();
        let ranks = shares.len() as u64 * RANKS_PER_FILE;
        let distribution = service.distribution.as_ref();
        Self {
            distribution: distribution
                .map(|given| Box::new(OffsetDistribution::in_order(given, ranks, rng))),
            service,
            left: shares.clone(),
            last: shares.len() - 1,
            shares,
            ios_left: 0,
        }
    }

    #[inline]
    pub(crate) fn next(&mut self, rng: &mut impl Rng) -> usize {
        if self.shares.len() > 1 {
            self.choose(rng);
        }
        self.last
    }

    #[inline]
    pub(crate) fn add_bytes(&mut self, target: usize, bytes: u64) {
        if self.shares.len() > 1 {
            self.left[target] = self.left[target].saturating_sub(bytes);
        }
    }

    fn choose(&mut self, rng: &mut impl Rng) {
        let is_unfinished = self.left[self.last] > 0;
        let is_continued = match self.service.order {
            // The first chosen target is file 0.
            FileOrder::Sequential => self.left != self.shares,
            FileOrder::Roundrobin | FileOrder::Random => self.ios_left > 0,
        };
        if is_continued && is_unfinished {
            self.ios_left = self.ios_left.saturating_sub(1);
            return;
        }
        self.ios_left = self.service.ios - 1;
        if self.left.iter().all(|left| *left == 0) {
            self.left.copy_from_slice(&self.shares);
        }
        let targets = self.shares.len();
        if self.service.order == FileOrder::Random {
            for _ in 0..MAX_DRAWS {
                let target = match &mut self.distribution {
                    Some(ranks) => (ranks.next(rng) / RANKS_PER_FILE) as usize,
                    None => rng.random_range(0..targets),
                };
                if self.left[target] > 0 {
                    self.last = target;
                    return;
                }
            }
        }
        let next = (1..=targets)
            .map(|step| (self.last + step) % targets)
            .find(|target| self.left[*target] > 0);
        self.last = next.unwrap_or(self.last);
    }
}
