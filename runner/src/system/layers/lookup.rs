//! Where a byte range is now.

use crate::system::{
    host::fiemap::{self, Extent, each_extent_in},
    layers::{Below, Bypass, LayerBytes, Mapping, StoredFile},
};
use leadline_protocol::{
    counters::Residency,
    verdict::StorageLayer::{self, Device, LowerCache, PageCache, Unknown, Unwritten},
};
use rustix::{
    fs::{SeekFrom, seek},
    io::Errno,
    param::page_size,
};
use std::{ops::Range, os::fd::AsFd};

/// Larger partly cached ranges are not looked up page by page.
const MAX_PAGES: u64 = 64;

/// What a lookup assumes about pages.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Pages {
    /// For reads: a cached page serves them.
    Cached,
    /// For completed writes: only dirty pages hold them in memory.
    Dirty,
    /// For writes followed by a sync.
    Ignored,
}

impl StoredFile {
    /// Upper bound of the distance between a sequential reader and the end of its readahead, in
    /// bytes, on all layers; 0 without readahead. `is_buffered`: the page cache of this file reads
    /// ahead.
    pub(crate) fn readahead_bytes(&self, is_buffered: bool) -> u64 {
        let own = if is_buffered { self.readahead_bytes } else { 0 };
        match &*self.below {
            Below::File { file, direct, .. } => own.max(file.readahead_bytes(!direct)),
            _ => own,
        }
    }

    /// Where a read of the range would find its data. `direct`: the I/O uses O_DIRECT.
    pub(crate) fn read(&self, range: Range<u64>, direct: bool) -> LayerBytes {
        self.look_up(range, direct, Pages::Cached)
    }

    /// Where the data of a completed write is.
    pub(crate) fn written(&self, range: Range<u64>, direct: bool) -> LayerBytes {
        self.look_up(range, direct, Pages::Dirty)
    }

    /// Where the data of a completed write is, if it was followed by a sync.
    pub(crate) fn synced(&self, range: Range<u64>, direct: bool) -> LayerBytes {
        self.look_up(range, direct, Pages::Ignored)
    }

    /// The pages of a range; `None` if unknown.
    pub(crate) fn pages(&self, range: &Range<u64>) -> Option<Residency> {
        self.residency?.of_range(self.file.as_fd(), range).ok()
    }

    pub(crate) fn is_buffered(&self, range: &Range<u64>, direct: bool) -> bool {
        let is_aligned = |unit: u64| range.start % unit == 0 && range.end % unit == 0;
        match self.bypass {
            _ if !direct => true,
            Bypass::All => false,
            Bypass::Aligned(unit) => !is_aligned(unit),
            Bypass::None => true,
        }
    }

    fn look_up(&self, range: Range<u64>, direct: bool, pages: Pages) -> LayerBytes {
        let is_memory = matches!(*self.below, Below::Nothing);
        if is_memory && pages != Pages::Cached {
            return LayerBytes::all(PageCache, range.end - range.start);
        }
        if !self.is_buffered(&range, direct) {
            return self.below_cache(range, true, pages);
        }
        match pages {
            Pages::Cached => self.through_cache(range),
            Pages::Dirty => self.through_dirty_pages(range),
            Pages::Ignored => self.below_cache(range, false, pages),
        }
    }

    fn through_cache(&self, range: Range<u64>) -> LayerBytes {
        let length = range.end - range.start;
        let Some(cached) = self.pages(&range).map(|found| found.cached) else {
            return LayerBytes::all(Unknown, length);
        };
        if cached >= length {
            return LayerBytes::all(PageCache, length);
        }
        if cached == 0 {
            return self.below_cache(range, false, Pages::Cached);
        }
        if length > MAX_PAGES * page_size() as u64 {
            let mut found = LayerBytes::all(PageCache, cached);
            let below = self.below_cache(range, false, Pages::Cached);
            found += below.scaled_to(length - cached);
            return found;
        }
        let mut found = LayerBytes::default();
        for page in pages_of(range) {
            found += self.through_cache(page);
        }
        found
    }

    /// A dirty page holds the I/O: its data is not on the device.
    fn through_dirty_pages(&self, range: Range<u64>) -> LayerBytes {
        let length = range.end - range.start;
        let pending = self.pages(&range).and_then(Residency::pending_write_bytes);
        match pending {
            None => LayerBytes::all(Unknown, length),
            Some(0) => self.below_cache(range, false, Pages::Dirty),
            Some(pending) => {
                let pending = pending.min(length);
                let mut found = LayerBytes::all(PageCache, pending);
                found += self
                    .below_cache(range, false, Pages::Dirty)
                    .scaled_to(length - pending);
                found
            }
        }
    }

    fn below_cache(&self, range: Range<u64>, direct: bool, pages: Pages) -> LayerBytes {
        let length = range.end - range.start;
        match self.mapping {
            Mapping::Identity => self.below.look_up(Some(range), length, pages),
            Mapping::Fiemap { is_physical } => self.in_extents(&range, direct, is_physical, pages),
            Mapping::Seek => self.in_data(&range),
        }
    }

    fn in_extents(
        &self,
        range: &Range<u64>,
        direct: bool,
        is_physical: bool,
        pages: Pages,
    ) -> LayerBytes {
        let length = range.end - range.start;
        let mut found = LayerBytes::default();
        let mapped = each_extent_in(&self.file, range.clone(), |extent| {
            let start = extent.logical.max(range.start);
            let end = (extent.logical + extent.length).min(range.end);
            if start < end {
                found += self.in_extent(extent, start..end, direct, is_physical, pages);
            }
        });
        if let Err(error) = mapped {
            let has_no_extents = matches!(error, Errno::OPNOTSUPP | Errno::NOTTY);
            return match *self.below {
                Below::Unknown => LayerBytes::all(Unknown, length),
                _ if has_no_extents => self.in_data(range),
                _ => LayerBytes::all(Unknown, length),
            };
        }
        let hole = length.saturating_sub(found.total());
        if hole > 0 {
            found += self.in_hole(range, hole, direct, pages);
        }
        found
    }

    /// Without data on the device. Direct reads write dirty pages back first; a completed write
    /// without blocks was discarded in memory.
    fn in_hole(&self, range: &Range<u64>, bytes: u64, direct: bool, pages: Pages) -> LayerBytes {
        if pages != Pages::Cached {
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

    fn in_extent(
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
        if is(fiemap::UNWRITTEN) && pages == Pages::Cached {
            return self.in_hole(&part, length, direct, pages);
        }
        if is(fiemap::DELALLOC) && !direct && pages == Pages::Dirty {
            return LayerBytes::all(PageCache, length);
        }
        // btrfs decompresses in the page cache, also for direct reads.
        if is(fiemap::ENCODED) && direct && pages == Pages::Cached {
            let cached = self.pages(&part).map_or(0, |found| found.cached);
            if cached >= length {
                return LayerBytes::all(PageCache, length);
            }
        }
        let is_placed = is_physical && !is(fiemap::DELALLOC | fiemap::ENCODED);
        let place = is_placed.then(|| {
            let start = extent.physical + (part.start - extent.logical);
            start..start + length
        });
        self.below.look_up(place, length, pages)
    }

    /// Data that is not cached: swapped out, if this is memory.
    fn in_data(&self, range: &Range<u64>) -> LayerBytes {
        let length = range.end - range.start;
        let data = seek(&self.file, SeekFrom::Data(range.start));
        let is_hole = match data {
            Ok(start) => start >= range.end,
            Err(error) => error == Errno::NXIO,
        };
        if is_hole {
            return LayerBytes::all(Unwritten, length);
        }
        self.below.look_up(None, length, Pages::Cached)
    }

    /// The layer of any part of the file; `Unknown` if parts differ.
    fn anywhere(&self, length: u64, direct: bool, pages: Pages) -> LayerBytes {
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
        if matches!(*self.below, Below::Nothing) {
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

impl Below {
    /// `place`: offsets on this device; `None` if unknown.
    fn look_up(&self, place: Option<Range<u64>>, length: u64, pages: Pages) -> LayerBytes {
        let layer: StorageLayer = match self {
            Self::Disk => Device,
            Self::Memory => LowerCache,
            Self::Nothing | Self::Unknown => Unknown,
            Self::File {
                start,
                file,
                direct,
            } => {
                let found = match place {
                    Some(place) => {
                        file.look_up(start + place.start..start + place.end, *direct, pages)
                    }
                    None => file.anywhere(length, *direct, pages),
                };
                return found.below_a_device();
            }
        };
        LayerBytes::all(layer, length)
    }
}

/// The parts of a range in each page.
fn pages_of(range: Range<u64>) -> impl Iterator<Item = Range<u64>> {
    let page = page_size() as u64;
    let first = range.start - range.start % page;
    (first..range.end)
        .step_by(page_size())
        .map(move |start| start.max(range.start)..(start + page).min(range.end))
}
