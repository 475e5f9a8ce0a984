//! Looks up which layer currently holds a byte range.

use crate::system::{
    host::fiemap::{self, Extent, for_each_extent_in},
    layers::{Bypass, LayerBytes, LowerLayer, Mapping, StoredFile},
};
use leadline_protocol::{
    counters::Residency,
    verdict::StorageLayer::{self, Device, LowerCache, PageCache, Unknown, Unwritten},
};
use rustix::{
    fs::{SeekFrom, seek},
    io::{Errno, ReadWriteFlags, preadv2},
    param::page_size,
};
use std::{
    io::IoSliceMut,
    ops::Range,
    os::fd::{AsFd, BorrowedFd},
};

/// Maximum number of pages that are looked up individually in a partly cached range.
const MAX_PAGES: u64 = 64;

/// Which cached pages count as data held by the page cache.
#[derive(Clone, Copy, Debug)]
enum Pages {
    /// For reads: all cached pages.
    Cached,
    /// For completed writes: only dirty pages.
    Dirty,
    /// For writes followed by a sync: none.
    Ignored,
}

impl StoredFile {
    /// Upper bound on how far readahead across all layers can run ahead of a sequential reader, in
    /// bytes; 0 if there is no readahead. `is_buffered`: whether the I/O uses this file's page
    /// cache.
    pub(crate) fn readahead_bytes(&self, is_buffered: bool) -> u64 {
        let own = if is_buffered { self.readahead_bytes } else { 0 };
        match &*self.below {
            LowerLayer::File { file, direct, .. } => own.max(file.readahead_bytes(!direct)),
            _ => own,
        }
    }

    /// The layers that would serve a read of the range. `direct`: whether the I/O uses O_DIRECT.
    pub(crate) fn read(&self, range: Range<u64>, direct: bool) -> LayerBytes {
        self.look_up(range, direct, Pages::Cached)
    }

    /// The layers that hold the data of a completed write.
    pub(crate) fn written(&self, range: Range<u64>, direct: bool) -> LayerBytes {
        self.look_up(range, direct, Pages::Dirty)
    }

    /// The layers that hold the data of a completed write that was followed by a sync.
    pub(crate) fn synced(&self, range: Range<u64>, direct: bool) -> LayerBytes {
        let pages = if self.honors_sync {
            Pages::Ignored
        } else {
            Pages::Dirty
        };
        self.look_up(range, direct, pages)
    }

    /// Residency of all pages that a range overlaps; `None` if unknown.
    pub(crate) fn pages(&self, range: &Range<u64>) -> Option<Residency> {
        self.residency?
            .range_residency(self.file.as_fd(), range)
            .ok()
    }

    pub(crate) fn is_buffered(&self, range: &Range<u64>, direct: bool) -> bool {
        let is_aligned =
            |unit: u64| range.start.is_multiple_of(unit) && range.end.is_multiple_of(unit);
        match self.bypass {
            _ if !direct => true,
            Bypass::All => false,
            Bypass::Aligned(unit) => !is_aligned(unit),
            Bypass::None => true,
        }
    }

    fn look_up(&self, range: Range<u64>, direct: bool, pages: Pages) -> LayerBytes {
        let is_memory = matches!(*self.below, LowerLayer::Nothing);
        if is_memory && !pages.are_for_reads() {
            return LayerBytes::all(PageCache, range.end - range.start);
        }
        if !self.is_buffered(&range, direct) {
            return self.look_up_below_cache(range, true, pages);
        }
        match pages {
            Pages::Cached => self.look_up_through_cache(range),
            Pages::Dirty => self.look_up_dirty_pages(range),
            Pages::Ignored => self.look_up_below_cache(range, false, pages),
        }
    }

    fn look_up_through_cache(&self, range: Range<u64>) -> LayerBytes {
        let length = range.end - range.start;
        let pages = Pages::Cached;
        let Some(cached) = self.pages(&range).map(|found| found.cached) else {
            return LayerBytes::all(Unknown, length);
        };
        let page = page_size() as u64;
        let spanned_bytes = spanned_bytes(&range);
        if cached >= spanned_bytes {
            return self.look_up_cached_pages(range);
        }
        if cached == 0 || spanned_bytes <= page {
            return self.look_up_below_cache(range, false, pages);
        }
        if length > MAX_PAGES * page {
            let cached = cached.min(length);
            let mut found = LayerBytes::all(PageCache, cached);
            found += self
                .look_up_below_cache(range, false, pages)
                .scaled_to(length - cached);
            return found;
        }
        let mut found = LayerBytes::default();
        for page in split_into_pages(range) {
            found += self.look_up_through_cache(page);
        }
        found
    }

    /// Looks up a range whose pages are all cached. If blocks are smaller than a page, some blocks
    /// of a cached page may not have been read.
    fn look_up_cached_pages(&self, range: Range<u64>) -> LayerBytes {
        let page = page_size() as u64;
        let length = range.end - range.start;
        if self.cache_block_bytes >= page {
            return LayerBytes::all(PageCache, length);
        }
        // For a large range, only some of its pages are looked up.
        let step = (spanned_bytes(&range) / page).div_ceil(MAX_PAGES);
        let mut found = LayerBytes::default();
        for part in split_into_pages(range).step_by(step as usize) {
            found += match is_up_to_date(self.file.as_fd(), &part) {
                Some(true) => LayerBytes::all(PageCache, part.end - part.start),
                Some(false) => self.look_up_below_cache(part, false, Pages::Cached),
                None => LayerBytes::all(Unknown, part.end - part.start),
            };
        }
        found.scaled_to(length)
    }

    /// Looks up writes: data in a dirty page is not on the device yet.
    fn look_up_dirty_pages(&self, range: Range<u64>) -> LayerBytes {
        let length = range.end - range.start;
        let pending = self.pages(&range).and_then(Residency::pending_write_bytes);
        match pending {
            None => LayerBytes::all(Unknown, length),
            Some(0) => self.look_up_below_cache(range, false, Pages::Dirty),
            Some(pending) => {
                let pending = pending.min(length);
                let mut found = LayerBytes::all(PageCache, pending);
                found += self
                    .look_up_below_cache(range, false, Pages::Dirty)
                    .scaled_to(length - pending);
                found
            }
        }
    }

    fn look_up_below_cache(&self, range: Range<u64>, direct: bool, pages: Pages) -> LayerBytes {
        let length = range.end - range.start;
        match self.mapping {
            Mapping::Identity => self.below.look_up(Some(range), length, pages),
            Mapping::Fiemap { is_physical } => {
                self.look_up_extents(&range, direct, is_physical, pages)
            }
            Mapping::Seek => self.look_up_uncached_data(&range, pages),
        }
    }

    fn look_up_extents(
        &self,
        range: &Range<u64>,
        direct: bool,
        is_physical: bool,
        pages: Pages,
    ) -> LayerBytes {
        let length = range.end - range.start;
        let mut found = LayerBytes::default();
        let mapped = for_each_extent_in(&self.file, range.clone(), |extent| {
            let start = extent.logical.max(range.start);
            let end = (extent.logical + extent.length).min(range.end);
            if start < end {
                found += self.look_up_extent(extent, start..end, direct, is_physical, pages);
            }
        });
        if let Err(error) = mapped {
            let has_no_extents = matches!(error, Errno::OPNOTSUPP | Errno::NOTTY);
            return match *self.below {
                LowerLayer::Unknown => LayerBytes::all(Unknown, length),
                _ if has_no_extents => self.look_up_uncached_data(range, pages),
                _ => LayerBytes::all(Unknown, length),
            };
        }
        let hole = length.saturating_sub(found.total());
        if hole > 0 {
            found += self.look_up_hole(range, hole, direct, pages);
        }
        found
    }

    /// Looks up a range that has no data on the device. Direct reads first write back dirty pages.
    /// If no blocks are allocated after a completed write, the data was discarded while it was in
    /// memory.
    fn look_up_hole(
        &self,
        range: &Range<u64>,
        bytes: u64,
        direct: bool,
        pages: Pages,
    ) -> LayerBytes {
        if !pages.are_for_reads() {
            return LayerBytes::all(if direct { Device } else { PageCache }, bytes);
        }
        let is_dirty = || {
            let pending = self.pages(range).and_then(Residency::pending_write_bytes);
            pending.is_some_and(|pending| pending > 0)
        };
        if direct && is_dirty() {
            self.below.look_up(None, bytes, pages)
        } else {
            LayerBytes::all(Unwritten, bytes)
        }
    }

    fn look_up_extent(
        &self,
        extent: &Extent,
        part: Range<u64>,
        direct: bool,
        is_physical: bool,
        pages: Pages,
    ) -> LayerBytes {
        let length = part.end - part.start;
        let is = |flags: u32| extent.flags & flags != 0;
        if is(fiemap::DATA_INLINE) {
            return LayerBytes::all(PageCache, length);
        }
        if is(fiemap::UNWRITTEN) && pages.are_for_reads() {
            return self.look_up_hole(&part, length, direct, pages);
        }
        if is(fiemap::DELALLOC) && !direct && matches!(pages, Pages::Dirty) {
            return LayerBytes::all(PageCache, length);
        }
        // btrfs decompresses in the page cache, even for direct reads.
        if is(fiemap::ENCODED) && direct && pages.are_for_reads() {
            let cached = self.pages(&part).map_or(0, |found| found.cached);
            if cached >= spanned_bytes(&part) {
                return LayerBytes::all(PageCache, length);
            }
        }
        let has_location = is_physical && !is(fiemap::DELALLOC | fiemap::ENCODED);
        let location = has_location.then(|| {
            let start = extent.physical + (part.start - extent.logical);
            start..start + length
        });
        self.below.look_up(location, length, pages)
    }

    /// Looks up data that is not cached. In a memory filesystem, such data is swapped out.
    fn look_up_uncached_data(&self, range: &Range<u64>, pages: Pages) -> LayerBytes {
        let length = range.end - range.start;
        let data = seek(&self.file, SeekFrom::Data(range.start));
        let is_hole = match data {
            Ok(start) => start >= range.end,
            Err(error) => error == Errno::NXIO,
        };
        if is_hole {
            return LayerBytes::all(Unwritten, length);
        }
        self.below.look_up(None, length, pages)
    }

    /// The layer that holds an unspecified part of the file; `Unknown` if the parts are in
    /// different layers.
    fn look_up_unspecified_part(&self, length: u64, direct: bool, pages: Pages) -> LayerBytes {
        let Ok(stat) = self.file.metadata() else {
            return LayerBytes::all(Unknown, length);
        };
        let allocated = std::os::unix::fs::MetadataExt::blocks(&stat) * 512;
        let found = (!direct).then(|| self.pages(&(0..stat.len()))).flatten();
        let held = found.and_then(|found| match pages {
            Pages::Cached => Some(found.cached),
            Pages::Dirty => found.pending_write_bytes(),
            Pages::Ignored => Some(0),
        });
        if matches!(*self.below, LowerLayer::Nothing) {
            return LayerBytes::all(PageCache, length);
        }
        match held {
            None if !direct => LayerBytes::all(Unknown, length),
            None | Some(0) => self.below.look_up(None, length, pages),
            Some(held) if held >= allocated => LayerBytes::all(PageCache, length),
            Some(_) => LayerBytes::all(Unknown, length),
        }
    }
}

/// Whether a cached page's range can be read without I/O (RWF_NOWAIT in preadv(2)); `None` if the
/// filesystem does not report it.
fn is_up_to_date(file: BorrowedFd, range: &Range<u64>) -> Option<bool> {
    let mut buffer = [0; 4096];
    let mut offset = range.start;
    while offset < range.end {
        let length = buffer.len().min((range.end - offset) as usize);
        let parts = &mut [IoSliceMut::new(&mut buffer[..length])];
        match preadv2(file, parts, offset, ReadWriteFlags::NOWAIT) {
            Ok(read) if read == length => offset += length as u64,
            Ok(_) | Err(Errno::AGAIN) => return Some(false),
            Err(_) => return None,
        }
    }
    Some(true)
}

impl LowerLayer {
    /// `range`: byte range on this device; `None` if unknown.
    fn look_up(&self, range: Option<Range<u64>>, length: u64, pages: Pages) -> LayerBytes {
        let layer: StorageLayer = match self {
            Self::Disk => Device,
            Self::Memory => LowerCache,
            Self::Nothing | Self::Unknown => Unknown,
            Self::File {
                start,
                file,
                direct,
                ..
            } => {
                let found = match range {
                    Some(range) => {
                        let range = start + range.start..start + range.end;
                        file.look_up(range, *direct, pages)
                    }
                    None => file.look_up_unspecified_part(length, *direct, pages),
                };
                return found.with_page_cache_as_lower_cache();
            }
        };
        LayerBytes::all(layer, length)
    }
}

impl Pages {
    fn are_for_reads(self) -> bool {
        matches!(self, Self::Cached)
    }
}

/// Total size of all pages that a range overlaps, in bytes.
pub(crate) fn spanned_bytes(range: &Range<u64>) -> u64 {
    let page = page_size() as u64;
    range.end.next_multiple_of(page) - (range.start - range.start % page)
}

/// Splits a range at page boundaries.
fn split_into_pages(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let page = page_size() as u64;
    let first = range.start - range.start % page;
    (first..range.end)
        .step_by(page_size())
        .map(move |start| start.max(range.start)..(start + page).min(range.end))
}
