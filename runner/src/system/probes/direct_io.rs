//! Determines whether direct I/O on a target bypasses the page cache, from the alignment reported
//! by statx(2), the filesystem, and the I/O mode of loop devices. This is done once, before the
//! measurement.

use crate::system::host::{
    dm_table::target_types,
    inventory::Inventory,
    kernel::{Kernel, read_flag},
};
use leadline_protocol::{
    device::DeviceKind, evidence::target::DirectFacts, plan::target::TargetKind,
};
use rustix::fs::{AtFlags, IFlags, StatxAttributes, StatxFlags, ioctl_getflags, statx};
use std::os::fd::BorrowedFd;

/// Since this kernel version, btrfs copies direct writes to files with checksums through the page
/// cache, because the data could change during checksumming (commit 968f19c5b1b7, partly
/// backported).
const BTRFS_BUFFERED_WRITES: (u32, u32) = (6, 14);

/// Device-mapper targets that read from their disks even if a block was never written. `cache` and
/// `snapshot` read from one of multiple disks.
const READ_THROUGH: &[&str] = &[
    "cache",
    "clone",
    "crypt",
    "delay",
    "ebs",
    "era",
    "flakey",
    "integrity",
    "linear",
    "mirror",
    "multipath",
    "raid",
    "snapshot",
    "snapshot-merge",
    "snapshot-origin",
    "striped",
    "switch",
    "thin-pool",
    "unstriped",
    "verity",
    "writecache",
];

#[derive(Clone, Copy, Debug)]
pub(crate) struct DirectIoTarget<'a> {
    pub kind: TargetKind,
    /// Filesystem type; `None` for a device.
    pub filesystem: Option<&'a str>,
    /// Kernel name of the underlying device.
    pub device: Option<&'a str>,
    /// Whether parts of the file are compressed; `None` if unknown.
    pub compressed: Option<bool>,
}

pub(crate) fn facts(file: BorrowedFd, target: DirectIoTarget, host: &Inventory) -> DirectFacts {
    let mut facts = DirectFacts::default();
    let mut is_rejected = false;
    if let Ok(found) = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::DIOALIGN) {
        let has_alignment =
            StatxFlags::from_bits_retain(found.stx_mask).contains(StatxFlags::DIOALIGN);
        is_rejected = has_alignment && found.stx_dio_offset_align == 0;
        if has_alignment && !is_rejected {
            facts.memory_align = Some(found.stx_dio_mem_align);
            facts.offset_align = Some(found.stx_dio_offset_align);
        }
        if found.stx_attributes_mask.contains(StatxAttributes::DAX) {
            facts.dax = Some(found.stx_attributes.contains(StatxAttributes::DAX));
        }
    }
    let bypass = cache_bypass(file, target, is_rejected);
    facts.reads_past_cache = bypass.reads;
    facts.writes_past_cache = bypass.writes;
    facts.reasons = bypass.reasons;
    facts.loop_direct_io = target.device.and_then(|name| loop_direct_io(host, name));
    facts.sparse_mapping = target.device.and_then(|name| sparse_mapping(host, name));
    if facts.loop_direct_io == Some(false) {
        facts.reads_past_cache = Some(false);
        facts.writes_past_cache = Some(false);
        let reason = "The underlying loop device does not use direct I/O: its backing file uses the page cache.";
        facts.reasons.push(reason.into());
    }
    if facts.dax == Some(true) {
        let reason = "The file is mapped directly from memory (DAX), without a block device.";
        facts.reasons.push(reason.into());
    }
    facts
}

/// Whether every loop device below a device uses direct I/O; `None` if there are none.
fn loop_direct_io(host: &Inventory, device: &str) -> Option<bool> {
    let members = host.filesystem_members(device).into_iter();
    let mut lower = members.flat_map(|member| host.lower_devices(&member));
    let mut has_loop = false;
    let is_direct = lower.all(|name| {
        let block = &host.blocks[&name];
        let is_loop = block.kind == DeviceKind::Loop;
        has_loop |= is_loop;
        !is_loop || read_flag(block.dir.join("loop/dio")) == Some(true)
    });
    has_loop.then_some(is_direct)
}

fn sparse_mapping(host: &Inventory, device: &str) -> Option<String> {
    let members = host.filesystem_members(device).into_iter();
    let mut lower = members.flat_map(|member| host.lower_devices(&member));
    lower.find_map(|name| {
        let block = &host.blocks[&name];
        let types = (block.kind == DeviceKind::Dm).then(|| target_types(block.dev))??;
        let is_sparse = |kind: &String| !READ_THROUGH.contains(&kind.as_str());
        types.into_iter().find(is_sparse)
    })
}

/// Whether direct reads and writes bypass the page cache; `None` if unknown.
struct CacheBypass {
    reads: Option<bool>,
    writes: Option<bool>,
    reasons: Vec<String>,
}

impl CacheBypass {
    fn full() -> Self {
        Self {
            reads: Some(true),
            writes: Some(true),
            reasons: Vec::new(),
        }
    }

    fn both(bypass: Option<bool>, reason: impl Into<String>) -> Self {
        Self {
            reads: bypass,
            writes: bypass,
            reasons: vec![reason.into()],
        }
    }
}

fn cache_bypass(file: BorrowedFd, target: DirectIoTarget, is_rejected: bool) -> CacheBypass {
    match (target.kind, target.filesystem) {
        (TargetKind::Device | TargetKind::Null, _) => CacheBypass::full(),
        (_, Some(memory @ ("tmpfs" | "ramfs" | "hugetlbfs"))) => CacheBypass::both(
            Some(false),
            format!("{memory} stores files in memory, without an underlying device."),
        ),
        _ if is_rejected => CacheBypass::both(
            Some(false),
            "The kernel reports that this file does not support direct I/O (statx).",
        ),
        (_, Some("ext2" | "ext3" | "ext4" | "xfs")) => CacheBypass::full(),
        (_, Some("btrfs")) => {
            let flags = ioctl_getflags(file).ok();
            let checksums = flags.map(|flags| !flags.contains(IFlags::NOCOW));
            let kernel = Kernel::live().version().unwrap_or_default();
            btrfs(target.compressed, checksums, kernel)
        }
        (_, Some(other)) => CacheBypass::both(
            None,
            format!("It is unknown how {other} handles direct I/O."),
        ),
        (_, None) => CacheBypass::both(None, "The filesystem is unknown."),
    }
}

/// btrfs decompresses extents in the page cache. Before it writes data with checksums, it copies
/// the data there.
fn btrfs(compressed: Option<bool>, checksums: Option<bool>, kernel: (u32, u32)) -> CacheBypass {
    let mut bypass = CacheBypass::full();
    if compressed != Some(false) {
        bypass.reads = compressed.map(|compressed| !compressed);
        let reason = match compressed {
            Some(_) => {
                "btrfs decompresses extents in the page cache, so direct reads of these extents are buffered."
            }
            None => "It is unknown whether btrfs compressed parts of the file.",
        };
        bypass.reasons.push(reason.into());
    }
    if checksums != Some(false) && kernel >= BTRFS_BUFFERED_WRITES {
        bypass.writes = checksums.map(|checksums| !checksums);
        let reason = "btrfs copies direct writes to a file with checksums through the page cache (since Linux 6.14). Use chattr +C on the empty file to avoid this.";
        bypass.reasons.push(reason.into());
    }
    bypass
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::{Fixture, STACK};

    #[test]
    fn btrfs_depends_on_compression_checksums_and_kernel() {
        for (compressed, checksums, kernel, reads, writes, reasons) in [
            (Some(false), Some(true), (6, 18), Some(true), Some(false), 1),
            (Some(false), Some(true), (6, 1), Some(true), Some(true), 0),
            (Some(false), Some(false), (6, 18), Some(true), Some(true), 0),
            (Some(true), Some(true), (6, 1), Some(false), Some(true), 1),
            (None, None, (6, 18), None, None, 2),
        ] {
            let bypass = btrfs(compressed, checksums, kernel);
            assert_eq!(
                (bypass.reads, bypass.writes, bypass.reasons.len()),
                (reads, writes, reasons),
                "{compressed:?} {checksums:?}"
            );
        }
    }

    #[test]
    fn filesystems() {
        use std::os::fd::AsFd;
        let file = tempfile::tempfile().unwrap();
        for (filesystem, is_rejected, reads, part) in [
            ("ext4", false, Some(true), ""),
            ("ext4", true, Some(false), "statx"),
            ("tmpfs", false, Some(false), "memory"),
            ("overlay", false, None, "overlay"),
            ("nfs4", false, None, "nfs4"),
        ] {
            let target = DirectIoTarget {
                kind: TargetKind::File,
                filesystem: Some(filesystem),
                device: None,
                compressed: Some(false),
            };
            let bypass = cache_bypass(file.as_fd(), target, is_rejected);
            assert_eq!(
                (bypass.reads, bypass.writes),
                (reads, reads),
                "{filesystem}"
            );
            assert!(bypass.reasons.concat().contains(part));
        }
    }

    #[test]
    fn finds_loop_devices_at_any_level() {
        let files = format!(
            "{STACK}\n sys/devices/loop9090/loop/dio = 0\n sys/devices/loop9091/loop/dio = 1\n sys/devices/dm-7/dev = 4053:7\n sys/devices/dm-7/slaves/loop9090 @\n"
        );
        let fixture = Fixture::new(&files);
        let host = fixture.inventory();
        for (device, want) in [
            ("sda", None),
            ("loop9091", Some(true)),
            ("loop9090", Some(false)),
            ("dm-7", Some(false)),
            ("missing", None),
        ] {
            assert_eq!(loop_direct_io(&host, device), want, "{device}");
        }
    }
}
