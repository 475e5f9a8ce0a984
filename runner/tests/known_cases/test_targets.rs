//! Targets of the cases: filesystems on loop devices, a tmpfs, and raw loop devices. In user-mode
//! Linux, also dm and md devices, and filesystems on them.

use crate::{
    scratch::{self, Loop, Mounted},
    stack::STACKS,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Size of a filesystem in bytes: the minimum of mkfs.xfs for a full-size log.
const FILESYSTEM_BYTES: u64 = 320 << 20;
/// Size of a loop device without a filesystem. It equals the number of bytes that a case reads, so
/// readahead cannot read more.
const DEVICE_BYTES: u64 = crate::state::BYTES;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum TestTarget {
    Ext4,
    Xfs,
    Btrfs,
    Compressed,
    Nodatacow,
    Tmpfs,
    /// A loop device with direct I/O.
    Raw,
    /// A loop device without direct I/O.
    RawCached,
    /// ext4 on a loop device without direct I/O.
    OnCachedLoop,
    /// dm-linear on a disk.
    Linear,
    /// ext4 on dm-linear.
    OnLinear,
    /// dm-stripe across two disks.
    Striped,
    /// dm-crypt on an md raid1 of two disks.
    CryptOnRaid1,
    /// md raid0 across two disks.
    Raid0,
    /// ext4 on md raid0.
    OnRaid0,
    /// md raid1 of two disks.
    Raid1,
    /// ext4 on md raid1.
    OnRaid1,
}

/// Created once and shared by all cases.
pub(crate) struct TestTargets {
    // Fields are dropped in this order.
    _mounts: Vec<Mounted>,
    loops: Vec<Loop>,
    /// Devices without a filesystem.
    raw: Vec<(TestTarget, PathBuf)>,
    directory: tempfile::TempDir,
}

pub(crate) struct Target {
    pub(crate) path: PathBuf,
    /// A directory on the filesystem, or the directory of the device's backing file.
    pub(crate) directory: PathBuf,
    /// The backing file, if the loop device caches it (because it does not use direct I/O).
    pub(crate) backing: Option<PathBuf>,
}

/// Uses the block size of larger disks. Blocks smaller than a page are tested in
/// `truth/attacks/partial_pages`.
const EXT4: &[&str] = &[
    "mkfs.ext4",
    "-q",
    "-b",
    "4096",
    "-E",
    "lazy_itable_init=0,lazy_journal_init=0",
];

/// mkfs command, mount options, and the loop device's direct I/O setting.
const FILESYSTEMS: &[(TestTarget, &[&str], &str, &str)] = &[
    (TestTarget::Ext4, EXT4, "defaults", "on"),
    (TestTarget::Xfs, &["mkfs.xfs", "-q"], "defaults", "on"),
    (TestTarget::Btrfs, &["mkfs.btrfs", "-q"], "defaults", "on"),
    (
        TestTarget::Compressed,
        &["mkfs.btrfs", "-q"],
        "compress-force=zstd",
        "on",
    ),
    (
        TestTarget::Nodatacow,
        &["mkfs.btrfs", "-q"],
        "nodatacow",
        "on",
    ),
    (TestTarget::OnCachedLoop, EXT4, "defaults", "off"),
];

impl TestTargets {
    /// Returns `None` and reports a skipped test if loop devices are not available.
    pub(crate) fn create() -> Option<Self> {
        let mut test_targets = Self::empty(scratch::directory());
        for (test_target, mkfs, options, direct) in FILESYSTEMS {
            let device = test_targets.attach(*test_target, FILESYSTEM_BYTES, direct, false)?;
            test_targets.mount(*test_target, mkfs, &device, options);
        }
        let tmpfs = test_targets.at(TestTarget::Tmpfs);
        fs::create_dir(&tmpfs).unwrap();
        scratch::run(
            "mount",
            &[
                "-t",
                "tmpfs",
                "-o",
                "size=64m",
                "tmpfs",
                tmpfs.to_str().unwrap(),
            ],
        )
        .unwrap();
        test_targets._mounts.push(Mounted::existing(&tmpfs));
        for (test_target, direct) in [(TestTarget::Raw, "on"), (TestTarget::RawCached, "off")] {
            let device = test_targets.attach(test_target, DEVICE_BYTES, direct, true)?;
            test_targets.raw.push((test_target, device.into()));
        }
        Some(test_targets)
    }

    /// dm and md devices on UML's disks.
    pub(crate) fn stacked() -> Self {
        let mut test_targets = Self::empty(scratch::directory());
        for stack in STACKS {
            let device = stack.make();
            if stack.has_filesystem {
                test_targets.mount(stack.test_target, EXT4, &device, "defaults");
            } else {
                test_targets.raw.push((stack.test_target, device.into()));
            }
        }
        test_targets
    }

    fn empty(directory: tempfile::TempDir) -> Self {
        Self {
            _mounts: Vec::new(),
            loops: Vec::new(),
            raw: Vec::new(),
            directory,
        }
    }

    /// Parent directory of all files.
    pub(crate) fn root(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn target(&self, test_target: TestTarget) -> Target {
        let backing = matches!(
            test_target,
            TestTarget::RawCached | TestTarget::OnCachedLoop
        )
        .then(|| self.image(test_target));
        match self.raw.iter().find(|(at, _)| *at == test_target) {
            Some((_, device)) => Target {
                path: device.clone(),
                directory: self.root().into(),
                backing,
            },
            None => Target {
                path: self.at(test_target).join("t1"),
                directory: self.at(test_target),
                backing,
            },
        }
    }

    fn attach(
        &mut self,
        test_target: TestTarget,
        bytes: u64,
        direct: &str,
        full: bool,
    ) -> Option<String> {
        let image = self.image(test_target);
        if full {
            scratch::image(&image, bytes);
        } else {
            fs::File::create(&image).unwrap().set_len(bytes).unwrap();
        }
        let device = Loop::attach(&image, &[&format!("--direct-io={direct}")])?;
        let path = device.0.clone();
        self.loops.push(device);
        Some(path)
    }

    fn mount(&mut self, test_target: TestTarget, mkfs: &[&str], device: &str, options: &str) {
        scratch::run(mkfs[0], &[&mkfs[1..], &[device]].concat()).unwrap();
        self._mounts.push(Mounted::with_options(
            device,
            &self.at(test_target),
            options,
        ));
    }

    fn image(&self, test_target: TestTarget) -> PathBuf {
        self.root().join(format!("{test_target:?}.image"))
    }

    fn at(&self, test_target: TestTarget) -> PathBuf {
        self.root().join(format!("{test_target:?}"))
    }
}
