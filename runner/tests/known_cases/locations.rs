//! Targets of the cases: filesystems on loop devices, a tmpfs, and loop devices; in user-mode
//! Linux, dm and md devices and filesystems on them.

use crate::{
    scratch::{self, Loop, Mounted},
    stack::STACKS,
};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Size of a filesystem in bytes: the minimum of mkfs.xfs with a full-size log.
const FILESYSTEM_BYTES: u64 = 320 << 20;
/// Size of a loop device without a filesystem: as many bytes as a case reads, so that readahead
/// cannot read more.
const DEVICE_BYTES: u64 = crate::state::BYTES;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Location {
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
pub(crate) struct Locations {
    // Fields are dropped in this order.
    _mounts: Vec<Mounted>,
    loops: Vec<Loop>,
    /// Devices without a filesystem.
    raw: Vec<(Location, PathBuf)>,
    directory: tempfile::TempDir,
}

pub(crate) struct Target {
    pub(crate) path: PathBuf,
    /// A directory on the filesystem, or the directory of the device's backing file.
    pub(crate) directory: PathBuf,
    /// The backing file if the loop device caches it (no direct I/O).
    pub(crate) backing: Option<PathBuf>,
}

const EXT4: &[&str] = &[
    "mkfs.ext4",
    "-q",
    "-E",
    "lazy_itable_init=0,lazy_journal_init=0",
];

/// mkfs command, mount options, and the loop device's direct I/O setting.
const FILESYSTEMS: &[(Location, &[&str], &str, &str)] = &[
    (Location::Ext4, EXT4, "defaults", "on"),
    (Location::Xfs, &["mkfs.xfs", "-q"], "defaults", "on"),
    (Location::Btrfs, &["mkfs.btrfs", "-q"], "defaults", "on"),
    (
        Location::Compressed,
        &["mkfs.btrfs", "-q"],
        "compress-force=zstd",
        "on",
    ),
    (
        Location::Nodatacow,
        &["mkfs.btrfs", "-q"],
        "nodatacow",
        "on",
    ),
    (Location::OnCachedLoop, EXT4, "defaults", "off"),
];

impl Locations {
    /// Returns `None` and reports a skip if loop devices are not available.
    pub(crate) fn create() -> Option<Self> {
        let mut locations = Self::none(scratch::directory());
        for (location, mkfs, options, direct) in FILESYSTEMS {
            let device = locations.attach(*location, FILESYSTEM_BYTES, direct, false)?;
            locations.mount(*location, mkfs, &device, options);
        }
        let tmpfs = locations.at(Location::Tmpfs);
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
        locations._mounts.push(Mounted::existing(&tmpfs));
        for (location, direct) in [(Location::Raw, "on"), (Location::RawCached, "off")] {
            let device = locations.attach(location, DEVICE_BYTES, direct, true)?;
            locations.raw.push((location, device.into()));
        }
        Some(locations)
    }

    /// dm and md devices on UML's disks.
    pub(crate) fn stacked() -> Self {
        let mut locations = Self::none(scratch::directory());
        for stack in STACKS {
            let device = stack.make();
            if stack.has_filesystem {
                locations.mount(stack.location, EXT4, &device, "defaults");
            } else {
                locations.raw.push((stack.location, device.into()));
            }
        }
        locations
    }

    fn none(directory: tempfile::TempDir) -> Self {
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

    pub(crate) fn target(&self, location: Location) -> Target {
        let backing = matches!(location, Location::RawCached | Location::OnCachedLoop)
            .then(|| self.image(location));
        match self.raw.iter().find(|(at, _)| *at == location) {
            Some((_, device)) => Target {
                path: device.clone(),
                directory: self.root().into(),
                backing,
            },
            None => Target {
                path: self.at(location).join("t1"),
                directory: self.at(location),
                backing,
            },
        }
    }

    fn attach(
        &mut self,
        location: Location,
        bytes: u64,
        direct: &str,
        full: bool,
    ) -> Option<String> {
        let image = self.image(location);
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

    fn mount(&mut self, location: Location, mkfs: &[&str], device: &str, options: &str) {
        scratch::run(mkfs[0], &[&mkfs[1..], &[device]].concat()).unwrap();
        self._mounts
            .push(Mounted::with_options(device, &self.at(location), options));
    }

    fn image(&self, location: Location) -> PathBuf {
        self.root().join(format!("{location:?}.image"))
    }

    fn at(&self, location: Location) -> PathBuf {
        self.root().join(format!("{location:?}"))
    }
}
