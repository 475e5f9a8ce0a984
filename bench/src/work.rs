//! One workload in fio's words, the same for every contender.

use serde::Serialize;

/// Which way.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rw {
    /// Reads in order.
    Read,
    /// Reads anywhere.
    RandRead,
    /// Writes anywhere.
    RandWrite,
    /// Reads and writes anywhere, 70 to 30.
    #[serde(rename = "randrw")]
    RandReadWrite,
}

/// How.
#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    /// The ring.
    IoUring,
    /// One system call an I/O.
    Psync,
    /// No I/O.
    Null,
    /// The ring with entries that do nothing.
    IoUringNop,
}

/// A workload.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Work {
    /// Which way.
    pub rw: Rw,
    /// Bytes of an I/O.
    pub bs: u32,
    /// I/Os in flight of each job.
    pub iodepth: u32,
    /// How.
    pub ioengine: Engine,
    /// Past the page cache.
    pub direct: bool,
    /// Jobs at once.
    pub numjobs: u32,
    /// fsync after so many writes; 0 never.
    pub fsync: u32,
}

/// How long a contender works.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Length {
    /// One I/O: what is left is the cost of starting and ending.
    OneIo,
    /// So many seconds.
    Seconds(u32),
}

impl Rw {
    /// fio's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::RandReadWrite => "randrw",
        }
    }

    /// Whether it writes.
    pub fn writes(self) -> bool {
        matches!(self, Self::RandWrite | Self::RandReadWrite)
    }
}

impl Engine {
    /// fio's word.
    pub fn word(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::Psync => "psync",
            Self::Null => "null",
            Self::IoUringNop => "io_uring_nop",
        }
    }
}

/// Share of reads where both are done, in percent.
pub const RWMIXREAD: u32 = 70;
