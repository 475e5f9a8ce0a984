//! I/O engines and their buffers.

use crate::named_enum::named_enum;

named_enum! {
    names: "snake_case", kind: "engine";
    pub enum EngineName {
        IoUring,
        /// pread(2) and pwrite(2).
        Psync,
        /// No I/O.
        Null,
        /// io_uring with no-op requests.
        IoUringNop,
    }
}

impl EngineName {
    /// Whether the engine performs no I/O on its target.
    pub fn is_null(self) -> bool {
        matches!(self, Self::Null | Self::IoUringNop)
    }

    pub fn has_ring(self) -> bool {
        matches!(self, Self::IoUring | Self::IoUringNop)
    }
}

named_enum! {
    names: "snake_case", kind: "fallback";
    /// Engine to use if io_uring is not permitted.
    pub enum Fallback {
        /// The run fails.
        None,
        Psync,
    }
}

named_enum! {
    names: "lowercase", kind: "buffer pages";
    /// Page type of the I/O buffers.
    #[derive(Default)]
    pub enum BufferPages {
        /// Base pages.
        #[default]
        #[strum(to_string = "mmap", serialize = "malloc")]
        Mmap,
        /// Transparent huge pages (MADV_HUGEPAGE).
        Thp,
        /// Reserved huge pages (MAP_HUGETLB).
        Mmaphuge,
    }
}

impl BufferPages {
    /// Buffer alignment in bytes, sufficient for direct I/O on all devices.
    pub const SMALL: u64 = 4096;
    /// Size of a huge page on x86-64, and on ARM64 with 4 KiB pages.
    const HUGE: u64 = 2 << 20;

    /// Distance between two buffers of `bytes` bytes; `None` on overflow.
    pub fn stride(bytes: u64) -> Option<u64> {
        bytes.max(1).checked_next_multiple_of(Self::SMALL)
    }

    /// Size of the mapping that holds all buffers, in bytes; `None` on overflow.
    pub fn mapped(self, buffers: u64, bytes: u64) -> Option<u64> {
        let page = match self {
            Self::Mmap => Self::SMALL,
            Self::Thp | Self::Mmaphuge => Self::HUGE,
        };
        Self::stride(bytes)?
            .checked_mul(buffers)?
            .checked_next_multiple_of(page)
    }
}
