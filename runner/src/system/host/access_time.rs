//! Opens files without changing their access time (atime). Symbolic links also have an atime, which
//! changes whenever a path is resolved through them.

use rustix::{fs::OFlags, io::Errno};
use std::os::fd::OwnedFd;

/// Tries O_NOATIME first, which only the owner and processes with CAP_FOWNER are permitted to use
/// (open(2)).
pub(crate) fn open_noatime(
    flags: OFlags,
    open: impl Fn(OFlags) -> Result<OwnedFd, Errno>,
) -> Result<OwnedFd, Errno> {
    match open(flags | OFlags::NOATIME) {
        Err(Errno::PERM) => open(flags),
        result => result,
    }
}
