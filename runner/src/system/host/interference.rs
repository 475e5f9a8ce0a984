//! What stands beside a target on its disk and may disturb it: results that are written to the same disk, and a partition that
//! does not begin where a block does. Sources: Documentation/ABI/stable/sysfs-block (`start`, `physical_block_size`).

use crate::system::host::block_device::{BlockDevice, SECTOR_BYTES};
use crate::system::host::inventory::Inventory;
use crate::system::host::kernel::value;
use std::path::{Path, PathBuf};

/// Flash and newer disks have blocks of at least this many bytes inside, also those that tell 512.
const LEAST_BLOCK_BYTES: u64 = 4096;

/// Where the server that started this runner keeps its results: it sets the variable, as its own users may.
const RESULTS_VARIABLE: &str = "LEADLINE_DATA_DIR";

/// Where results are kept, if anybody said so.
pub fn results_directory() -> Option<PathBuf> {
    std::env::var_os(RESULTS_VARIABLE)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from)
}

/// Whether a directory lies on one of the physical devices under this one.
pub fn shares_disk(host: &Inventory, device: &str, directory: &Path) -> bool {
    let mount = directory
        .canonicalize()
        .ok()
        .and_then(|directory| host.mount_at(&directory));
    let Some(other) = mount.and_then(|mount| host.mounted_device(mount)) else {
        return false;
    };
    let under = |name: &str| {
        host.spread(name)
            .iter()
            .flat_map(|member| host.physical_devices(member))
            .collect::<Vec<_>>()
    };
    let theirs = under(&other.name);
    under(device).iter().any(|leaf| theirs.contains(leaf))
}

/// Bytes by which a partition begins past a physical block; `None` when it does not, or is no partition.
pub fn misaligned_by(block: &BlockDevice) -> Option<u64> {
    block.part_of.as_ref()?;
    let start = value::<u64>(block.dir.join("start"))? * SECTOR_BYTES;
    let physical = value::<u64>(block.queue().join("physical_block_size")).unwrap_or(0);
    Some(start % physical.max(LEAST_BLOCK_BYTES)).filter(|off| *off > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::{Fixture, STACK};

    #[test]
    fn a_partition_begins_on_a_block_or_off_it() {
        let check = |start: u64, physical: u64, want: Option<u64>| {
            let files = format!(
                "{STACK}\n sys/devices/sda/sda1/start = {start}\n sys/devices/sda/queue/physical_block_size = {physical}"
            );
            assert_eq!(
                misaligned_by(&Fixture::new(&files).look().blocks["sda1"]),
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
            misaligned_by(&Fixture::new(STACK).look().blocks["sda"]),
            None,
            "a disk begins at its beginning"
        );
    }

    #[test]
    fn this_directory_shares_its_own_disk_and_no_other() {
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
