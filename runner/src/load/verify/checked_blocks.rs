//! Blocks that a worker checked between its writes (`verify_backlog`).

use crate::load::verify::finding::Finding;
use leadline_protocol::report::verify::MAX_FAILURES;

#[derive(Debug, Default)]
pub(crate) struct CheckedBlocks {
    pub blocks: u64,
    pub bytes: u64,
    pub bad_blocks: u64,
    /// The first bad blocks: the worker's target, the offset in it, and the damage.
    pub failures: Vec<(u16, u64, Finding)>,
}

impl CheckedBlocks {
    pub(super) fn add(&mut self, bytes: u64, target: u16, offset: u64, finding: Option<Finding>) {
        self.blocks += 1;
        self.bytes += bytes;
        let Some(finding) = finding else { return };
        self.bad_blocks += 1;
        if self.failures.len() < MAX_FAILURES {
            self.failures.push((target, offset, finding));
        }
    }
}
