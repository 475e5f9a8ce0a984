//! The ownership mark of files that a run created: an xattr with inode, length and modification
//! time. Any later write by another program invalidates it. On a filesystem without user xattrs no
//! file is ever owned.

use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};
use std::{fs::File, io, os::unix::fs::MetadataExt, path::Path};

const XATTR: &str = "user.leadline.made";
/// Four numbers of up to 20 digits.
const MAX_BYTES: usize = 96;

/// Returns true if a run created the file and nothing else has written it since.
pub(crate) fn is_owned(path: &Path) -> bool {
    let Ok(file) = File::open(path) else {
        return false;
    };
    let mut stored = [0u8; MAX_BYTES];
    let length = fgetxattr(&file, XATTR, &mut stored).unwrap_or(0);
    length > 0 && mark(&file).is_ok_and(|mark| mark.as_bytes() == &stored[..length])
}

/// Marks the current state of a file.
///
/// # Errors
/// EOPNOTSUPP without user xattrs.
pub(crate) fn mark_owned(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    let mark = mark(&file)?;
    Ok(fsetxattr(
        &file,
        XATTR,
        mark.as_bytes(),
        XattrFlags::empty(),
    )?)
}

fn mark(file: &File) -> io::Result<String> {
    let found = file.metadata()?;
    let inode = found.ino();
    let length = found.len();
    Ok(format!(
        "{inode} {length} {} {}",
        found.mtime(),
        found.mtime_nsec()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn mark_is_valid_until_the_next_write() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "data").unwrap();
        assert!(!is_owned(&path), "never marked");
        if let Err(error) = mark_owned(&path) {
            return crate::system::host::fixture::skip(&format!("no user xattrs: {error}"));
        }
        assert!(is_owned(&path));
        assert_eq!(fs::read(&path).unwrap(), b"data");
        assert!(is_owned(&path), "reading changes nothing");
        // File times advance once per tick (up to 10 ms).
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&path, "DATA").unwrap();
        assert!(!is_owned(&path), "same length");
        mark_owned(&path).unwrap();
        fs::copy(&path, dir.path().join("copy")).unwrap();
        assert!(is_owned(&path) && !is_owned(&dir.path().join("copy")));
        assert!(!is_owned(&dir.path().join("missing")));
    }
}
