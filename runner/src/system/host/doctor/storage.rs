//! Direct I/O where the targets lie, and what the kernel tells of caches and waiting.

use crate::system::host::doctor::{fail, ok, warn};
use crate::system::host::kernel::Kernel;
use leadline_protocol::host::Check;
use rustix::fs::{FsWord, Mode, OFlags, open};
use rustix::io::{Errno, pwrite};
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::path::Path;

/// A block that is aligned for every device there is, in bytes.
const BLOCK_BYTES: usize = 4096;
/// f_type of tmpfs (linux/magic.h): its O_DIRECT is taken and means nothing.
const TMPFS_MAGIC: FsWord = 0x0102_1994;
/// Number of cachestat(2) on every architecture but alpha (Linux 6.5).
const SYS_CACHESTAT: libc::c_long = 451;

/// How direct I/O went in a directory.
enum Direct {
    Works,
    InMemory,
    Refused,
    NotTried(Errno),
}

pub fn o_direct(directories: &[&Path]) -> Check {
    let tried: Vec<(&Path, Direct)> = directories
        .iter()
        .map(|directory| (*directory, try_direct(directory)))
        .collect();
    let named = |wanted: fn(&Direct) -> bool| {
        let paths = tried
            .iter()
            .filter(|(_, how)| wanted(how))
            .map(|(path, _)| path.display().to_string());
        Some(paths.collect::<Vec<_>>().join(", ")).filter(|paths| !paths.is_empty())
    };
    if let Some(paths) = named(|how| matches!(how, Direct::Refused)) {
        return fail(
            "o_direct",
            format!("refused in {paths}"),
            "Put targets on ext4, xfs or btrfs (--target-root), or use direct=0.",
        );
    }
    if let Some((path, Direct::NotTried(error))) = tried
        .iter()
        .find(|(_, how)| matches!(how, Direct::NotTried(_)))
    {
        let found = format!(
            "could not be tried in {}: {}",
            path.display(),
            std::io::Error::from(*error)
        );
        return warn(
            "o_direct",
            found,
            "Create the directory, and let the user of the runner write there.",
        );
    }
    match named(|how| matches!(how, Direct::InMemory)) {
        Some(paths) => warn(
            "o_direct",
            format!("taken in {paths}, which is memory (tmpfs)"),
            "Put targets on a filesystem with a device under it (--target-root).",
        ),
        None => ok(
            "o_direct",
            format!("works in {}", named(|_| true).unwrap_or_default()),
        ),
    }
}

/// Writes one block to a file without a name, which is gone afterwards.
fn try_direct(directory: &Path) -> Direct {
    let memory = vec![0; 2 * BLOCK_BYTES];
    let head = memory.as_ptr().align_offset(BLOCK_BYTES);
    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::DIRECT | OFlags::CLOEXEC;
    let file = open(directory, flags, Mode::RUSR | Mode::WUSR);
    match file.and_then(|file| pwrite(&file, &memory[head..head + BLOCK_BYTES], 0).map(|_| file)) {
        Ok(file) if rustix::fs::fstatfs(&file).is_ok_and(|found| found.f_type == TMPFS_MAGIC) => {
            Direct::InMemory
        }
        Ok(_) => Direct::Works,
        Err(Errno::INVAL) => Direct::Refused,
        Err(error) => Direct::NotTried(error),
    }
}

/// Asks how much of this program's own file lies in the page cache.
pub fn cachestat() -> Check {
    let error = match std::env::current_exe()
        .and_then(File::open)
        .map(|file| cached_pages(&file))
    {
        Ok(Ok(pages)) if pages > 0 => return ok("cachestat", "allowed (Linux 6.5 or newer)"),
        Ok(Ok(_)) => {
            return warn(
                "cachestat",
                "answers, but knows no page of this running program",
                "Page-cache residency is left out on this filesystem.",
            );
        }
        Ok(Err(error)) => error,
        Err(_) => Errno::NOENT,
    };
    warn(
        "cachestat",
        format!("not available: {}", std::io::Error::from(error)),
        "Residency in the page cache is left out; Linux 6.5 has it (in containers: allow it in the seccomp profile).",
    )
}

/// `struct cachestat_range` and `struct cachestat` of linux/mman.h.
fn cached_pages(file: &File) -> Result<u64, Errno> {
    let (range, mut found) = ([0u64; 2], [0u64; 5]);
    // SAFETY: reads 16 bytes from `range` and writes 40 bytes to `found`, as large as the kernel's two structs.
    let result = unsafe {
        libc::syscall(
            SYS_CACHESTAT,
            file.as_raw_fd(),
            range.as_ptr(),
            found.as_mut_ptr(),
            0,
        )
    };
    if result == 0 {
        Ok(found[0])
    } else {
        Err(Errno::from_io_error(&std::io::Error::last_os_error()).unwrap_or(Errno::IO))
    }
}

pub fn psi(kernel: &Kernel) -> Check {
    match fs::read(kernel.proc.join("pressure/io")) {
        Ok(_) => ok("psi", "I/O pressure is counted"),
        Err(error) => warn(
            "psi",
            format!("I/O pressure is not counted: {error}"),
            "Boot with psi=1, on a kernel with CONFIG_PSI.",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::skip;
    use leadline_protocol::host::CheckStatus;

    #[test]
    fn direct_io_is_really_tried() {
        let found = |path: &str| o_direct(&[Path::new(path)]);
        assert_eq!(found("/nowhere").status, CheckStatus::Warn);
        assert!(
            found("/nowhere")
                .detail
                .contains("could not be tried in /nowhere")
        );
        if Path::new("/dev/shm").is_dir() {
            assert!(
                found("/dev/shm").status != CheckStatus::Ok,
                "memory is no device"
            );
        }
    }

    #[test]
    fn cachestat_counts_the_pages_of_a_file_just_written() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), [1; 8 * BLOCK_BYTES]).unwrap();
        match cached_pages(file.as_file()) {
            Ok(pages) => assert_eq!(pages, 8),
            Err(error) => skip(&format!("no cachestat(2) here: {error}")),
        }
        assert_eq!(
            cachestat().status == CheckStatus::Ok,
            cached_pages(file.as_file()).is_ok()
        );
    }
}
