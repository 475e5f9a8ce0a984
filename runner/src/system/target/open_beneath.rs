//! Opens and removes files below their target root without following symbolic links, so a path
//! admitted by the guard cannot be replaced with a link to another location.

use crate::system::guard::Guard;
use rustix::{
    fs::{AtFlags, Mode, OFlags, ResolveFlags, open, openat2, unlinkat},
    io::Errno,
};
use std::{
    os::fd::{AsFd, BorrowedFd, OwnedFd},
    path::Path,
};

/// Mode of new files before the umask, as in fio.
const NEW_FILE_MODE: Mode = Mode::from_raw_mode(0o644);
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

pub(crate) fn open_in_root(guard: &Guard, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    match guard.permissions.root_containing(path) {
        Some((root, directory)) => open_beneath(directory, path.strip_prefix(root), flags),
        None if guard.permissions.has_roots() => Err(Errno::XDEV),
        None => {
            let directory = open("/", DIRECTORY, Mode::empty())?;
            open_beneath(directory.as_fd(), path.strip_prefix("/"), flags)
        }
    }
}

fn open_beneath<E>(
    directory: BorrowedFd,
    relative: Result<&Path, E>,
    flags: OFlags,
) -> Result<OwnedFd, Errno> {
    let mode = if flags.contains(OFlags::CREATE) {
        NEW_FILE_MODE
    } else {
        Mode::empty()
    };
    let relative = match relative {
        Ok(rest) if !rest.as_os_str().is_empty() => rest,
        // The path is the target root itself.
        _ => Path::new("."),
    };
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    openat2(directory, relative, flags, mode, resolve)
}

pub(crate) fn remove_in_root(guard: &Guard, path: &Path) -> Result<(), Errno> {
    let parent = path.parent().unwrap_or(Path::new("/"));
    let directory = open_in_root(guard, parent, DIRECTORY)?;
    unlinkat(
        directory,
        path.file_name().unwrap_or_default(),
        AtFlags::empty(),
    )
}
