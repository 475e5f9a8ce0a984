//! Records which pages were cached at the start of the measurement, on each layer. This is needed
//! if readahead brings pages into memory that the run has not read yet: such pages are cached when
//! they are read, but the device served them.

use crate::system::{
    host::cachestat::mincore_pages,
    layers::{LowerLayer, StoredFile},
};
use rustix::{
    fs::{SeekFrom, seek},
    param::page_size,
};
use std::{ops::Range, os::fd::AsFd};

/// Maximum file size: recording needs 1 MiB of memory and about 10 ms. Pages of larger files are
/// not recorded.
const MAX_FILE_BYTES: u64 = 4 << 30;

#[derive(Debug)]
pub(crate) struct Snapshot {
    /// One byte per page; bit 0 is set if the page was cached.
    pages: Vec<u8>,
    below: Option<Box<Snapshot>>,
}

impl Snapshot {
    /// `None` if a file is too large, or if its pages cannot be read.
    pub(crate) fn of(file: &StoredFile) -> Option<Self> {
        // Also works for devices, whose metadata does not contain their size.
        let length = seek(&file.file, SeekFrom::End(0)).ok()?;
        if length == 0 || length > MAX_FILE_BYTES {
            return None;
        }
        let pages = mincore_pages(file.file.as_fd(), 0, length as usize).ok()?;
        let below = match &*file.below {
            LowerLayer::File { file, .. } => Some(Box::new(Self::of(file)?)),
            _ => None,
        };
        Some(Self { pages, below })
    }

    pub(super) fn below(&self) -> Option<&Self> {
        self.below.as_deref()
    }

    /// Whether all pages of a range were cached.
    pub(super) fn has(&self, range: &Range<u64>) -> bool {
        let page = page_size() as u64;
        let first = (range.start / page) as usize;
        let end = (range.end.div_ceil(page)) as usize;
        let pages = self.pages.get(first..end);
        pages.is_some_and(|pages| pages.iter().all(|page| page & 1 == 1))
    }
}
