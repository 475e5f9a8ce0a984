//! Target names, kinds of writes, engines and modes, and a job for each combination.

use crate::scene::{MIB, Scene, Scratch};
use rustix::fs::{FileType, Mode};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::{
        fs::{MetadataExt, symlink},
        net::UnixListener,
    },
    path::{Component, Path, PathBuf},
};

/// How a path refers to the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Name {
    Path,
    Symlink,
    /// A symlink to a symlink in a directory like /dev/disk/by-id.
    ById,
    /// Another node of the same device.
    Node,
    /// A symlink like /dev/block/7:0 to another node.
    DevBlock,
    /// Relative to the root, with `..`.
    Relative,
    /// Through a symlink to the directory.
    LinkedDirectory,
}

pub(crate) const DEVICE_NAMES: &[Name] = &[
    Name::Path,
    Name::Symlink,
    Name::ById,
    Name::Node,
    Name::DevBlock,
    Name::Relative,
];
pub(crate) const FILE_NAMES: &[Name] = &[
    Name::Path,
    Name::Symlink,
    Name::Relative,
    Name::LinkedDirectory,
];

impl Name {
    /// Creates the required links and returns a path of this kind to the target. Symlinks to files
    /// are under the root.
    pub(crate) fn of(self, scene: &Scene, scratch: &Scratch) -> PathBuf {
        let target = &scene.target;
        let links = scratch.directory("names");
        match self {
            Self::Path => target.clone(),
            Self::Symlink => link(target, &links.join("link")),
            Self::ById => {
                let first = link(target, &links.join("disk"));
                fs::create_dir_all(links.join("by-id")).unwrap();
                assert!(first.is_symlink());
                link(Path::new("../disk"), &links.join("by-id/ata-HAZARD_1"))
            }
            Self::Node => node(target, &links.join("node")),
            Self::DevBlock => {
                let number = device_number(target);
                fs::create_dir_all(links.join("dev/block")).unwrap();
                node(target, &links.join("dev/disk"));
                link(
                    Path::new("../disk"),
                    &links.join(format!("dev/block/{}:{}", number.0, number.1)),
                )
            }
            Self::Relative => relative(target, &scene.roots[0]),
            Self::LinkedDirectory => link(target.parent().unwrap(), &links.join("directory"))
                .join(target.file_name().unwrap()),
        }
    }
}

fn link(to: &Path, at: &Path) -> PathBuf {
    let _ = fs::remove_file(at);
    symlink(to, at).unwrap();
    at.to_path_buf()
}

fn device_number(device: &Path) -> (u32, u32) {
    let number = fs::metadata(device).unwrap().rdev();
    (rustix::fs::major(number), rustix::fs::minor(number))
}

fn node(device: &Path, at: &Path) -> PathBuf {
    let (major, minor) = device_number(device);
    make_node(at, FileType::BlockDevice, major, minor)
}

pub(crate) fn make_node(at: &Path, kind: FileType, major: u32, minor: u32) -> PathBuf {
    let _ = fs::remove_file(at);
    let number = rustix::fs::makedev(major, minor);
    let mode = Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, at, kind, mode, number).unwrap();
    at.to_path_buf()
}

pub(crate) fn make_socket(at: &Path) -> UnixListener {
    UnixListener::bind(at).unwrap()
}

/// Relative path from a directory: up to `/`, then down again.
pub(crate) fn relative(target: &Path, from: &Path) -> PathBuf {
    let is_name = |component: &Component| matches!(component, Component::Normal(_));
    let up = "../".repeat(from.components().filter(is_name).count());
    PathBuf::from(up).join(target.strip_prefix("/").unwrap())
}

/// What a job does with the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    Write,
    RandWrite,
    Rw,
    RandRw,
    Trim,
    RandTrim,
    /// Writes to the second half.
    UpperHalf,
    /// Multiple workers.
    Workers,
    /// The second of two jobs; the first one writes to another, new file.
    SecondJob,
    /// A read job whose region is longer than the file.
    Layout,
    /// A read job whose layout writes the region.
    Overwrite,
    /// A read job with file_state=written.
    Written,
    Append,
    /// Without layout.
    NoLayout,
    Truncate,
    CreateOnOpen,
    Unlink,
    /// Through a loop device that the run creates.
    LoopDevice,
}

pub(crate) const DEVICE_KINDS: &[Kind] = &[
    Kind::Write,
    Kind::RandWrite,
    Kind::Trim,
    Kind::Rw,
    Kind::UpperHalf,
    Kind::RandTrim,
    Kind::SecondJob,
    Kind::RandRw,
    Kind::Workers,
];
pub(crate) const FILE_KINDS: &[Kind] = &[
    Kind::Write,
    Kind::Layout,
    Kind::LoopDevice,
    Kind::Overwrite,
    Kind::RandWrite,
    Kind::NoLayout,
    Kind::Written,
    Kind::Append,
    Kind::Truncate,
    Kind::SecondJob,
    Kind::Unlink,
    Kind::CreateOnOpen,
    Kind::Rw,
    Kind::UpperHalf,
];

impl Kind {
    fn options(self, size: u64) -> Value {
        let half = size / 2;
        match self {
            Self::Write | Self::SecondJob => json!({"rw": "write"}),
            Self::RandWrite => json!({"rw": "randwrite"}),
            Self::Rw => json!({"rw": "rw"}),
            Self::RandRw => json!({"rw": "randrw"}),
            Self::Trim => json!({"rw": "trim"}),
            Self::RandTrim => json!({"rw": "randtrim"}),
            Self::UpperHalf => json!({"rw": "write", "offset": half, "size": half}),
            Self::Workers => json!({"rw": "randwrite", "numjobs": 2}),
            Self::Layout => json!({"rw": "read", "size": size + MIB}),
            Self::Overwrite => json!({"rw": "read", "overwrite": 1}),
            Self::Written => json!({"rw": "read", "file_state": "written"}),
            Self::Append => json!({"rw": "write", "file_append": 1, "size": MIB}),
            Self::NoLayout => json!({"rw": "randwrite", "fallocate": "none"}),
            Self::Truncate => json!({"rw": "write", "fallocate": "truncate", "size": size + MIB}),
            Self::CreateOnOpen => json!({"rw": "write", "create_on_open": 1}),
            Self::Unlink => json!({"rw": "write", "unlink": 1}),
            Self::LoopDevice => json!({"rw": "write", "loop_device": 1}),
        }
    }
}

impl Kind {
    /// Whether these are read jobs, which may write, but only where no data exists yet.
    pub(crate) fn is_read(self) -> bool {
        matches!(self, Self::Layout | Self::Overwrite | Self::Written)
    }
}

/// One combination, for one job.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub name: Name,
    pub kind: Kind,
    pub engine: &'static str,
    pub direct: bool,
}

const MODES: [(&str, bool); 4] = [
    ("psync", true),
    ("io_uring", false),
    ("io_uring", true),
    ("psync", false),
];

impl std::fmt::Display for Case {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mode = if self.direct { "direct" } else { "buffered" };
        let Self {
            name, kind, engine, ..
        } = self;
        write!(f, "{kind:?} by {name:?}, {engine} {mode}")
    }
}

impl Case {
    pub(crate) fn job(&self, scene: &Scene, scratch: &Scratch) -> Value {
        let path = self.name.of(scene, scratch);
        let mut job = job(&path, scene.size, self.kind.options(scene.size));
        job["ioengine"] = json!(self.engine);
        job["direct"] = json!(u8::from(self.direct));
        if self.kind != Kind::SecondJob {
            return job;
        }
        let other = scene.roots[0].join("second-job.data");
        json!({"jobs": [self::job(&other, MIB, json!({"rw": "write", "unlink": 1})), job]})
    }
}

/// A short job. If `size` is 0, the job has no `size` option.
pub(crate) fn job(path: &Path, size: u64, changes: Value) -> Value {
    let filename = path.to_str().unwrap().replace(':', "\\:");
    let mut job = json!({"name": "hazard", "filename": filename, "bs": "4k", "direct": 1,
        "io_size": "256k"});
    if size > 0 {
        job["size"] = json!(size);
    }
    crate::scratch::program::with(&job, changes)
}

/// All combinations.
pub(crate) fn full(names: &[Name], kinds: &[Kind]) -> Vec<Case> {
    let mut cases = Vec::new();
    for &name in names {
        for &kind in kinds {
            for (engine, direct) in MODES {
                cases.push(Case {
                    name,
                    kind,
                    engine,
                    direct,
                });
            }
        }
    }
    cases
}

/// Combinations that cover each name, kind and mode at least once.
pub(crate) fn short(names: &[Name], kinds: &[Kind]) -> Vec<Case> {
    let count = names.len().max(kinds.len()).max(MODES.len());
    let nth = |index: usize| {
        let (engine, direct) = MODES[(index + index / MODES.len()) % MODES.len()];
        let (name, kind) = (names[index % names.len()], kinds[index % kinds.len()]);
        Case {
            name,
            kind,
            engine,
            direct,
        }
    };
    (0..count).map(nth).collect()
}
