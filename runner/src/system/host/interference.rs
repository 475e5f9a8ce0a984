//! Conditions that may affect a target's performance: a data directory on the same disk, and a
//! misaligned partition. Source: Documentation/ABI/stable/sysfs-block (`start`,
//! `physical_block_size`).

use crate::system::host::{
    block_device::{BlockDevice, SECTOR_BYTES},
    inventory::Inventory,
    kernel::value,
};
use std::path::{Path, PathBuf};

/// Internal block size of flash devices and modern disks, including those that report 512.
const MIN_PHYSICAL_BYTES: u64 = 4096;

/// Environment variable that the server sets for the runners it starts.
const DATA_DIR_VARIABLE: &str = "LEADLINE_DATA_DIR";

pub(crate) fn data_directory() -> Option<PathBuf> {
    let path = std::env::var_os(DATA_DIR_VARIABLE)?;
    (!path.is_empty()).then(|| path.into())
}

/// Returns true if a directory and a device (kernel name) share a physical device.
pub(crate) fn shares_disk(host: &Inventory, device: &str, directory: &Path) -> bool {
    let Ok(directory) = directory.canonicalize() else {
        return false;
    };
    let Some(other) = host.device_at(&directory) else {
        return false;
    };
    let disks = host.physical_devices_of_filesystem(&other.name);
    !host
        .physical_devices_of_filesystem(device)
        .is_disjoint(&disks)
}

/// Offset of a partition from the preceding physical block boundary in bytes; `None` if it is
/// aligned or the device is not a partition.
pub(crate) fn misaligned_by(block: &BlockDevice) -> Option<u64> {
    block.disk.as_ref()?;
    let start = value::<u64>(block.dir.join("start"))? * SECTOR_BYTES;
    let physical = value(block.queue().join("physical_block_size")).unwrap_or(0);
    let offset = start % physical.max(MIN_PHYSICAL_BYTES);
    (offset > 0).then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::{Fixture, STACK};

    #[test]
    fn partition_alignment() {
        let check = |start: u64, physical: u64, want: Option<u64>| {
            let files = format!(
                "{STACK}\n sys/devices/sda/sda1/start = {start}\n sys/devices/sda/queue/physical_block_size = {physical}"
            );
            assert_eq!(
                misaligned_by(&Fixture::new(&files).inventory().blocks["sda1"]),
                want,
                "{start} of {physical}"
            );
        };
        check(2048, 4096, None);
        check(63, 512, Some(3584));
        check(8, 4096, None);
        check(9, 4096, Some(512));
        check(16, 16384, Some(8192));
        assert_eq!(
            misaligned_by(&Fixture::new(STACK).inventory().blocks["sda"]),
            None,
            "a whole disk"
        );
    }

    #[test]
    fn directory_shares_only_its_own_disk() {
        let host = Inventory::read(&crate::system::host::kernel::Kernel::live());
        let here = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let Some(own) = host
            .mount_at(here.path())
            .and_then(|mount| host.mounted_device(mount))
        else {
            return;
        };
        assert!(shares_disk(&host, &own.name, here.path()));
        assert!(
            !shares_disk(&host, "no-such-disk", here.path())
                && !shares_disk(&host, &own.name, Path::new("/proc"))
        );
    }
}
