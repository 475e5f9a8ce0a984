//! Targets. The bench creates each target and removes it afterward, even after a failure. It never
//! uses a device that it did not create. Loop devices and zram require root.

pub mod file;
pub mod interface;
mod loopback;
pub mod system;
mod zram;

use crate::work::Work;
use anyhow::{Context, Result};
use file::DataFile;
use interface::Target;
use loopback::Loopback;
use serde::Serialize;
use std::{
    collections::HashMap,
    path::{Path, PathBuf},
};
use tempfile::TempDir;
use zram::{Mounted, ZramDevice};

#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A file in the bench directory.
    File {
        mib: u64,
    },
    /// A loop device with direct I/O, backed by a file in the bench directory.
    LoopOnExt4,
    /// A loop device backed by a file in memory.
    LoopOnTmpfs,
    /// A zram device with incompressible data.
    Zram,
    /// A file on ext4 on zram; the guard rejects raw writes to zram.
    FileOnZram,
    Nothing,
}

/// Size of loop devices and zram: larger than the CPU caches, small enough for memory.
const DEVICE_MIB: u64 = 512;

/// Fields are dropped in order: the targets before the directory that contains them.
pub struct Targets {
    created: HashMap<TargetKind, Result<Box<dyn Target>, String>>,
    folder: TempDir,
}

impl Targets {
    pub fn new(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let folder = folder.canonicalize()?;
        Ok(Self {
            folder: TempDir::new_in(folder).context("creating a directory for the targets")?,
            created: HashMap::new(),
        })
    }

    /// Creates the target on first use.
    pub fn get_or_create(&mut self, kind: TargetKind) -> Result<&dyn Target, String> {
        let folder = self.folder.path();
        let target = self
            .created
            .entry(kind)
            .or_insert_with(|| create(kind, folder).map_err(|error| format!("{error:#}")));
        target
            .as_ref()
            .map(|target| &**target)
            .map_err(Clone::clone)
    }
}

fn create(kind: TargetKind, folder: &Path) -> Result<Box<dyn Target>> {
    Ok(match kind {
        TargetKind::File { mib } => {
            Box::new(DataFile::new(&folder.join(format!("{mib}m.data")), mib)?)
        }
        TargetKind::LoopOnExt4 => Box::new(Loopback::new(folder, DEVICE_MIB, true)?),
        TargetKind::LoopOnTmpfs => {
            Box::new(Loopback::new(Path::new("/dev/shm"), DEVICE_MIB, false)?)
        }
        TargetKind::Zram => Box::new(ZramDevice::filled(DEVICE_MIB)?),
        TargetKind::FileOnZram => Box::new(Mounted::new(folder, DEVICE_MIB)?),
        TargetKind::Nothing => Box::new(NullTarget(PathBuf::new())),
    })
}

struct NullTarget(PathBuf);

impl Target for NullTarget {
    fn path(&self) -> &Path {
        &self.0
    }

    fn prepare(&self, _work: &Work) -> Result<()> {
        Ok(())
    }
}
