//! Selects the target of the next I/O, like fio's `file_service_type=roundrobin`. A target that has
//! used its share of a pass is skipped until the pass ends, so targets of different sizes are
//! covered equally.

#[derive(Clone, Debug)]
pub(crate) struct RoundRobin {
    /// Bytes per pass, by target.
    shares: Vec<u64>,
    /// Bytes left in this pass, by target.
    left: Vec<u64>,
    last: usize,
}

impl RoundRobin {
    /// `bytes_per_pass`: by target, for at least one target.
    pub(crate) fn new(bytes_per_pass: impl Iterator<Item = u64>) -> Self {
        let shares: Vec<u64> = bytes_per_pass.collect();
        Self {
            left: shares.clone(),
            last: shares.len() - 1,
            shares,
        }
    }

    #[inline]
    pub(crate) fn next(&mut self) -> usize {
        let targets = self.shares.len();
        if targets > 1 {
            self.last = self.next_unfinished().unwrap_or_else(|| {
                self.left.copy_from_slice(&self.shares);
                (self.last + 1) % targets
            });
        }
        self.last
    }

    #[inline]
    pub(crate) fn add_bytes(&mut self, target: usize, bytes: u64) {
        if self.shares.len() > 1 {
            self.left[target] = self.left[target].saturating_sub(bytes);
        }
    }

    fn next_unfinished(&self) -> Option<usize> {
        let targets = self.shares.len();
        (1..=targets)
            .map(|step| (self.last + step) % targets)
            .find(|target| self.left[*target] > 0)
    }
}
