//! The layers of storage below a target, and which of them holds a byte range right now: the page
//! cache of the file, the cache of a loop device's backing file, nothing (holes and unwritten
//! extents), or a device. Files are followed through filesystems, partitions and loop devices, each
//! with its own offset, down to a disk or to memory.
//!
//! A lookup takes about 0.4 µs for cached data and 1 to 3 µs more for each FIEMAP call (2-core VM,
//! Linux 6.18). Workers look up a sample of their own I/Os (`load::layer_sampler`).

pub(crate) mod builder;
pub(crate) mod lookup;
pub(crate) mod snapshot;
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

/// A file or block device with a page cache, and what is below it.
#[derive(Debug)]
pub(crate) struct StoredFile {
    file: File,
    /// `None` if the kernel does not report cached pages of this file.
    residency: Option<ResidencyMethod>,
    bypass: Bypass,
    mapping: Mapping,
    below: Arc<Below>,
    /// Syncs write the data to the device.
    honors_sync: bool,
    /// Upper bound of the distance between a sequential reader and the end of its readahead.
    readahead_bytes: u64,
}

impl StoredFile {
    /// Open for reading.
    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Whether the loop devices below still use the same kind of I/O.
    pub(crate) fn is_unchanged(&self) -> bool {
        match &*self.below {
            Below::File {
                file,
                direct,
                direct_attribute,
                ..
            } => (read_flag(direct_attribute) == Some(true)) == *direct && file.is_unchanged(),
            _ => true,
        }
    }

    /// # Errors
    /// The reason why cached pages cannot be counted.
    pub(crate) fn residency_method(&self) -> Result<ResidencyMethod, String> {
        self.residency
            .map_or_else(|| ResidencyMethod::detect(self.file()), Ok)
    }
}

/// Which direct I/Os bypass the page cache.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Bypass {
    All,
    /// Others are buffered by the filesystem.
    Aligned(u64),
    None,
}

/// How to find the place of a byte range on the device below.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
enum Mapping {
    /// A block device.
    Identity,
    Fiemap {
        /// Extents have offsets of the device below; false for btrfs, whose offsets are logical.
        is_physical: bool,
    },
    /// Without FIEMAP: SEEK_DATA and SEEK_HOLE.
    Seek,
}

/// What is below a file or device.
#[derive(Debug)]
enum Below {
    Disk,
    /// A RAM disk or zram.
    Memory,
    /// A file of a loop device, or the disk of a partition.
    File {
        /// Offset of the device's first byte in the file.
        start: u64,
        file: StoredFile,
        /// Whether the loop device opened the file with direct I/O.
        direct: bool,
        /// Sysfs attribute with the current value of `direct`.
        direct_attribute: PathBuf,
    },
    /// Memory itself (tmpfs): everything that exists is cached or swapped out.
    Nothing,
    /// A network filesystem, FUSE, or devices of different kinds below dm or md.
    Unknown,
}

/// Bytes of one I/O by the layer that holds them.
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

    /// The highest layer that holds a part.
    pub(crate) fn highest(&self) -> StorageLayer {
        let mut layers = StorageLayer::TOP_DOWN.iter();
        let highest = layers.find(|layer| self.of(**layer) > 0);
        highest.copied().unwrap_or(StorageLayer::Unknown)
    }

    /// Page caches below the first one are caches of backing files.
    fn below_a_device(mut self) -> Self {
        let cached = std::mem::take(&mut self.0[StorageLayer::PageCache as usize]);
        self.add(StorageLayer::LowerCache, cached);
        self
    }

    /// The same distribution over a different number of bytes.
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
