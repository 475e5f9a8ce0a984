//! The storage layers below a target, and which of them currently holds a byte range: the file's
//! page cache, the page cache of a loop device's backing file, none (holes and unwritten extents),
//! or a device. Files are followed through filesystems, partitions and loop devices, with their
//! offsets, down to a disk or to memory.
//!
//! A lookup takes about 0.4 µs for cached data and 1 to 3 µs more for each FIEMAP call (2-core VM,
//! Linux 6.18). Workers look up a sample of their I/Os (`load::layer_sampler`).

pub(crate) mod builder;
pub(crate) mod lookup;
#[cfg(test)]
mod tests;

use crate::system::{host::kernel::read_flag, probes::residency::ResidencyMethod};
use leadline_protocol::verdict::StorageLayer;
use std::{
    fs::File,
    ops::AddAssign,
    os::fd::{AsFd, BorrowedFd},
    path::PathBuf,
    sync::Arc,
};

/// A file or block device that has a page cache, and the layer below it.
#[derive(Debug)]
pub(crate) struct StoredFile {
    file: File,
    /// `None` if the kernel does not report this file's cached pages.
    residency: Option<ResidencyMethod>,
    bypass: Bypass,
    mapping: Mapping,
    below: Arc<LowerLayer>,
    /// Whether a sync writes the data to the device.
    honors_sync: bool,
    /// Upper bound on how far readahead can run ahead of a sequential reader, in bytes.
    readahead_bytes: u64,
    /// Smallest part of a page that can be read into this page cache separately, in bytes; at most
    /// the page size.
    cache_block_bytes: u64,
}

impl StoredFile {
    /// The file, open for reading.
    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Smallest part of a page that can be read separately into the page cache of any layer, in
    /// bytes.
    pub(crate) fn cache_block_bytes(&self) -> u64 {
        match &*self.below {
            LowerLayer::File { file, .. } => self.cache_block_bytes.min(file.cache_block_bytes()),
            _ => self.cache_block_bytes,
        }
    }

    /// Whether the lowest layer is memory (tmpfs, zram or a RAM disk).
    pub(crate) fn is_in_memory(&self) -> bool {
        match &*self.below {
            LowerLayer::Memory | LowerLayer::Nothing => true,
            LowerLayer::File { file, .. } => file.is_in_memory(),
            LowerLayer::Disk | LowerLayer::Unknown => false,
        }
    }

    /// Whether the loop devices below are still in the same I/O mode (direct or buffered).
    pub(crate) fn is_unchanged(&self) -> bool {
        match &*self.below {
            LowerLayer::File {
                file,
                direct,
                direct_attribute,
                ..
            } => (read_flag(direct_attribute) == Some(true)) == *direct && file.is_unchanged(),
            _ => true,
        }
    }

    /// The layer that holds written data after writeback from this file's page cache. `Unknown` if
    /// this changes over time, because the page cache of a loop device's backing file holds the
    /// data only temporarily.
    pub(crate) fn layer_of_writes(&self) -> StorageLayer {
        match &*self.below {
            LowerLayer::Disk => StorageLayer::Device,
            LowerLayer::Memory => StorageLayer::LowerCache,
            LowerLayer::Nothing => StorageLayer::PageCache,
            LowerLayer::Unknown => StorageLayer::Unknown,
            LowerLayer::File { file, direct, .. } if *direct && file.bypass != Bypass::None => {
                file.layer_of_writes()
            }
            LowerLayer::File { .. } => StorageLayer::Unknown,
        }
    }

    /// # Errors
    /// Returns the reason that cached pages cannot be counted.
    pub(crate) fn residency_method(&self) -> Result<ResidencyMethod, String> {
        self.residency
            .map_or_else(|| ResidencyMethod::detect(self.file()), Ok)
    }
}

/// Which direct I/Os bypass the page cache.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Bypass {
    All,
    /// Only direct I/Os aligned to this many bytes. The filesystem buffers all others.
    Aligned(u64),
    None,
}

/// The method for finding the location of a byte range on the device below.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mapping {
    /// A block device.
    Identity,
    Fiemap {
        /// Whether extents have offsets on the device below; false for btrfs, whose extents have
        /// logical addresses.
        is_physical: bool,
    },
    /// SEEK_DATA and SEEK_HOLE, for filesystems that do not support FIEMAP.
    Seek,
}

/// The layer below a file or device.
#[derive(Debug)]
enum LowerLayer {
    Disk,
    /// A RAM disk or zram.
    Memory,
    /// A loop device's backing file, or a partition's disk.
    File {
        /// Offset of the device's first byte in the file, in bytes.
        start: u64,
        file: StoredFile,
        /// Whether the loop device uses direct I/O on the file.
        direct: bool,
        /// Sysfs attribute with the current value of `direct`.
        direct_attribute: PathBuf,
    },
    /// No layer below, because the file is in memory (tmpfs): all data is cached or swapped out.
    Nothing,
    /// A network filesystem, FUSE, or a mix of disks and memory below dm or md.
    Unknown,
}

/// The bytes of one I/O, divided among the layers that hold them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct LayerBytes([u64; StorageLayer::COUNT]);

impl LayerBytes {
    pub(crate) fn all(layer: StorageLayer, bytes: u64) -> Self {
        let mut all = Self::default();
        all.add(layer, bytes);
        all
    }

    fn add(&mut self, layer: StorageLayer, bytes: u64) {
        self.0[layer as usize] += bytes;
    }

    pub(crate) fn of(&self, layer: StorageLayer) -> u64 {
        self.0[layer as usize]
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The lowest layer that the I/O needs.
    pub(crate) fn lowest(&self) -> StorageLayer {
        let mut layers = StorageLayer::TOP_DOWN.iter().rev();
        let lowest = layers.find(|layer| self.of(**layer) > 0);
        lowest.copied().unwrap_or(StorageLayer::Unknown)
    }

    /// The highest layer that holds any of the bytes.
    pub(crate) fn highest(&self) -> StorageLayer {
        let mut layers = StorageLayer::TOP_DOWN.iter();
        let highest = layers.find(|layer| self.of(**layer) > 0);
        highest.copied().unwrap_or(StorageLayer::Unknown)
    }

    /// Moves the page cache bytes to the lower cache, because only the topmost page cache belongs
    /// to the target itself; those below it belong to backing files.
    fn with_page_cache_as_lower_cache(mut self) -> Self {
        let cached = std::mem::take(&mut self.0[StorageLayer::PageCache as usize]);
        self.add(StorageLayer::LowerCache, cached);
        self
    }

    /// The same proportions, scaled to a different number of bytes.
    fn scaled_to(self, bytes: u64) -> Self {
        let total = self.total().max(1);
        let scaled = |part: u64| (u128::from(part) * u128::from(bytes) / u128::from(total)) as u64;
        let mut result = Self(self.0.map(scaled));
        let rest = bytes - result.total();
        result.add(self.lowest(), rest);
        result
    }
}

impl AddAssign for LayerBytes {
    fn add_assign(&mut self, other: Self) {
        for (sum, bytes) in self.0.iter_mut().zip(other.0) {
            *sum += bytes;
        }
    }
}
