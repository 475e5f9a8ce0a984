//! The targets of a run: admitted by the guard, laid out, opened, and tidied away. After `open` everything goes by
//! descriptor; a path is looked at once.
//!
//! A device to be written is held exclusively from `open` until the `Targets` are dropped; the descriptors that do
//! the I/O are further openings of that very hold, so no name can be swapped underneath. Not here: whether it may be
//! touched (`guard`), what is done to it (`engine`).

pub mod cache;
pub(crate) mod cancellable;
pub(crate) mod created_files;
pub(crate) mod layout;
pub mod layout_data;
pub(crate) mod leftovers;
pub(crate) mod loop_devices;
pub(crate) mod open;

use crate::system::guard::{Admission, Guard};
use crate::system::host::kernel::Dev;
use crate::system::target::created_files::Made;
use crate::system::target::loop_devices::Attached;
use leadline_protocol::plan::resolved::Target;
use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;

/// Bytes written or read at once by layout and pre_read: large enough that the device, not the system call, is the
/// limit, and small enough to stop within a second.
const CHUNK_BYTES: usize = 1 << 20;
/// The time between two reports of progress.
const PROGRESS_EVERY: std::time::Duration = std::time::Duration::from_millis(100);

/// A target ready for I/O.
#[derive(Debug)]
pub struct OpenTarget {
    /// Its descriptor; for a target that is nothing (`ioengine=null`) that of /dev/null.
    pub fd: OwnedFd,
    /// What the plan says of it.
    pub target: Target,
}

impl OpenTarget {
    /// The same file once more, for whoever outlives this one.
    ///
    /// # Errors
    /// What fcntl(2) says, such as EMFILE.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            fd: self.fd.try_clone()?,
            target: self.target.clone(),
        })
    }
}

/// How something that can be stopped came to its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Finish {
    /// It is done.
    Done,
    /// The stop flag was set before.
    Stopped,
}

/// What one run holds and made. Dropping it lets the devices go, and detaches the loop devices of its own; files are
/// removed by `clean_up` only.
#[derive(Debug)]
pub struct Targets {
    roots: Vec<PathBuf>,
    /// The mark of the study that the run is a step of.
    study: Option<String>,
    claims: BTreeMap<Dev, Admission>,
    loops: BTreeMap<String, Attached>,
    made: Vec<Made>,
    /// Files of earlier runs of ours that nobody else has written, as they were found.
    ours: Vec<Made>,
}

impl Targets {
    /// Nothing held yet. `roots`: the target roots, as given to `host::View`.
    pub fn new(roots: Vec<PathBuf>) -> Self {
        Self {
            roots,
            study: None,
            claims: BTreeMap::new(),
            loops: BTreeMap::new(),
            made: Vec::new(),
            ours: Vec::new(),
        }
    }

    /// As a step of the study with this mark: files that carry it count as made by the run.
    pub fn with_file_id(self, mark: Option<String>) -> Self {
        Self {
            study: mark,
            ..self
        }
    }

    fn guard(&self) -> Guard {
        Guard::live(&self.roots)
            .with_own(self.loops.values().map(|attached| attached.dev).collect())
    }
}
