//! I/O engines and their buffers.

use crate::{
    job::{
        range::ValueRange,
        value::{FioValue, words},
        value_schema::ValueSchema,
    },
    named_enum::named_enum,
};
use strum::VariantNames;

named_enum! {
    names: "snake_case";
    pub enum EngineName {
        IoUring,
        /// pread(2) and pwrite(2).
        Psync,
        /// lseek(2), read(2) and write(2).
        Sync,
        /// preadv(2) and pwritev(2).
        Pvsync,
        /// preadv2(2) and pwritev2(2).
        Pvsync2,
        /// Linux AIO: io_submit(2) and io_getevents(2).
        Libaio,
        /// Copies from and to a memory mapping.
        Mmap,
        /// No I/O.
        Null,
        /// io_uring with no-op requests.
        IoUringNop,
    }
}

/// fio engines that are not supported, with the reason.
const UNSUPPORTED: &[(&str, &str)] = &[
    (
        "posixaio",
        "the C library runs its I/Os in helper threads, one at a time per file: use libaio, io_uring, or psync with numjobs",
    ),
    (
        "vsync",
        "it merges adjacent I/Os into one system call: use pvsync with a larger bs",
    ),
    ("splice", "use psync"),
    ("exec", "jobs cannot run commands"),
    ("cpuio", "it performs no I/O"),
    ("cpu", "it performs no I/O"),
    ("net", "it measures a network"),
    ("netsplice", "it measures a network"),
    ("rdma", "it measures a network"),
    (
        "sg",
        "it bypasses the block layer: use io_uring or psync with direct=1 on the device",
    ),
    (
        "io_uring_cmd",
        "it bypasses the block layer: use io_uring with direct=1 on the device",
    ),
];

impl FioValue for EngineName {
    const KIND: &'static str = "engine";
    const VALUES: &'static [&'static str] = Self::VARIANTS;

    fn parse(text: &str) -> Result<Self, String> {
        let name = text.trim();
        name.parse().map_err(|_| {
            let unsupported = UNSUPPORTED.iter().find(|(engine, _)| *engine == name);
            match unsupported {
                Some((_, reason)) => format!("fio's engine `{name}` is not supported: {reason}"),
                None => format!("`{name}` is not one of: {}", Self::VARIANTS.join(", ")),
            }
        })
    }

    fn schema(_: Option<ValueRange>) -> ValueSchema {
        ValueSchema::words(words::<Self>())
    }
}

impl EngineName {
    /// Whether the engine performs no I/O on its target.
    pub fn is_null(self) -> bool {
        matches!(self, Self::Null | Self::IoUringNop)
    }

    /// Whether each I/O is complete when its system call returns, so that the depth is 1.
    pub fn is_synchronous(self) -> bool {
        matches!(
            self,
            Self::Psync | Self::Sync | Self::Pvsync | Self::Pvsync2 | Self::Mmap
        )
    }

    /// Whether the kernel processes multiple I/Os per worker at a time.
    pub fn is_asynchronous(self) -> bool {
        matches!(self, Self::IoUring | Self::IoUringNop | Self::Libaio)
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

    /// Distance between adjacent buffers of `bytes` bytes; `None` on overflow.
    pub fn stride(bytes: u64) -> Option<u64> {
        bytes.max(1).checked_next_multiple_of(Self::SMALL)
    }

    /// Size of the mapping that holds all buffers, in bytes; `None` on overflow.
    pub fn mapping_bytes(self, buffers: u64, bytes: u64) -> Option<u64> {
        let page = match self {
            Self::Mmap => Self::SMALL,
            Self::Thp | Self::Mmaphuge => Self::HUGE,
        };
        Self::stride(bytes)?
            .checked_mul(buffers)?
            .checked_next_multiple_of(page)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unsupported_engines_have_a_reason() {
        assert_eq!(EngineName::parse(" pvsync2"), Ok(EngineName::Pvsync2));
        for (engine, reason) in UNSUPPORTED {
            let error = EngineName::parse(engine).unwrap_err();
            assert!(error.contains(reason), "{error}");
        }
        let error = EngineName::parse("aio").unwrap_err();
        assert!(
            error.ends_with("libaio, mmap, null, io_uring_nop"),
            "{error}"
        );
    }
}
