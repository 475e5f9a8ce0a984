//! The mark on files that a run of ours made: an extended attribute that names the inode, its length and the time of its
//! last change of data. Whoever writes the file afterwards makes the mark untrue, and the file is nobody's but theirs.
//!
//! A filesystem without user attributes keeps no marks: then nothing there is ever taken for ours.

use rustix::fs::{XattrFlags, fgetxattr, fsetxattr};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

const NAME: &str = "user.leadline.made";
/// Four numbers of at most 20 digits.
const MAX_BYTES: usize = 96;

/// Whether a run made the file at a path, and nobody else has written it since.
pub fn is_owned(path: &Path) -> bool {
    let mut kept = [0u8; MAX_BYTES];
    let Ok(file) = File::open(path) else {
        return false;
    };
    let length = fgetxattr(&file, NAME, &mut kept).unwrap_or(0);
    length > 0 && text(&file).is_ok_and(|text| text.as_bytes() == &kept[..length])
}

/// Marks a file as it is now.
///
/// # Errors
/// What the kernel says, such as EOPNOTSUPP.
pub fn mark_owned(path: &Path) -> io::Result<()> {
    let file = File::open(path)?;
    Ok(fsetxattr(
        &file,
        NAME,
        text(&file)?.as_bytes(),
        XattrFlags::empty(),
    )?)
}

fn text(file: &File) -> io::Result<String> {
    let found = file.metadata()?;
    Ok(format!(
        "{} {} {} {}",
        found.ino(),
        found.len(),
        found.mtime(),
        found.mtime_nsec()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_mark_lasts_until_somebody_writes() {
        let dir = tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "data").unwrap();
        assert!(!is_owned(&path), "never marked");
        if let Err(error) = mark_owned(&path) {
            return crate::system::host::fixture::skip(&format!(
                "no user attributes here: {error}"
            ));
        }
        assert!(is_owned(&path));
        assert_eq!(fs::read(&path).unwrap(), b"data");
        assert!(is_owned(&path), "reading changes nothing");
        // The kernel's clock for file times stands still for up to a tick (10 ms).
        std::thread::sleep(std::time::Duration::from_millis(20));
        fs::write(&path, "DATA").unwrap();
        assert!(!is_owned(&path), "of the same length");
        mark_owned(&path).unwrap();
        fs::copy(&path, dir.path().join("copy")).unwrap();
        assert!(is_owned(&path) && !is_owned(&dir.path().join("copy")));
        assert!(!is_owned(&dir.path().join("gone")));
    }
}
