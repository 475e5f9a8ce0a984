//! A host for tests: sysfs and procfs in a temporary directory, defined by a table of files.

use crate::system::host::{inventory::Inventory, kernel::Kernel};
use std::{fs, io::Write, os::unix::fs::symlink, path::Path};

/// Reports a skipped test on stderr, even if test output is captured.
pub(crate) fn skip(reason: &str) {
    let _ = writeln!(std::io::stderr(), "SKIP: {reason}");
    // Also print to the captured output, in which skipped tests are counted.
    eprintln!("SKIP: {reason}");
}

/// Every directory in `sys/devices` with a `dev` file becomes a block device.
pub(crate) struct Fixture {
    dir: tempfile::TempDir,
}

impl Fixture {
    /// `files`: lines of the form `path = text`, or `path @` for an empty directory.
    pub(crate) fn new(files: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("sys/class/block")).unwrap();
        for line in files.lines().map(str::trim).filter(|line| !line.is_empty()) {
            write_entry(dir.path(), line);
        }
        Self { dir }
    }

    pub(crate) fn kernel(&self) -> Kernel {
        Kernel {
            sys: self.dir.path().join("sys"),
            proc: self.dir.path().join("proc"),
        }
    }

    pub(crate) fn inventory(&self) -> Inventory {
        Inventory::read(&self.kernel())
    }
}

fn write_entry(root: &Path, line: &str) {
    if let Some(dir) = line.strip_suffix(" @") {
        return fs::create_dir_all(root.join(dir)).unwrap();
    }
    let (path, text) = line.split_once(" = ").unwrap();
    let path = root.join(path);
    let dir = path.parent().unwrap();
    fs::create_dir_all(dir).unwrap();
    fs::write(&path, text.replace("\\n", "\n") + "\n").unwrap();
    if path.file_name().unwrap() == "dev" {
        symlink(
            dir,
            root.join("sys/class/block").join(dir.file_name().unwrap()),
        )
        .unwrap();
    }
}

/// A disk with two partitions, LVM and dm-crypt on one of them, a RAID of two disks, a btrfs
/// filesystem on two disks, a swap device, and loop devices backed by one file. The device numbers
/// are outside the range of real ones, so no node on the test host matches.
pub(crate) const STACK: &str = r"
    sys/devices/sda/dev = 4008:0
    sys/devices/sda/size = 1000
    sys/devices/sda/device @
    sys/devices/sda/sda1/dev = 4008:1
    sys/devices/sda/sda1/partition = 1
    sys/devices/sda/sda1/size = 100
    sys/devices/sda/sda2/dev = 4008:2
    sys/devices/sda/sda2/partition = 2
    sys/devices/sda/sda2/holders/dm-0 @
    sys/devices/dm-0/dev = 4053:0
    sys/devices/dm-0/dm/name = vg-home
    sys/devices/dm-0/dm/uuid = LVM-abc
    sys/devices/dm-0/slaves/sda2 @
    sys/devices/dm-0/holders/dm-1 @
    sys/devices/dm-1/dev = 4053:1
    sys/devices/dm-1/dm/name = crypt
    sys/devices/dm-1/slaves/dm-0 @
    sys/devices/sdb/dev = 4008:16
    sys/devices/sdb/device @
    sys/devices/sdb/holders/md0 @
    sys/devices/sdc/dev = 4008:32
    sys/devices/sdc/device @
    sys/devices/sdc/holders/md0 @
    sys/devices/md0/dev = 4009:0
    sys/devices/md0/md/level = raid1
    sys/devices/md0/slaves/sdb @
    sys/devices/md0/slaves/sdc @
    sys/devices/sdd/dev = 4008:48
    sys/devices/sdd/device @
    sys/devices/sde/dev = 4008:64
    sys/devices/sde/device @
    sys/devices/sdf/dev = 4008:80
    sys/devices/sdf/device @
    sys/devices/sdf/serial =   F  7
    sys/devices/loop9090/dev = 4007:90
    sys/devices/loop9090/loop/backing_file = /nowhere/image
    sys/devices/loop9090/size = 8
    sys/devices/loop9091/dev = 4007:91
    sys/devices/loop9091/loop/backing_file = /nowhere/image
    sys/devices/loop9092/dev = 4007:92
    sys/fs/btrfs/5e-b/devices/sdd @
    sys/fs/btrfs/5e-b/devices/sde @
    sys/fs/btrfs/features @
    proc/swaps = Filename Type Size Used Priority\n/dev/sdf partition 1 0 -2
    proc/self/mountinfo = 1 0 4008:1 / /boot rw - ext4 /dev/sda1 rw\n2 0 4053:1 / / rw - xfs /dev/mapper/crypt rw\n3 0 0:50 / /pool rw - btrfs /dev/sdd rw
";
