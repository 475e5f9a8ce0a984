//! A workload, the same for every contender.

use serde::Serialize;

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rw {
    Read,
    RandRead,
    RandWrite,
    /// 70 % reads.
    #[serde(rename = "randrw")]
    RandReadWrite,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Engine {
    IoUring,
    Psync,
    Null,
    /// io_uring with NOP entries.
    IoUringNop,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Work {
    pub rw: Rw,
    /// Block size in bytes.
    pub bs: u32,
    /// Per job.
    pub iodepth: u32,
    pub ioengine: Engine,
    pub direct: bool,
    pub numjobs: u32,
    /// fsync after every N writes; 0 disables.
    pub fsync: u32,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Length {
    /// A single I/O, to measure the start-up cost.
    OneIo,
    Seconds(u32),
}

impl Rw {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::RandRead => "randread",
            Self::RandWrite => "randwrite",
            Self::RandReadWrite => "randrw",
        }
    }

    pub fn writes(self) -> bool {
        matches!(self, Self::RandWrite | Self::RandReadWrite)
    }
}

impl Engine {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::IoUring => "io_uring",
            Self::Psync => "psync",
            Self::Null => "null",
            Self::IoUringNop => "io_uring_nop",
        }
    }
}

/// Percentage of reads in a mix.
pub const RWMIXREAD: u32 = 70;
