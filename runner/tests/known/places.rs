//! Where cases happen: filesystems on loop devices of our own, a tmpfs, and loop devices by themselves; in a user-mode Linux,
//! dm and md devices and filesystems on them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::scratch::{self, Loop, Mounted};
use crate::stack::STACKS;

/// Bytes of a filesystem: the least that mkfs.xfs takes, with a log that is not cut short.
const FILESYSTEM_BYTES: u64 = 320 << 20;
/// Bytes of a loop device without one: no more than a case reads, so that nothing lies behind to be read ahead.
const DEVICE_BYTES: u64 = crate::state::BYTES;

/// A place.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Place {
    Ext4,
    Xfs,
    Btrfs,
    Compressed,
    Nodatacow,
    Tmpfs,
    /// A loop device past the page cache of its file.
    Raw,
    /// A loop device through the page cache of its file.
    RawCached,
    /// ext4 on such a one.
    OnCachedLoop,
    /// dm-linear over a disk.
    Linear,
    /// ext4 on dm-linear.
    OnLinear,
    /// dm-stripe over two disks.
    Striped,
    /// dm-crypt over a md raid1 of two disks.
    CryptOnRaid1,
    /// md raid0 over two disks.
    Raid0,
    /// ext4 on md raid0.
    OnRaid0,
    /// md raid1 over two disks.
    Raid1,
    /// ext4 on md raid1.
    OnRaid1,
}

/// All places, made once for all cases.
pub struct Places {
    // In this order they are undone.
    _mounts: Vec<Mounted>,
    loops: Vec<Loop>,
    /// Those without a filesystem.
    raw: Vec<(Place, PathBuf)>,
    directory: tempfile::TempDir,
}

/// What a case works on.
pub struct Target {
    /// The file or device.
    pub path: PathBuf,
    /// The directory of the filesystem; of the backing file, for a device.
    pub directory: PathBuf,
    /// The backing file, where that is cached.
    pub backing: Option<PathBuf>,
}

const EXT4: &[&str] = &[
    "mkfs.ext4",
    "-q",
    "-E",
    "lazy_itable_init=0,lazy_journal_init=0",
];

/// Each filesystem: how it is made, and the options of its mount and its loop.
const FILESYSTEMS: &[(Place, &[&str], &str, &str)] = &[
    (Place::Ext4, EXT4, "defaults", "on"),
    (Place::Xfs, &["mkfs.xfs", "-q"], "defaults", "on"),
    (Place::Btrfs, &["mkfs.btrfs", "-q"], "defaults", "on"),
    (
        Place::Compressed,
        &["mkfs.btrfs", "-q"],
        "compress-force=zstd",
        "on",
    ),
    (Place::Nodatacow, &["mkfs.btrfs", "-q"], "nodatacow", "on"),
    (Place::OnCachedLoop, EXT4, "defaults", "off"),
];

impl Places {
    /// Makes all of them; `None`, said aloud, where loop devices cannot be had.
    pub fn make() -> Option<Self> {
        let mut places = Self::none(scratch::directory());
        for (place, mkfs, options, direct) in FILESYSTEMS {
            let device = places.attach(*place, FILESYSTEM_BYTES, direct, false)?;
            places.mount(*place, mkfs, &device, options);
        }
        let tmpfs = places.at(Place::Tmpfs);
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
        places._mounts.push(Mounted::there(&tmpfs));
        for (place, direct) in [(Place::Raw, "on"), (Place::RawCached, "off")] {
            let device = places.attach(place, DEVICE_BYTES, direct, true)?;
            places.raw.push((place, device.into()));
        }
        Some(places)
    }

    /// Piles up dm and md on the disks of a user-mode Linux.
    pub fn stacked() -> Self {
        let mut places = Self::none(tempfile::tempdir().unwrap());
        for stack in STACKS {
            let device = stack.make();
            if stack.has_filesystem {
                places.mount(stack.place, EXT4, &device, "defaults");
            } else {
                places.raw.push((stack.place, device.into()));
            }
        }
        places
    }

    fn none(directory: tempfile::TempDir) -> Self {
        Self {
            _mounts: Vec::new(),
            loops: Vec::new(),
            raw: Vec::new(),
            directory,
        }
    }

    /// Everything lies under it.
    pub fn root(&self) -> &Path {
        self.directory.path()
    }

    /// What a case of this place works on.
    pub fn target(&self, place: Place) -> Target {
        let backing =
            matches!(place, Place::RawCached | Place::OnCachedLoop).then(|| self.image(place));
        match self.raw.iter().find(|(at, _)| *at == place) {
            Some((_, device)) => Target {
                path: device.clone(),
                directory: self.root().into(),
                backing,
            },
            None => Target {
                path: self.at(place).join("t1"),
                directory: self.at(place),
                backing,
            },
        }
    }

    fn attach(&mut self, place: Place, bytes: u64, direct: &str, full: bool) -> Option<String> {
        let image = self.image(place);
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

    fn mount(&mut self, place: Place, mkfs: &[&str], device: &str, options: &str) {
        scratch::run(mkfs[0], &[&mkfs[1..], &[device]].concat()).unwrap();
        self._mounts
            .push(Mounted::with_options(device, &self.at(place), options));
    }

    fn image(&self, place: Place) -> PathBuf {
        self.root().join(format!("{place:?}.image"))
    }

    fn at(&self, place: Place) -> PathBuf {
        self.root().join(format!("{place:?}"))
    }
}
