//! How a job's blocks are prepared: their method, pattern, stamps, and the position of the header.

use crate::load::verify::{block, header};
use leadline_protocol::{
    job::{verify_method::VerifyMethod, verify_pattern::VerifyPattern},
    plan::job::{DataOptions, VerifyOptions},
};
use std::borrow::Cow;

#[derive(Clone, Debug)]
pub(crate) struct Format {
    pub(crate) method: VerifyMethod,
    /// Position of the header in its block, in bytes.
    header_offset: usize,
    /// Pattern that fills all blocks. If `None`, each block is stamped with its offset and number.
    pub(crate) pattern: Option<VerifyPattern>,
}

impl Format {
    pub(crate) fn new(options: &VerifyOptions, data: &DataOptions) -> Self {
        let header_offset = usize::try_from(options.header_offset).unwrap_or(usize::MAX);
        Self::from_parts(options.method, header_offset, data.verify_pattern.clone())
    }

    pub(crate) fn from_parts(
        method: VerifyMethod,
        header_offset: usize,
        pattern: Option<VerifyPattern>,
    ) -> Self {
        Self {
            method,
            header_offset,
            pattern,
        }
    }

    /// Prepares a block, which must already contain its data unless the format has a pattern.
    #[inline]
    pub(crate) fn prepare(&self, block: &mut [u8], offset: u64, number: u64, worker: u32) {
        match &self.pattern {
            None => block::stamp(block, offset, number),
            Some(pattern) => pattern.fill(block, offset),
        }
        if self.method != VerifyMethod::Pattern {
            header::write(self.method, block, offset, number, worker);
            self.swap_header(block);
        }
    }

    /// Swaps the header and the data at its position, as in fio (verify.c, `memswp`).
    #[inline]
    fn swap_header(&self, block: &mut [u8]) {
        if self.header_offset > 0 {
            let (start, rest) = block.split_at_mut(self.header_offset);
            let length = self.method.header_bytes();
            start[..length].swap_with_slice(&mut rest[..length]);
        }
    }

    /// Moves the header from its position in the block to the start.
    pub(crate) fn with_header_first<'a>(&self, block: &'a [u8]) -> Cow<'a, [u8]> {
        if self.header_offset == 0 {
            return Cow::Borrowed(block);
        }
        let mut block = block.to_vec();
        self.swap_header(&mut block);
        Cow::Owned(block)
    }
}
