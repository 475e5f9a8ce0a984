//! Targets of a run: checked by the guard, laid out, opened and cleaned up. After `open`, all I/O uses descriptors, so
//! that a path is resolved only once.
//!
//! A device opened for writing is held with O_EXCL from `open` until `Targets` is dropped. The descriptors for I/O are
//! reopened from that hold through /proc/self/fd, so the node cannot be replaced in between. The decision whether a
//! target may be touched is in `guard`, the I/O in `load`.

mod attached_loop;
pub mod cache;
pub(crate) mod cancellable;
mod checks;
mod created_files;
mod file_spec;
mod layout;
pub mod layout_data;
pub(crate) mod leftovers;
mod loop_devices;
mod open;
mod owned_file;
mod progress;
mod root_path;

use crate::system::guard::{Admission, Guard};
use crate::system::host::kernel::Dev;
use crate::system::target::attached_loop::AttachedLoop;
use crate::system::target::owned_file::OwnedFile;
use leadline_protocol::plan::target::Target;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// Bytes per call of layout and pre_read: large enough that the device is the limit, small enough to stop within a
/// second.
const CHUNK_BYTES: usize = 1 << 20;

/// A target that is ready for I/O.
#[derive(Debug)]
pub struct OpenTarget {
    /// For `ioengine=null` a descriptor of /dev/null.
    pub fd: OwnedFd,
    pub target: Target,
}

impl OpenTarget {
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            fd: self.fd.try_clone()?,
            target: self.target.clone(),
        })
    }
}

/// Result of an operation that the stop flag can end early.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Finish {
    Done,
    Stopped,
}

/// Everything that one run holds and creates. Dropping it releases devices and detaches the run's loop devices; files
/// are removed by `clean_up` only.
#[derive(Debug)]
pub struct Targets {
    roots: Vec<PathBuf>,
    /// `file_id` of the study that the run belongs to.
    file_id: Option<String>,
    claims: BTreeMap<Dev, Admission>,
    /// By path of the backing file.
    loops: BTreeMap<String, AttachedLoop>,
    created: Vec<OwnedFile>,
    /// Files of earlier runs that carry a valid ownership mark and that this run changes.
    reused: Vec<OwnedFile>,
}

impl Targets {
    /// `roots`: the target roots, as for `host::View`.
    pub fn new(roots: Vec<PathBuf>) -> Self {
        Self {
            roots,
            file_id: None,
            claims: BTreeMap::new(),
            loops: BTreeMap::new(),
            created: Vec::new(),
            reused: Vec::new(),
        }
    }

    /// Sets the `file_id` of the study. Files whose path contains it count as created by this run.
    pub fn with_file_id(self, file_id: Option<String>) -> Self {
        Self { file_id, ..self }
    }

    fn guard(&self) -> Guard {
        let own_loops = self.loops.values().map(|attached| attached.dev);
        Guard::live(&self.roots).with_own_loops(own_loops.collect())
    }
}
