//! Reads the amount of used space from the superblock of an unmounted filesystem. Sources:
//! fs/ext4/ext4.h, fs/xfs/libxfs/xfs_format.h, include/uapi/linux/btrfs_tree.h.

use std::{fs::File, os::unix::fs::FileExt};

const EXT4_AT: u64 = 1024;
const EXT4_MAGIC: u16 = 0xEF53;
/// Valid block sizes are 1 KiB to 64 KiB.
const EXT4_MAX_SHIFT: u32 = 6;
/// Block counts are 64-bit integers.
const EXT4_64BIT: u32 = 0x80;
const BTRFS_AT: u64 = 64 << 10;
const SUPERBLOCK_BYTES: usize = 1024;

/// Bytes used by files, metadata and the journal; `None` for other filesystems and for inconsistent
/// counts. `filesystem`: type, such as `ext4`.
pub(crate) fn used_bytes(filesystem: &str, device: &File) -> Option<u64> {
    match filesystem {
        "ext2" | "ext3" | "ext4" => ext4(&Superblock::read(device, EXT4_AT)?),
        "xfs" => xfs(&Superblock::read(device, 0)?),
        "btrfs" => btrfs(&Superblock::read(device, BTRFS_AT)?),
        _ => None,
    }
}

struct Superblock([u8; SUPERBLOCK_BYTES]);

impl Superblock {
    fn read(device: &File, offset: u64) -> Option<Self> {
        let mut bytes = [0; SUPERBLOCK_BYTES];
        device.read_exact_at(&mut bytes, offset).ok()?;
        Some(Self(bytes))
    }

    fn bytes<const N: usize>(&self, offset: usize) -> Option<[u8; N]> {
        self.0.get(offset..offset + N)?.try_into().ok()
    }

    fn little_u32(&self, offset: usize) -> Option<u32> {
        self.bytes(offset).map(u32::from_le_bytes)
    }
}

fn ext4(block: &Superblock) -> Option<u64> {
    if block.bytes(0x38).map(u16::from_le_bytes)? != EXT4_MAGIC {
        return None;
    }
    let is_64bit = block.little_u32(0x60)? & EXT4_64BIT != 0;
    let count = |low, high| {
        let high = if is_64bit { block.little_u32(high)? } else { 0 };
        Some(u64::from(high) << 32 | u64::from(block.little_u32(low)?))
    };
    let used = count(0x4, 0x150)?.checked_sub(count(0xC, 0x158)?)?;
    let shift = block
        .little_u32(0x18)
        .filter(|shift| *shift <= EXT4_MAX_SHIFT)?;
    used.checked_mul(1024 << shift)
}

fn xfs(block: &Superblock) -> Option<u64> {
    if &block.bytes::<4>(0)? != b"XFSB" {
        return None;
    }
    let block_bytes = block.bytes(4).map(u32::from_be_bytes)?;
    let blocks = block.bytes(8).map(u64::from_be_bytes)?;
    let free = block.bytes(144).map(u64::from_be_bytes)?;
    blocks.checked_sub(free)?.checked_mul(block_bytes.into())
}

fn btrfs(block: &Superblock) -> Option<u64> {
    if &block.bytes::<8>(0x40)? != b"_BHRfS_M" {
        return None;
    }
    block.bytes(0x78).map(u64::from_le_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(pieces: &[(u64, &[u8])]) -> File {
        let file = tempfile::tempfile().unwrap();
        file.set_len(1 << 20).unwrap();
        for (offset, bytes) in pieces {
            file.write_all_at(bytes, *offset).unwrap();
        }
        file
    }

    #[test]
    fn used_space_is_read_from_superblocks() {
        let ext4_of = |shift: u32, incompatible: u32| {
            file(&[
                (1024 + 0x4, &100_u32.to_le_bytes()),
                (1024 + 0xC, &40_u32.to_le_bytes()),
                (1024 + 0x18, &shift.to_le_bytes()),
                (1024 + 0x38, &EXT4_MAGIC.to_le_bytes()),
                (1024 + 0x60, &incompatible.to_le_bytes()),
                (1024 + 0x150, &3_u32.to_le_bytes()),
                (1024 + 0x158, &1_u32.to_le_bytes()),
            ])
        };
        let ext4 = |incompatible| ext4_of(2, incompatible);
        let xfs = |free: u64| {
            file(&[
                (0, b"XFSB"),
                (4, &4096_u32.to_be_bytes()),
                (8, &100_u64.to_be_bytes()),
                (144, &free.to_be_bytes()),
            ])
        };
        let btrfs = file(&[(BTRFS_AT + 0x40, b"_BHRfS_M"), (BTRFS_AT + 0x78, &[7])]);
        for (filesystem, device, want) in [
            ("ext4", ext4(0), Some(60 * 4096)),
            ("ext3", ext4(0), Some(60 * 4096)),
            ("ext4", ext4(EXT4_64BIT), Some(((2_u64 << 32) + 60) * 4096)),
            ("xfs", xfs(30), Some(70 * 4096)),
            ("xfs", xfs(101), None),
            ("btrfs", btrfs, Some(7)),
            ("ext4", ext4_of(60, 0), None),
            ("ext4", file(&[]), None),
            ("xfs", file(&[]), None),
            ("btrfs", file(&[]), None),
            ("vfat", ext4(0), None),
        ] {
            assert_eq!(used_bytes(filesystem, &device), want, "{filesystem}");
        }
    }
}
