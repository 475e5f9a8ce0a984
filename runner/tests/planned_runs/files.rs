//! Scratch filesystems, the files that exist before a job, and their state afterward.

use crate::scratch::{self, Disk, Loop, Mounted};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File},
    os::unix::fs::{FileExt, MetadataExt},
    path::{Path, PathBuf},
};

pub(crate) const KIB: u64 = 1 << 10;
pub(crate) const MIB: u64 = 1 << 20;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Filesystem {
    Ext4,
    Tmpfs,
}

/// State of the file `target` before the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Content {
    Absent,
    /// Created by Leadline.
    Owned,
    /// Created by Leadline, as a sparse file.
    OwnedSparse,
    Foreign,
    /// The file is the backing file of the loop device that is the target.
    LoopDevice,
}

pub(crate) struct Case {
    pub filesystem: Filesystem,
    pub content: Content,
    /// Length of the file.
    pub length: u64,
    /// Whether overwriting foreign data is confirmed.
    pub confirms: bool,
    /// Jobs that use the file `target` or the directory `.` instead of a path.
    pub jobs: Vec<Value>,
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (filesystem, content, length) = (self.filesystem, self.content, self.length);
        let confirms = if self.confirms { "" } else { " unconfirmed" };
        let jobs = json!(self.jobs);
        write!(f, "{filesystem:?} {content:?} {length}{confirms} {jobs}")
    }
}

/// Both filesystems, mounted once for all cases.
pub(crate) struct Scene {
    ext4: Disk,
    _tmpfs: Mounted,
    tmpfs: PathBuf,
    _directory: tempfile::TempDir,
}

impl Scene {
    /// Returns `None` and reports a skipped test if the host does not permit mounting.
    pub(crate) fn create() -> Option<Self> {
        let ext4 = Disk::ext4()?;
        let directory = scratch::directory();
        let tmpfs = directory.path().join("tmpfs");
        fs::create_dir(&tmpfs).unwrap();
        let args = ["-t", "tmpfs", "-o", "size=128m", "scratch"];
        scratch::run("mount", &[&args[..], &[tmpfs.to_str().unwrap()]].concat()).unwrap();
        Some(Self {
            ext4,
            _tmpfs: Mounted::existing(&tmpfs),
            tmpfs,
            _directory: directory,
        })
    }
}

/// A case's directory, removed on drop.
pub(crate) struct Directory {
    pub path: PathBuf,
    device: Option<Loop>,
}

impl Directory {
    pub(crate) fn create(case: &Case, scene: &Scene, seed: u64) -> Self {
        let root = match case.filesystem {
            Filesystem::Ext4 => &scene.ext4.at,
            Filesystem::Tmpfs => &scene.tmpfs,
        };
        let path = root.join(format!("case{seed}"));
        fs::create_dir(&path).unwrap();
        fs::write(path.join("neighbor"), b"unrelated").unwrap();
        let target = path.join("target");
        case.create_file(&target);
        let has_device = case.content == Content::LoopDevice;
        let device = has_device.then(|| Loop::attach(&target, &[]).unwrap());
        Self { path, device }
    }

    /// Returns the jobs with paths in this directory.
    pub(crate) fn document(&self, case: &Case) -> Value {
        let target = match &self.device {
            Some(device) => PathBuf::from(&device.0),
            None => self.path.join("target"),
        };
        let mut jobs = case.jobs.clone();
        for job in &mut jobs {
            let options = job.as_object_mut().unwrap();
            if options.contains_key("directory") {
                options.insert("directory".into(), json!(self.path));
            } else {
                options.insert("filename".into(), json!(target));
            }
        }
        json!({ "jobs": jobs })
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        drop(self.device.take());
        fs::remove_dir_all(&self.path).unwrap();
    }
}

impl Case {
    fn create_file(&self, path: &Path) {
        if self.content == Content::Absent {
            return;
        }
        let file = File::create(path).unwrap();
        let is_sparse = self.content == Content::OwnedSparse;
        let step = if is_sparse { 256 * KIB } else { 64 * KIB };
        // A blank loop device needs no confirmation.
        if self.content != Content::LoopDevice {
            for offset in (0..self.length).step_by(step as usize) {
                let bytes = (64 * KIB).min(self.length - offset) as usize;
                file.write_all_at(&vec![0x5a; bytes], offset).unwrap();
            }
        }
        file.set_len(self.length).unwrap();
        file.sync_all().unwrap();
        drop(file);
        if matches!(self.content, Content::Owned | Content::OwnedSparse) {
            scratch::mark_owned(path);
        }
    }
}

/// State of a file.
#[derive(PartialEq)]
pub(crate) struct FileState {
    pub content: Vec<u8>,
    pub allocated_bytes: u64,
    /// Modification time, in nanoseconds since the epoch.
    pub modified_ns: i128,
}

/// All files in a directory by path.
pub(crate) type Snapshot = BTreeMap<PathBuf, FileState>;

pub(crate) fn snapshot(directory: &Path) -> Snapshot {
    let entries = fs::read_dir(directory).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .map(|path| (path.clone(), file_state(&path)))
        .collect()
}

fn file_state(path: &Path) -> FileState {
    let stat = fs::metadata(path).unwrap();
    FileState {
        content: fs::read(path).unwrap(),
        allocated_bytes: stat.blocks() * 512,
        modified_ns: i128::from(stat.mtime()) * 1_000_000_000 + i128::from(stat.mtime_nsec()),
    }
}
