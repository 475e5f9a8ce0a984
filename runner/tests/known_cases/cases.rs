//! Table of cases: target, initial state, workload, expected classes, and the reason for them.

use crate::{
    foreign_io::Kind::{self, Reads, Writes},
    state::State::{self, *},
    test_targets::TestTarget::{self, *},
};
use serde_json::{Value, json};

pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) test_target: TestTarget,
    /// Initial state of the target.
    pub(crate) state: State,
    pub(crate) rw: &'static str,
    pub(crate) direct: u8,
    /// Additional job options.
    pub(crate) options: fn() -> Value,
    /// I/O of another program on the same device.
    pub(crate) foreign_io: Option<Kind>,
    /// Expected class of the reads.
    pub(crate) read: Option<&'static str>,
    /// Expected class of the writes.
    pub(crate) write: Option<&'static str>,
    /// The reason for the expected classes.
    pub(crate) reason: &'static str,
}

pub(crate) const fn reads(
    name: &'static str,
    test_target: TestTarget,
    state: State,
    rw: &'static str,
    direct: u8,
    class: &'static str,
    reason: &'static str,
) -> Case {
    Case {
        name,
        test_target,
        state,
        rw,
        direct,
        options: no_options,
        foreign_io: None,
        read: Some(class),
        write: None,
        reason,
    }
}

pub(crate) const fn writes(
    name: &'static str,
    test_target: TestTarget,
    state: State,
    rw: &'static str,
    direct: u8,
    class: &'static str,
    reason: &'static str,
) -> Case {
    Case {
        read: None,
        write: Some(class),
        ..reads(name, test_target, state, rw, direct, class, reason)
    }
}

fn no_options() -> Value {
    json!({})
}

impl Case {
    /// Adds job options.
    pub(crate) const fn with(self, options: fn() -> Value) -> Self {
        Self { options, ..self }
    }

    const fn with_foreign_io(self, foreign_io: Kind) -> Self {
        Self {
            foreign_io: Some(foreign_io),
            ..self
        }
    }
}

/// Direct I/O bypasses the page cache, regardless of its contents.
pub(crate) const BYPASSED: &str = "O_DIRECT on written blocks";
pub(crate) const DROPPED: &str = "the pages were dropped";
pub(crate) const CACHED: &str = "all pages were already read";
pub(crate) const HALF_CACHED: &str = "the first half was already read";
pub(crate) const READAHEAD: &str = "readahead of small sequential reads";
pub(crate) const EMPTY: &str = "no block was written";
pub(crate) const SMALL: &str = "the kernel writes back 16 MiB only after 30 s";
const NO_DEVICE: &str = "no block device";

/// Jobs on cold loop devices drop the page cache themselves, because programs that list devices
/// read the first blocks of each one.
pub(crate) const CASES: &[Case] = &[
    reads(
        "ext4, random direct reads",
        Ext4,
        Cold,
        "randread",
        1,
        "device",
        BYPASSED,
    ),
    reads(
        "ext4, random direct reads of cached pages",
        Ext4,
        Warm,
        "randread",
        1,
        "device",
        BYPASSED,
    ),
    reads(
        "ext4, large direct reads",
        Ext4,
        Cold,
        "read",
        1,
        "device",
        BYPASSED,
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
        READAHEAD,
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
        "ext4, half-warm random reads",
        Ext4,
        HalfWarm,
        "randread",
        0,
        "mixed",
        HALF_CACHED,
    ),
    reads(
        "ext4, half-warm sequential reads",
        Ext4,
        HalfWarm,
        "read",
        0,
        "mixed",
        HALF_CACHED,
    ),
    reads(
        "ext4, pages cached by the job itself",
        Ext4,
        Cold,
        "randread",
        0,
        "page_cache",
        "pre_read reads the whole target",
    )
    .with(|| json!({"pre_read": 1})),
    reads(
        "ext4, pages dropped by the job itself",
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
        "ext4, direct reads of a half-written file",
        Ext4,
        HalfSparse,
        "randread",
        1,
        "mixed",
        "half of the blocks were never written",
    ),
    writes(
        "ext4, random direct overwrites",
        Ext4,
        Cold,
        "randwrite",
        1,
        "device",
        BYPASSED,
    ),
    writes(
        "ext4, sequential direct overwrites",
        Ext4,
        Cold,
        "write",
        1,
        "device",
        BYPASSED,
    )
    .with(|| json!({"bs": "64k"})),
    writes(
        "ext4, synced direct overwrites",
        Ext4,
        Cold,
        "randwrite",
        1,
        "device",
        BYPASSED,
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
        "each flush writes 256 adjacent blocks",
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
        "each fsync commits the journal",
    )
    .with(|| json!({"fallocate": "none", "fsync": 1, "iodepth": 1, "size": "4m"})),
    Case {
        read: Some("device"),
        ..writes(
            "ext4, direct mix",
            Ext4,
            Cold,
            "randrw",
            1,
            "device",
            BYPASSED,
        )
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
        "ext4, direct reads with a foreign reader",
        Ext4,
        Cold,
        "randread",
        1,
        "foreign",
        "fio reads another file on the same device",
    )
    .with_foreign_io(Reads),
    reads(
        "ext4, warm reads with a foreign reader",
        Ext4,
        Warm,
        "randread",
        0,
        "page_cache",
        CACHED,
    )
    .with_foreign_io(Reads)
    .with(LONGER),
    reads(
        "ext4, direct reads with a foreign writer",
        Ext4,
        Cold,
        "randread",
        1,
        "device",
        BYPASSED,
    )
    .with_foreign_io(Writes),
    writes(
        "ext4, direct overwrites with a foreign writer",
        Ext4,
        Cold,
        "randwrite",
        1,
        "foreign",
        "fio writes to another file on the same device",
    )
    .with_foreign_io(Writes),
    writes(
        "ext4, buffered writes with a foreign writer",
        Ext4,
        Cold,
        "randwrite",
        0,
        "deferred_write",
        SMALL,
    )
    .with_foreign_io(Writes),
    reads(
        "xfs, random direct reads",
        Xfs,
        Cold,
        "randread",
        1,
        "device",
        BYPASSED,
    ),
    reads(
        "xfs, cold sequential reads",
        Xfs,
        Cold,
        "read",
        0,
        "readahead",
        READAHEAD,
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
        "xfs, half-warm random reads",
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
        BYPASSED,
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
        BYPASSED,
    ),
    reads(
        "btrfs, cold sequential reads",
        Btrfs,
        Cold,
        "read",
        0,
        "readahead",
        READAHEAD,
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
        "btrfs without copy-on-write, random direct reads",
        Nodatacow,
        Cold,
        "randread",
        1,
        "device",
        BYPASSED,
    ),
    writes(
        "btrfs without copy-on-write, random direct overwrites",
        Nodatacow,
        Cold,
        "randwrite",
        1,
        "device",
        BYPASSED,
    ),
    reads(
        "btrfs compressed, cold sequential reads",
        Compressed,
        HalfZero,
        "read",
        0,
        "readahead",
        "each read gets half of its bytes from the device",
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
        NO_DEVICE,
    ),
    reads(
        "tmpfs, direct reads",
        Tmpfs,
        Warm,
        "randread",
        1,
        "no_device",
        NO_DEVICE,
    ),
    writes(
        "tmpfs, random writes",
        Tmpfs,
        Warm,
        "randwrite",
        0,
        "no_device",
        NO_DEVICE,
    ),
    reads(
        "loop device, random direct reads",
        Raw,
        Cold,
        "randread",
        1,
        "device",
        BYPASSED,
    ),
    reads(
        "loop device, cold sequential reads",
        Raw,
        Cold,
        "read",
        0,
        "readahead",
        READAHEAD,
    )
    .with(|| json!({"invalidate": 1})),
    reads(
        "loop device, warm random reads",
        Raw,
        Cold,
        "randread",
        0,
        "page_cache",
        "pre_read reads the whole target",
    )
    .with(|| json!({"pre_read": 1})),
    writes(
        "loop device, random direct writes",
        Raw,
        Cold,
        "randwrite",
        1,
        "device",
        BYPASSED,
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
        "loop device with a cached backing file, direct reads",
        RawCached,
        Warm,
        "randread",
        1,
        "lower_cache",
        "the backing file was already read",
    ),
    writes(
        "loop device with a cached backing file, direct writes",
        RawCached,
        Cold,
        "randwrite",
        1,
        "lower_cache",
        SMALL,
    ),
    reads(
        "ext4 on a cached loop, direct reads",
        OnCachedLoop,
        Warm,
        "randread",
        1,
        "lower_cache",
        "the loop's backing file was written just before",
    ),
];

/// The job runs long enough for the other program to transfer more bytes than the job does.
const LONGER: fn() -> Value = || json!({"runtime": "300ms", "time_based": 1});
