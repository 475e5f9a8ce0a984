//! Finds the processes that have a device open (`/proc/PID/fd`). Descriptors refer to devices by
//! number, so names and mount namespaces do not matter. The kernel does not show which of them is
//! exclusive, and processes of other users are visible only to root.

use crate::system::host::{
    block_device::BlockDevice,
    kernel::{Dev, Kernel, attribute, names},
};
use std::{
    fmt, fs,
    os::unix::fs::{FileTypeExt, MetadataExt},
    path::Path,
};

/// A message lists at most this many processes.
const MAX_OPENERS: usize = 4;

#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Opener {
    pid: u32,
    /// Program name.
    name: Option<String>,
}

impl fmt::Display for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)?;
        match &self.name {
            Some(name) => write!(f, " ({name})"),
            None => Ok(()),
        }
    }
}

/// Other processes that have the device, its disk or one of its partitions open: an exclusive open
/// of a disk also covers its partitions, and the reverse.
pub(crate) fn openers(kernel: &Kernel, block: &BlockDevice) -> Vec<Opener> {
    let disk = block.disk.as_ref().unwrap_or(&block.name);
    let is_disk = |dir: Option<&Path>| {
        let name = dir.and_then(Path::file_name);
        name.is_some_and(|name| name == disk.as_str())
    };
    let is_related = |dev: Dev| {
        if dev == block.dev {
            return true;
        }
        let dir = fs::canonicalize(kernel.sys.join(format!("dev/block/{dev}")));
        dir.is_ok_and(|dir| is_disk(Some(&dir)) || (block.disk.is_none() && is_disk(dir.parent())))
    };
    let own = std::process::id();
    names(&kernel.proc)
        .into_iter()
        .filter_map(|name| name.parse::<u32>().ok())
        .filter(|pid| *pid != own && devices_of(kernel, *pid).any(is_related))
        .take(MAX_OPENERS)
        .map(|pid| Opener {
            pid,
            name: attribute(kernel.proc.join(format!("{pid}/comm"))),
        })
        .collect()
}

/// Numbers of the block devices that a process has open.
fn devices_of(kernel: &Kernel, pid: u32) -> impl Iterator<Item = Dev> {
    let entries = fs::read_dir(kernel.proc.join(format!("{pid}/fd")));
    let descriptors = entries.into_iter().flatten().flatten();
    descriptors.filter_map(|entry| {
        let metadata = fs::metadata(entry.path()).ok()?;
        let is_block = metadata.file_type().is_block_device();
        is_block.then(|| Dev(metadata.rdev()))
    })
}
