//! Files: under a target root, not among the server's own, no image of a loop device, no swap, no other name elsewhere.

use crate::plan::host_view::PathKind;
use crate::system::guard::{FIELD, Guard, Purpose};
use crate::system::host::block_device::Backing;
use crate::system::host::resolved_path::{ResolvedPath, Stat};
use leadline_protocol::problem::Problem;
use rustix::fs::{Access, access};
use rustix::io::Errno;
use std::path::Path;

impl Guard {
    pub(crate) fn admit_file(&self, place: &ResolvedPath, purpose: Purpose) -> Result<(), Problem> {
        if !self.is_under_root(&place.path) {
            return Err(self.outside_roots(&place.path));
        }
        if self.is_result(&place.path) {
            let sentence = format!(
                "{} lies where the server keeps its database and token.",
                place.path.display()
            );
            return Err(Problem::guard(
                "results",
                FIELD,
                sentence,
                "Name a file under another directory.",
            ));
        }
        match place.stat {
            Some(stat) if purpose == Purpose::Write => {
                self.refuse_needed_file(&place.path, stat)?;
                permitted(&place.path, Access::READ_OK | Access::WRITE_OK)
            }
            Some(_) => permitted(&place.path, Access::READ_OK),
            // Nothing can be said of a directory that is not there; the plan refuses it.
            None if place.kind == PathKind::MissingDirectory => Ok(()),
            // It will have to be made, also for reading.
            None => permitted(place.directory(), Access::WRITE_OK | Access::EXEC_OK),
        }
    }

    fn outside_roots(&self, path: &Path) -> Problem {
        let roots = self
            .roots
            .iter()
            .map(|root| root.display().to_string())
            .collect::<Vec<_>>()
            .join(", ");
        let sentence = format!(
            "{} lies outside the target roots ({roots}).",
            path.display()
        );
        Problem::guard(
            "outside_roots",
            FIELD,
            sentence,
            "Name a file under one of them, or start with --target-root for its directory.",
        )
    }

    /// What the file is to somebody else.
    fn refuse_needed_file(&self, path: &Path, stat: Stat) -> Result<(), Problem> {
        if let Some(name) = self.loop_on_file(path, stat) {
            let sentence = format!(
                "{} is the file behind {name}: writing it would change that device.",
                path.display()
            );
            return Err(Problem::guard(
                "backs_loop",
                FIELD,
                sentence,
                format!("Detach it (losetup -d /dev/{name}), or use the device itself."),
            ));
        }
        if self.host.swaps.iter().any(|swap| {
            Path::new(swap) == path
                || ResolvedPath::find(Path::new(swap))
                    .stat
                    .is_some_and(|s| s.is_same(&stat))
        }) {
            let sentence = format!("{} is swapped to.", path.display());
            return Err(Problem::guard(
                "swap_file",
                FIELD,
                sentence,
                "Choose another file, or end the swapping with swapoff.",
            ));
        }
        refuse_hard_links(path, stat)
    }

    /// The loop device that a file is behind.
    fn loop_on_file(&self, path: &Path, stat: Stat) -> Option<&str> {
        let is_behind =
            |backing: &Backing| backing.is_file(stat) || Path::new(&backing.path) == path;
        self.host
            .loops()
            .find(|block| block.backing.as_ref().is_some_and(is_behind))
            .map(|block| block.name.as_str())
    }
}

/// Refuses a file that has another name, which may lie outside of the roots.
pub(crate) fn refuse_hard_links(path: &Path, stat: Stat) -> Result<(), Problem> {
    if stat.links <= 1 {
        return Ok(());
    }
    let sentence = format!(
        "{} has {} names (hard links), so that writing it may change a file elsewhere.",
        path.display(),
        stat.links
    );
    let remedy = "Choose another name, or remove this one and let the run make the file.";
    Err(Problem::guard("hard_linked", FIELD, sentence, remedy))
}

/// Whether access(2) allows it; a filesystem mounted read-only is told from missing rights.
fn permitted(path: &Path, wanted: Access) -> Result<(), Problem> {
    match access(path, wanted) {
        Ok(()) => Ok(()),
        Err(Errno::ROFS) => {
            let sentence = format!(
                "{} lies on a filesystem that is mounted read-only.",
                path.display()
            );
            Err(Problem::guard(
                "read_only",
                FIELD,
                sentence,
                "Choose a target on another filesystem.",
            ))
        }
        Err(error) => Err(permission_denied(path, error)),
    }
}

/// The user of the runner may not do it, or, as EPERM says of root, its container.
pub(crate) fn permission_denied(path: &Path, error: Errno) -> Problem {
    let sentence = format!(
        "{} cannot be opened: {}.",
        path.display(),
        std::io::Error::from(error)
    );
    let remedy = match error {
        Errno::PERM => {
            "Let the container or service have it (docker run --device, DeviceAllow=), or take away its immutable flag (chattr -i)."
        }
        _ => "Run as a user who may (root for devices), or change its rights.",
    };
    Problem::environment("permission_denied", FIELD, sentence, remedy)
}
