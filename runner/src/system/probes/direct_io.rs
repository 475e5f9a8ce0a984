//! Whether direct I/O on a target can mean what it says: what statx(2) tells of it, which filesystem it lies on, and whether
//! a loop device under it has a page cache of its own below. Asked once, before the measurement.

use crate::system::host::block_device::BlockDevice;
use crate::system::host::inventory::Inventory;
use crate::system::host::kernel::{Kernel, flag};
use leadline_protocol::evidence::DirectFacts;
use leadline_protocol::host::DeviceKind;
use leadline_protocol::plan::resolved::TargetKind;
use rustix::fs::{AtFlags, IFlags, Statx, StatxAttributes, StatxFlags, ioctl_getflags, statx};
use std::os::fd::BorrowedFd;

/// From here on btrfs copies direct writes to files with checksums through the page cache: the data might change while its
/// checksum is made (commit 968f19c5b1b7, backported at times).
const BTRFS_WRITES_THROUGH_CACHE: (u32, u32) = (6, 14);

/// What is asked about.
#[derive(Clone, Copy, Debug)]
pub struct DirectIoTarget<'a> {
    /// File or device.
    pub kind: TargetKind,
    /// Filesystem type; `None` for a device.
    pub filesystem: Option<&'a str>,
    /// Kernel name of the device under it.
    pub device: Option<&'a str>,
    /// Whether some of the file is compressed; `None` when that is not known.
    pub compressed: Option<bool>,
}

/// The facts about an open target.
pub fn facts(file: BorrowedFd, asked: DirectIoTarget, host: &Inventory) -> DirectFacts {
    let told = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN).ok();
    let align = told
        .as_ref()
        .filter(|told| StatxFlags::from_bits_retain(told.stx_mask).contains(StatxFlags::DIOALIGN));
    let possible = align.filter(|told| told.stx_dio_offset_align > 0);
    let mut facts = DirectFacts {
        memory_align: possible.map(|told| told.stx_dio_mem_align),
        offset_align: possible.map(|told| told.stx_dio_offset_align),
        loop_direct_io: asked.device.and_then(|name| loop_direct_io(host, name)),
        dax: told.as_ref().and_then(is_dax),
        ..DirectFacts::default()
    };
    let refused = align.is_some() && possible.is_none();
    let through = through_cache(file, asked, refused);
    (
        facts.reads_past_cache,
        facts.writes_past_cache,
        facts.reasons,
    ) = (
        through.reads.map(|it| !it),
        through.writes.map(|it| !it),
        through.reasons,
    );
    if facts.loop_direct_io == Some(false) {
        (facts.reads_past_cache, facts.writes_past_cache) = (Some(false), Some(false));
        facts.reasons.push(
            "A loop device lies under it without direct I/O of its own: its backing file goes through the page cache.".into(),
        );
    }
    if facts.dax == Some(true) {
        facts.reasons.push(
            "The file is mapped straight from memory (DAX): no block device takes part.".into(),
        );
    }
    facts
}

fn is_dax(told: &Statx) -> Option<bool> {
    told.stx_attributes_mask
        .contains(StatxAttributes::DAX)
        .then(|| told.stx_attributes.contains(StatxAttributes::DAX))
}

/// Whether every loop device on the way down goes past the page cache below it; `None` where there is none.
fn loop_direct_io(host: &Inventory, device: &str) -> Option<bool> {
    let (members, mut found) = (host.spread(device), None);
    let mut open: Vec<&BlockDevice> = members
        .iter()
        .filter_map(|name| host.blocks.get(name))
        .collect();
    // A device has few others under it; a circle, which the kernel does not allow, would end here.
    for _ in 0..host.blocks.len() {
        let Some(block) = open.pop() else { break };
        if block.kind == DeviceKind::Loop {
            found = Some(found.unwrap_or(true) && is_direct(block));
        }
        open.extend(host.parents(block));
    }
    found
}

fn is_direct(block: &BlockDevice) -> bool {
    flag(block.dir.join("loop/dio")).unwrap_or(false)
}

/// Which direct I/Os the filesystem passes through a page cache all the same.
struct Through {
    reads: Option<bool>,
    writes: Option<bool>,
    reasons: Vec<String>,
}

impl Through {
    fn both(through: Option<bool>, reason: impl Into<String>) -> Self {
        Self {
            reads: through,
            writes: through,
            reasons: vec![reason.into()],
        }
    }

    fn none() -> Self {
        Self {
            reads: Some(false),
            writes: Some(false),
            reasons: Vec::new(),
        }
    }
}

fn through_cache(file: BorrowedFd, asked: DirectIoTarget, refused: bool) -> Through {
    match (asked.kind, asked.filesystem) {
        (TargetKind::Device | TargetKind::Null, _) => Through::none(),
        (_, Some(memory @ ("tmpfs" | "ramfs" | "hugetlbfs"))) => Through::both(
            Some(true),
            format!("{memory} keeps its files in memory: there is nothing below to go to."),
        ),
        _ if refused => Through::both(
            Some(true),
            "The kernel says that direct I/O is not possible on this file (statx).",
        ),
        (_, Some("ext2" | "ext3" | "ext4" | "xfs")) => Through::none(),
        (_, Some("btrfs")) => btrfs(
            asked,
            has_checksums(file),
            Kernel::live().version().unwrap_or_default(),
        ),
        (_, Some(other)) => Through::both(
            None,
            format!("What {other} does with direct I/O is its own matter."),
        ),
        (_, None) => Through::both(None, "The filesystem is not known."),
    }
}

/// btrfs: compressed extents are unpacked in the page cache; data with checksums is copied there before it is written.
fn btrfs(asked: DirectIoTarget, checksums: Option<bool>, kernel: (u32, u32)) -> Through {
    let mut through = Through::none();
    if asked.compressed != Some(false) {
        through.reads = asked.compressed;
        through.reasons.push(match asked.compressed {
            Some(_) => "btrfs unpacks compressed extents in the page cache: direct reads of them are buffered.".into(),
            None => "Whether btrfs has compressed some of it is not known.".into(),
        });
    }
    if checksums != Some(false) && kernel >= BTRFS_WRITES_THROUGH_CACHE {
        through.writes = checksums;
        through.reasons.push("btrfs copies direct writes to a file with checksums through the page cache (since Linux 6.14); chattr +C on the empty file goes without.".into());
    }
    through
}

/// Whether a file of btrfs has checksums; `None` where its flags cannot be read.
fn has_checksums(file: BorrowedFd) -> Option<bool> {
    ioctl_getflags(file)
        .ok()
        .map(|flags| !flags.contains(IFlags::NOCOW))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::{Fixture, STACK};

    fn asked(filesystem: &str, compressed: Option<bool>) -> DirectIoTarget<'_> {
        DirectIoTarget {
            kind: TargetKind::File,
            filesystem: Some(filesystem),
            device: None,
            compressed,
        }
    }

    #[test]
    fn btrfs_by_compression_checksums_and_kernel() {
        for (compressed, checksums, kernel, reads, writes, reasons) in [
            (Some(false), Some(true), (6, 18), Some(false), Some(true), 1),
            (Some(false), Some(true), (6, 1), Some(false), Some(false), 0),
            (
                Some(false),
                Some(false),
                (6, 18),
                Some(false),
                Some(false),
                0,
            ),
            (Some(true), Some(true), (6, 1), Some(true), Some(false), 1),
            (None, None, (6, 18), None, None, 2),
        ] {
            let through = btrfs(asked("btrfs", compressed), checksums, kernel);
            assert_eq!(
                (through.reads, through.writes, through.reasons.len()),
                (reads, writes, reasons),
                "{compressed:?} {checksums:?}"
            );
        }
    }

    #[test]
    fn filesystems() {
        use std::os::fd::AsFd;
        let file = tempfile::tempfile().unwrap();
        for (filesystem, refused, reads, word) in [
            ("ext4", false, Some(false), ""),
            ("ext4", true, Some(true), "statx"),
            ("tmpfs", false, Some(true), "memory"),
            ("overlay", false, None, "overlay"),
            ("nfs4", false, None, "nfs4"),
        ] {
            let through = through_cache(file.as_fd(), asked(filesystem, Some(false)), refused);
            assert_eq!(
                (through.reads, through.writes),
                (reads, reads),
                "{filesystem}"
            );
            assert!(through.reasons.concat().contains(word));
        }
    }

    #[test]
    fn a_loop_anywhere_below_counts() {
        let files = format!(
            "{STACK}\n sys/devices/loop9090/loop/dio = 0\n sys/devices/loop9091/loop/dio = 1\n sys/devices/dm-7/dev = 4053:7\n sys/devices/dm-7/slaves/loop9090 @\n"
        );
        let fixture = Fixture::new(&files);
        let host = fixture.look();
        for (device, want) in [
            ("sda", None),
            ("loop9091", Some(true)),
            ("loop9090", Some(false)),
            ("dm-7", Some(false)),
            ("gone", None),
        ] {
            assert_eq!(loop_direct_io(&host, device), want, "{device}");
        }
    }
}
