//! The table: what is done where, in what state, and what the answer has to be, with how that is known.

use serde_json::{Value, json};

use crate::neighbour::Kind::{self, Reads, Writes};
use crate::places::Place::{self, *};
use crate::state::State::{self, *};

/// One case.
pub struct Case {
    /// What is done.
    pub name: &'static str,
    /// Where.
    pub place: Place,
    /// In what state it begins.
    pub state: State,
    /// The pattern.
    pub rw: &'static str,
    /// Past the page cache.
    pub direct: u8,
    /// Further options of the job.
    pub more: fn() -> Value,
    /// Who else uses the device meanwhile.
    pub neighbour: Option<Kind>,
    /// The class of the reads.
    pub read: Option<&'static str>,
    /// The class of the writes.
    pub write: Option<&'static str>,
    /// How that is known.
    pub truth: &'static str,
}

/// Reads whose class is known.
pub const fn reads(
    name: &'static str,
    place: Place,
    state: State,
    rw: &'static str,
    direct: u8,
    class: &'static str,
    truth: &'static str,
) -> Case {
    Case {
        name,
        place,
        state,
        rw,
        direct,
        more: nothing,
        neighbour: None,
        read: Some(class),
        write: None,
        truth,
    }
}

/// Writes whose class is known.
pub const fn writes(
    name: &'static str,
    place: Place,
    state: State,
    rw: &'static str,
    direct: u8,
    class: &'static str,
    truth: &'static str,
) -> Case {
    Case {
        name,
        place,
        state,
        rw,
        direct,
        more: nothing,
        neighbour: None,
        read: None,
        write: Some(class),
        truth,
    }
}

fn nothing() -> Value {
    json!({})
}

impl Case {
    /// The same with further options.
    pub const fn with(self, more: fn() -> Value) -> Self {
        Self { more, ..self }
    }

    const fn beside(self, neighbour: Kind) -> Self {
        Self {
            neighbour: Some(neighbour),
            ..self
        }
    }
}

/// Direct I/O goes past the page cache, whatever lies there.
pub const PAST: &str = "O_DIRECT on written blocks";
/// The pages were dropped, and mincore(2) found none.
pub const DROPPED: &str = "its pages were dropped before";
/// The pages were read in, and stay.
pub const CACHED: &str = "all its pages were read in before";
/// Half of the pages were.
pub const HALF_CACHED: &str = "the first half was read in before";
/// Few large reads take the place of many small ones.
pub const AHEAD: &str = "the kernel reads ahead of small reads in order";
/// Nothing was ever written to it.
pub const EMPTY: &str = "no block of it was ever written";
/// Far less is written than makes the kernel write back.
pub const SMALL: &str = "16 MiB wait 30 s before the kernel writes them";
/// Nothing of it is on a block device.
const NOWHERE: &str = "there is no block device";

/// All of them. A cold loop device is cooled by the job itself: whoever lists devices meanwhile reads its first blocks.
pub const CASES: &[Case] = &[
    reads(
        "ext4, random direct reads",
        Ext4,
        Cold,
        "randread",
        1,
        "device",
        PAST,
    ),
    reads(
        "ext4, random direct reads of cached pages",
        Ext4,
        Warm,
        "randread",
        1,
        "device",
        PAST,
    ),
    reads(
        "ext4, large direct reads",
        Ext4,
        Cold,
        "read",
        1,
        "device",
        PAST,
    )
    .with(|| json!({"bs": "1m"})),
    reads(
        "ext4, cold random reads",
        Ext4,
        Cold,
        "randread",
        0,
        "device",
        DROPPED,
    ),
    reads(
        "ext4, cold sequential reads",
        Ext4,
        Cold,
        "read",
        0,
        "readahead",
        AHEAD,
    ),
    reads(
        "ext4, warm random reads",
        Ext4,
        Warm,
        "randread",
        0,
        "page_cache",
        CACHED,
    ),
    reads(
        "ext4, warm sequential reads",
        Ext4,
        Warm,
        "read",
        0,
        "page_cache",
        CACHED,
    ),
    reads(
        "ext4, half warm random reads",
        Ext4,
        HalfWarm,
        "randread",
        0,
        "mixed",
        HALF_CACHED,
    ),
    reads(
        "ext4, half warm sequential reads",
        Ext4,
        HalfWarm,
        "read",
        0,
        "mixed",
        HALF_CACHED,
    ),
    reads(
        "ext4, warmed by the job itself",
        Ext4,
        Cold,
        "randread",
        0,
        "page_cache",
        "pre_read reads all of it in",
    )
    .with(|| json!({"pre_read": 1})),
    reads(
        "ext4, cooled by the job itself",
        Ext4,
        Warm,
        "randread",
        0,
        "device",
        "invalidate drops clean pages",
    )
    .with(|| json!({"invalidate": 1})),
    reads(
        "ext4, direct reads of a sparse file",
        Ext4,
        Sparse,
        "randread",
        1,
        "unwritten",
        EMPTY,
    ),
    reads(
        "ext4, buffered reads of a sparse file",
        Ext4,
        Sparse,
        "randread",
        0,
        "unwritten",
        EMPTY,
    ),
    reads(
        "ext4, direct reads of a fallocated file",
        Ext4,
        Fallocated,
        "randread",
        1,
        "unwritten",
        EMPTY,
    ),
    reads(
        "ext4, sequential reads of a fallocated file",
        Ext4,
        Fallocated,
        "read",
        0,
        "unwritten",
        EMPTY,
    ),
    reads(
        "ext4, direct reads of a half written file",
        Ext4,
        HalfSparse,
        "randread",
        1,
        "mixed",
        "half of its blocks were never written",
    ),
    writes(
        "ext4, random direct overwrites",
        Ext4,
        Cold,
        "randwrite",
        1,
        "device",
        PAST,
    ),
    writes(
        "ext4, sequential direct overwrites",
        Ext4,
        Cold,
        "write",
        1,
        "device",
        PAST,
    )
    .with(|| json!({"bs": "64k"})),
    writes(
        "ext4, synced direct overwrites",
        Ext4,
        Cold,
        "randwrite",
        1,
        "device",
        PAST,
    )
    .with(|| json!({"sync": "dsync", "size": "4m"})),
    writes(
        "ext4, random buffered writes",
        Ext4,
        Cold,
        "randwrite",
        0,
        "deferred_write",
        SMALL,
    ),
    writes(
        "ext4, sequential buffered writes",
        Ext4,
        Cold,
        "write",
        0,
        "deferred_write",
        SMALL,
    ),
    writes(
        "ext4, buffered writes with a flush at the end",
        Ext4,
        Cold,
        "write",
        0,
        "deferred_write",
        "the flush comes after the window",
    )
    .with(|| json!({"end_fsync": 1})),
    writes(
        "ext4, buffered writes with a flush every MiB",
        Ext4,
        Cold,
        "write",
        0,
        "merged",
        "each flush writes 256 neighbours at once",
    )
    .with(|| json!({"fsync": 256, "iodepth": 1})),
    writes(
        "ext4, first buffered writes of a new file",
        Ext4,
        Absent,
        "write",
        0,
        "deferred_write",
        SMALL,
    )
    .with(|| json!({"fallocate": "none"})),
    writes(
        "ext4, small synced writes of a new file",
        Ext4,
        Absent,
        "write",
        0,
        "amplified",
        "each fsync commits a journal of its own",
    )
    .with(|| json!({"fallocate": "none", "fsync": 1, "iodepth": 1, "size": "4m"})),
    Case {
        read: Some("device"),
        ..writes("ext4, direct mix", Ext4, Cold, "randrw", 1, "device", PAST)
    },
    Case {
        read: Some("page_cache"),
        ..writes(
            "ext4, warm buffered mix",
            Ext4,
            Warm,
            "randrw",
            0,
            "deferred_write",
            CACHED,
        )
    },
    reads(
        "ext4, direct reads beside a reader",
        Ext4,
        Cold,
        "randread",
        1,
        "foreign",
        "fio reads another file of it meanwhile",
    )
    .beside(Reads),
    reads(
        "ext4, warm reads beside a reader",
        Ext4,
        Warm,
        "randread",
        0,
        "page_cache",
        CACHED,
    )
    .beside(Reads)
    .with(LONGER),
    reads(
        "ext4, direct reads beside a writer",
        Ext4,
        Cold,
        "randread",
        1,
        "device",
        PAST,
    )
    .beside(Writes),
    writes(
        "ext4, direct overwrites beside a writer",
        Ext4,
        Cold,
        "randwrite",
        1,
        "foreign",
        "fio writes another file of it meanwhile",
    )
    .beside(Writes),
    writes(
        "ext4, buffered writes beside a writer",
        Ext4,
        Cold,
        "randwrite",
        0,
        "deferred_write",
        SMALL,
    )
    .beside(Writes),
    reads(
        "xfs, random direct reads",
        Xfs,
        Cold,
        "randread",
        1,
        "device",
        PAST,
    ),
    reads(
        "xfs, cold sequential reads",
        Xfs,
        Cold,
        "read",
        0,
        "readahead",
        AHEAD,
    ),
    reads(
        "xfs, warm random reads",
        Xfs,
        Warm,
        "randread",
        0,
        "page_cache",
        CACHED,
    ),
    reads(
        "xfs, half warm random reads",
        Xfs,
        HalfWarm,
        "randread",
        0,
        "mixed",
        HALF_CACHED,
    ),
    reads(
        "xfs, direct reads of a fallocated file",
        Xfs,
        Fallocated,
        "randread",
        1,
        "unwritten",
        EMPTY,
    ),
    writes(
        "xfs, random direct overwrites",
        Xfs,
        Cold,
        "randwrite",
        1,
        "device",
        PAST,
    ),
    writes(
        "xfs, random buffered writes",
        Xfs,
        Cold,
        "randwrite",
        0,
        "deferred_write",
        SMALL,
    ),
    reads(
        "btrfs, random direct reads",
        Btrfs,
        Cold,
        "randread",
        1,
        "device",
        PAST,
    ),
    reads(
        "btrfs, cold sequential reads",
        Btrfs,
        Cold,
        "read",
        0,
        "readahead",
        AHEAD,
    ),
    reads(
        "btrfs, warm random reads",
        Btrfs,
        Warm,
        "randread",
        0,
        "page_cache",
        CACHED,
    ),
    reads(
        "btrfs, direct reads of a sparse file",
        Btrfs,
        Sparse,
        "randread",
        1,
        "unwritten",
        EMPTY,
    ),
    writes(
        "btrfs, sequential buffered writes",
        Btrfs,
        Cold,
        "write",
        0,
        "deferred_write",
        SMALL,
    ),
    reads(
        "btrfs without copy on write, random direct reads",
        Nodatacow,
        Cold,
        "randread",
        1,
        "device",
        PAST,
    ),
    writes(
        "btrfs without copy on write, random direct overwrites",
        Nodatacow,
        Cold,
        "randwrite",
        1,
        "device",
        PAST,
    ),
    reads(
        "btrfs compressed, cold sequential reads",
        Compressed,
        HalfZero,
        "read",
        0,
        "mixed",
        "half of each block is zeros, so that half is stored",
    ),
    reads(
        "btrfs compressed, warm random reads",
        Compressed,
        WarmHalfZero,
        "randread",
        0,
        "page_cache",
        CACHED,
    ),
    reads(
        "tmpfs, random reads",
        Tmpfs,
        Warm,
        "randread",
        0,
        "no_device",
        NOWHERE,
    ),
    reads(
        "tmpfs, direct reads",
        Tmpfs,
        Warm,
        "randread",
        1,
        "no_device",
        NOWHERE,
    ),
    writes(
        "tmpfs, random writes",
        Tmpfs,
        Warm,
        "randwrite",
        0,
        "no_device",
        NOWHERE,
    ),
    reads(
        "loop device, random direct reads",
        Raw,
        Cold,
        "randread",
        1,
        "device",
        PAST,
    ),
    reads(
        "loop device, cold sequential reads",
        Raw,
        Cold,
        "read",
        0,
        "readahead",
        AHEAD,
    )
    .with(|| json!({"invalidate": 1})),
    reads(
        "loop device, warm random reads",
        Raw,
        Cold,
        "randread",
        0,
        "page_cache",
        "pre_read reads all of it in",
    )
    .with(|| json!({"pre_read": 1})),
    writes(
        "loop device, random direct writes",
        Raw,
        Cold,
        "randwrite",
        1,
        "device",
        PAST,
    ),
    writes(
        "loop device, random buffered writes",
        Raw,
        Cold,
        "randwrite",
        0,
        "deferred_write",
        SMALL,
    ),
    reads(
        "loop device through a page cache, direct reads",
        RawCached,
        Warm,
        "randread",
        1,
        "page_cache",
        "its backing file was read in before",
    ),
    writes(
        "loop device through a page cache, direct writes",
        RawCached,
        Cold,
        "randwrite",
        1,
        "deferred_write",
        SMALL,
    ),
    reads(
        "ext4 on a cached loop, direct reads",
        OnCachedLoop,
        Warm,
        "randread",
        1,
        "page_cache",
        "the loop's backing file was written just before",
    ),
];

/// Long enough for a neighbour to move more than the job.
const LONGER: fn() -> Value = || json!({"runtime": "300ms", "time_based": 1});
