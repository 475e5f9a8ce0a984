//! Which file the next I/O goes to: each in turn (fio's `roundrobin`). A file that had its share of the pass is left
//! out until all had theirs, so that files of different lengths are covered alike.

/// The turn of the files.
#[derive(Clone, Debug)]
pub(crate) struct Rotation {
    /// Bytes of each file in a pass.
    whole: Vec<u64>,
    /// Bytes of each file still to move in this pass.
    left: Vec<u64>,
    last: usize,
}

impl Rotation {
    /// Files with so many bytes a pass each; at least one.
    pub fn new(bytes_per_pass: impl Iterator<Item = u64>) -> Self {
        let whole: Vec<u64> = bytes_per_pass.collect();
        Self {
            left: whole.clone(),
            last: whole.len() - 1,
            whole,
        }
    }

    /// The file of the next I/O.
    #[inline]
    pub fn next(&mut self) -> usize {
        let files = self.whole.len();
        if files > 1 {
            self.last = self.next_unfinished().unwrap_or_else(|| {
                self.left.copy_from_slice(&self.whole);
                (self.last + 1) % files
            });
        }
        self.last
    }

    /// So many bytes of this file were issued.
    #[inline]
    pub fn moved(&mut self, file: usize, bytes: u64) {
        if self.whole.len() > 1 {
            self.left[file] = self.left[file].saturating_sub(bytes);
        }
    }

    fn next_unfinished(&self) -> Option<usize> {
        let files = self.whole.len();
        (1..=files)
            .map(|step| (self.last + step) % files)
            .find(|file| self.left[*file] > 0)
    }
}
