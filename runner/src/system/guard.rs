//! Whether a target may be read or written. One way in, `Guard::admit`, for the dry run (whose answer is let go) and
//! for the run (which keeps it): they cannot differ.
//!
//! Raw writes go to loop devices only, whose file lies under a target root (or which the run itself
//! attached) and which nothing else uses; no flag opens more. What the devices are used by is `host::inventory`'s; the kernel has the last word by O_EXCL.

pub(crate) mod device;
pub(crate) mod file;
#[cfg(test)]
pub(crate) mod tests;

use crate::plan::host_view::PathKind;
use crate::system::host::interference::results_directory;
use crate::system::host::inventory::Inventory;
use crate::system::host::kernel::{Dev, Kernel};
use crate::system::host::resolved_path::ResolvedPath;
use leadline_protocol::problem::Problem;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

/// The option that a problem here is about.
const FIELD: &str = "filename";

/// What is to be done to a target.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Purpose {
    /// Its contents stay.
    Read,
    /// Its contents may be lost.
    Write,
}

/// The leave to touch a target. A device to be written is held O_EXCL for as long as this lives, so that nobody can
/// mount it, swap to it or build on it.
#[derive(Debug)]
pub struct Admission {
    /// The exclusive hold; `None` for files and for reading.
    pub claim: Option<OwnedFd>,
}

/// Who answers: one look at the host, and where files may be targets.
#[derive(Clone, Debug)]
pub struct Guard {
    /// What the look showed.
    pub host: Inventory,
    roots: Vec<PathBuf>,
    /// Loop devices that the run attached itself, to files that it was admitted to write.
    own: Vec<Dev>,
    /// Where the server keeps its database and token.
    results: Option<PathBuf>,
}

impl Guard {
    /// Looks at the host now. `roots`: directories under which files may be targets, without symbolic links; when
    /// empty, files may be anywhere (the command line by itself) and no device may be written.
    pub fn live(roots: &[PathBuf]) -> Self {
        Self::new(Inventory::read(&Kernel::live()), roots).with_results(results_directory())
    }

    /// Answers from a look taken before.
    pub fn new(host: Inventory, roots: &[PathBuf]) -> Self {
        Self {
            host,
            roots: roots
                .iter()
                .map(|root| root.canonicalize().unwrap_or_else(|_| root.clone()))
                .collect(),
            own: Vec::new(),
            results: None,
        }
    }

    fn with_results(self, results: Option<PathBuf>) -> Self {
        Self {
            results: results.and_then(|directory| directory.canonicalize().ok()),
            ..self
        }
    }

    /// Knows these loop devices for the run's own. All other gates stand: what is in use or read-only stays refused.
    pub fn with_own(self, own: Vec<Dev>) -> Self {
        Self { own, ..self }
    }

    /// Whether a path without symbolic links lies under a target root; component by component, so that `/data2` is
    /// not under `/data`.
    pub fn is_under_root(&self, path: &Path) -> bool {
        self.roots.is_empty() || self.root_of(path).is_some()
    }

    /// The target root that a path lies under.
    pub fn root_of(&self, path: &Path) -> Option<&Path> {
        self.roots
            .iter()
            .find(|root| path.starts_with(root))
            .map(PathBuf::as_path)
    }

    /// Whether a path lies where the server keeps its results, and under no target root within.
    fn is_result(&self, path: &Path) -> bool {
        let within = |results: &Path| {
            self.roots
                .iter()
                .any(|root| root != results && root.starts_with(results) && path.starts_with(root))
        };
        self.results
            .as_deref()
            .is_some_and(|results| path.starts_with(results) && !within(results))
    }

    /// Whether what is at a place may be touched.
    ///
    /// # Errors
    /// Why not. Codes: `not_a_block_device`, `not_a_file`, `outside_roots`, `results`, `hard_linked`, `backs_loop`, `swap_file`,
    /// `read_only`, `permission_denied`, `device_in_use`, `no_medium`, `raw_write_refused`, `identity_changed`.
    pub fn admit(&self, place: &ResolvedPath, purpose: Purpose) -> Result<Admission, Problem> {
        match (place.kind, place.stat) {
            (PathKind::Device, Some(stat)) => self.admit_device(&place.path, stat, purpose),
            _ if place.is_under_dev() => Err(not_a_device(&place.path)),
            (PathKind::Directory | PathKind::Device | PathKind::Other, _) => {
                Err(not_a_file(&place.path))
            }
            _ => self
                .admit_file(place, purpose)
                .map(|()| Admission { claim: None }),
        }
    }
}

fn not_a_device(path: &Path) -> Problem {
    let sentence = format!("{} is not a block device of this host.", path.display());
    Problem::invalid(
        "not_a_block_device",
        FIELD,
        sentence,
        "`leadline-runner devices` lists those there are; nothing is ever created under /dev.",
    )
}

fn not_a_file(path: &Path) -> Problem {
    let sentence = format!(
        "{} is neither a regular file nor a block device that can be reached.",
        path.display()
    );
    Problem::invalid(
        "not_a_file",
        FIELD,
        sentence,
        "Name a file (with `directory` for a directory), or a device as `leadline-runner devices` lists it.",
    )
}
