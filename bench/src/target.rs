//! What contenders do I/O on. The bench makes every target itself and removes it again, also when it fails; it never
//! touches a device that it did not make. Making loop devices and zram takes root.

mod file;
mod loopback;
mod zram;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde::Serialize;
use tempfile::TempDir;

use crate::work::Work;
use file::DataFile;
use loopback::Loopback;
use zram::{Mounted, ZramDevice};

/// What a cell does I/O on.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    /// A file on the disk of the bench's folder.
    File {
        /// Its size.
        mib: u64,
    },
    /// A loop device over a file on that disk, with direct I/O of its own.
    LoopOnExt4,
    /// A loop device over a file in memory.
    LoopOnTmpfs,
    /// A compressed device in memory; its data do not compress.
    Zram,
    /// A file on ext4 on such a device: raw writes to it are the guard's to refuse.
    FileOnZram,
    /// No I/O at all.
    Nothing,
}

/// Size of loop devices and zram: larger than a processor's caches, small enough to stay in memory.
const DEVICE_MIB: u64 = 512;

/// One target.
pub trait Target {
    /// The file or device.
    fn path(&self) -> &Path;

    /// Brings the page cache into the state that the workload wants: everything in it, or nothing.
    ///
    /// # Errors
    /// What the system says.
    fn prepare(&self, work: &Work) -> Result<()>;
}

/// The targets made so far. Fields are dropped in their order: what lies in the folder goes before it.
pub struct Targets {
    made: HashMap<TargetKind, Result<Box<dyn Target>, String>>,
    folder: TempDir,
}

impl Targets {
    /// None yet; files go below `folder`.
    ///
    /// # Errors
    /// Where the folder cannot be made.
    pub fn new(folder: &Path) -> Result<Self> {
        std::fs::create_dir_all(folder)?;
        let folder = folder.canonicalize()?;
        Ok(Self {
            folder: TempDir::new_in(folder).context("making a folder for the targets")?,
            made: HashMap::new(),
        })
    }

    /// This one, made when it is wanted for the first time; or why it cannot be made.
    pub fn get(&mut self, kind: TargetKind) -> Result<&dyn Target, String> {
        let folder = self.folder.path();
        let made = self
            .made
            .entry(kind)
            .or_insert_with(|| make(kind, folder).map_err(|error| format!("{error:#}")));
        made.as_ref().map(|target| &**target).map_err(Clone::clone)
    }
}

fn make(kind: TargetKind, folder: &Path) -> Result<Box<dyn Target>> {
    Ok(match kind {
        TargetKind::File { mib } => {
            Box::new(DataFile::new(&folder.join(format!("{mib}m.data")), mib)?)
        }
        TargetKind::LoopOnExt4 => Box::new(Loopback::new(folder, true)?),
        TargetKind::LoopOnTmpfs => Box::new(Loopback::new(Path::new("/dev/shm"), false)?),
        TargetKind::Zram => Box::new(ZramDevice::filled(DEVICE_MIB)?),
        TargetKind::FileOnZram => Box::new(Mounted::new(folder, DEVICE_MIB)?),
        TargetKind::Nothing => Box::new(Nothing(PathBuf::new())),
    })
}

struct Nothing(PathBuf);

impl Target for Nothing {
    fn path(&self) -> &Path {
        &self.0
    }

    fn prepare(&self, _work: &Work) -> Result<()> {
        Ok(())
    }
}

fn need_root(what: &str) -> Result<()> {
    if rustix::process::geteuid().is_root() {
        Ok(())
    } else {
        bail!("{what} takes root")
    }
}

/// Runs a program of the system and returns what it printed.
fn system(program: &str, args: &[&str]) -> Result<String> {
    let output = Command::new(program)
        .args(args)
        .output()
        .with_context(|| format!("{program} cannot be started"))?;
    if !output.status.success() {
        bail!(
            "{program} {}: {}",
            args.join(" "),
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
