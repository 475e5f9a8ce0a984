//! Checks direct I/O in the target directories, cachestat(2) and PSI.

use crate::system::host::{
    cachestat,
    doctor::check::{fail, ok, warn},
    kernel::Kernel,
};
use leadline_protocol::doctor::Check;
use rustix::{
    fs::{FsWord, Mode, OFlags, fstatfs, open},
    io::{Errno, pwrite},
};
use std::{
    fs::{self, File},
    os::fd::AsFd,
    path::Path,
};

/// An alignment that works on every device.
const BLOCK_BYTES: usize = 4096;
/// f_type of tmpfs (linux/magic.h), which accepts O_DIRECT but ignores it.
const TMPFS_MAGIC: FsWord = 0x0102_1994;

pub(super) fn o_direct(directories: &[&Path]) -> Check {
    let [mut works, mut in_memory, mut unsupported, mut untested] = [(); 4].map(|()| Vec::new());
    for directory in directories {
        let path = directory.display().to_string();
        match try_direct(directory) {
            Ok(TMPFS_MAGIC) => in_memory.push(path),
            Ok(_) => works.push(path),
            Err(Errno::INVAL) => unsupported.push(path),
            Err(error) => untested.push(format!("{path}: {error}")),
        }
    }
    if !unsupported.is_empty() {
        fail(
            format!("not supported in {}", unsupported.join(", ")),
            "Use a target root (--target-root) on ext4, xfs or btrfs, or use direct=0.",
        )
    } else if !untested.is_empty() {
        warn(
            format!("cannot be tested in {}", untested.join(", ")),
            "Create the directory, and give the runner's user write access.",
        )
    } else if !in_memory.is_empty() {
        warn(
            format!(
                "accepted in {}, but ignored there (tmpfs)",
                in_memory.join(", ")
            ),
            "Use a target root (--target-root) on a filesystem backed by a block device.",
        )
    } else {
        ok(format!("works in {}", works.join(", ")))
    }
}

/// Writes one block to an unnamed temporary file. Returns the filesystem type.
fn try_direct(directory: &Path) -> Result<FsWord, Errno> {
    let memory = vec![0; 2 * BLOCK_BYTES];
    let head = memory.as_ptr().align_offset(BLOCK_BYTES);
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    let file = open(directory, flags, Mode::RUSR | Mode::WUSR)?;
    pwrite(&file, &memory[head..head + BLOCK_BYTES], 0)?;
    Ok(fstatfs(&file)?.f_type)
}

/// Counts the cached pages of the runner's own executable: some are always cached while it is
/// running.
pub(super) fn cachestat() -> Check {
    let counted = match std::env::current_exe().and_then(File::open) {
        Ok(file) => cached_pages(&file),
        Err(_) => Err(Errno::NOENT),
    };
    match counted {
        Ok(0) => warn(
            "reports no cached pages for the running executable",
            "Page cache residency is not measured on this filesystem.",
        ),
        Ok(_) => ok("allowed (Linux 6.5 or newer)"),
        Err(error) => warn(
            format!("not available: {error}"),
            "Use Linux 6.5 or newer, or allow cachestat in the container's seccomp profile. Page cache residency is not measured without it.",
        ),
    }
}

fn cached_pages(file: &File) -> Result<u64, Errno> {
    cachestat::cachestat(file.as_fd(), &(0..0)).map(|found| found.cached)
}

pub(super) fn psi(kernel: &Kernel) -> Check {
    match fs::read(kernel.proc.join("pressure/io")) {
        Ok(_) => ok("I/O pressure is available"),
        Err(error) => warn(
            format!("I/O pressure is not available: {error}"),
            "Boot with psi=1, on a kernel with CONFIG_PSI.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::skip;
    use leadline_protocol::doctor::CheckStatus;

    #[test]
    fn direct_io_is_tested() {
        let found = |path: &str| o_direct(&[Path::new(path)]);
        assert_eq!(found("/missing").status, CheckStatus::Warn);
        assert!(
            found("/missing")
                .detail
                .contains("cannot be tested in /missing")
        );
        if Path::new("/dev/shm").is_dir() {
            assert!(found("/dev/shm").status != CheckStatus::Ok, "tmpfs");
        }
    }

    #[test]
    fn cachestat_counts_the_pages_of_a_new_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), [1; 8 * BLOCK_BYTES]).unwrap();
        match cached_pages(file.as_file()) {
            Ok(pages) => assert_eq!(pages, 8),
            Err(error) => skip(&format!("no cachestat(2): {error}")),
        }
        assert_eq!(
            cachestat().status == CheckStatus::Ok,
            cached_pages(file.as_file()).is_ok()
        );
    }
}
