//! Attaches a file to a free loop device. The kernel detaches the device when its last descriptor
//! is closed (LO_FLAGS_AUTOCLEAR), regardless of how the run ends.

use crate::system::host::{
    ioctl::{LOOP_CONTROL, configure_loop, free_loop},
    kernel::{Dev, attribute},
    resolved_path::Stat,
};
use rustix::{
    fs::{Mode, OFlags, open},
    io::Errno,
};
use std::{
    io,
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

/// Maximum number of attempts, because another program may take a free device before it is
/// configured.
const MAX_TRIES: u32 = 8;
/// Logical block sizes that the loop driver accepts: from the size of a sector to that of a page.
const BLOCK_BYTES: std::ops::RangeInclusive<u32> = 512..=4096;

/// A loop device that stays attached for the lifetime of this value.
#[derive(Debug)]
pub(crate) struct AttachedLoop {
    /// Kernel name, such as `loop0`.
    pub name: String,
    pub dev: Dev,
    _hold: OwnedFd,
}

impl AttachedLoop {
    /// `alignment`: direct I/O alignment in bytes. It is clamped to the driver's limits and used as
    /// the logical block size.
    pub(crate) fn attach(file: &OwnedFd, alignment: u32, read_only: bool) -> io::Result<Self> {
        let block_bytes = alignment.clamp(*BLOCK_BYTES.start(), *BLOCK_BYTES.end());
        let flags = OFlags::RDWR | OFlags::CLOEXEC;
        let control = open(LOOP_CONTROL, flags, Mode::empty())?;
        let mut tries = 1;
        loop {
            let name = format!("loop{}", free_loop(&control)?);
            let hold = open(node(&name), flags, Mode::empty())?;
            match configure_loop(&hold, file, block_bytes, read_only) {
                Ok(()) => {
                    return Ok(Self {
                        name,
                        dev: Stat::of_fd(&hold)?.rdev,
                        _hold: hold,
                    });
                }
                Err(Errno::BUSY) if tries < MAX_TRIES => tries += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }

    pub(crate) fn node(&self) -> PathBuf {
        node(&self.name)
    }
}

fn node(name: &str) -> PathBuf {
    Path::new("/dev").join(name)
}

/// Returns true if sysfs still shows this file as the backing file of the loop device.
pub(crate) fn is_attached(name: &str, file: &str) -> bool {
    attribute(Path::new("/sys/block").join(name).join("loop/backing_file"))
        .is_some_and(|backing| backing.starts_with(file))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::{
        block_device::{BlockDevice, block_devices},
        kernel::Kernel,
    };
    use std::{
        fs::File,
        sync::atomic::{AtomicBool, Ordering::Relaxed},
        thread,
    };

    const BYTES: u64 = 1 << 20;

    /// Repeatedly attaches and detaches the file until `stop` is set. Returns the number of
    /// attachments.
    fn attach_repeatedly(file: &OwnedFd, stop: &AtomicBool) -> io::Result<u32> {
        let mut count = 0;
        while !stop.load(Relaxed) {
            AttachedLoop::attach(file, 512, true)?;
            count += 1;
        }
        Ok(count)
    }

    /// A device that is detached while devices are being listed must not appear to be attached to
    /// an unknown file: the guard would then reject all files of that size.
    #[test]
    fn devices_detached_during_the_listing_have_no_backing_file() {
        let named = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        named.as_file().set_len(BYTES).unwrap();
        let file = OwnedFd::from(File::open(named.path()).unwrap());
        if let Err(error) = AttachedLoop::attach(&file, 512, true) {
            eprintln!("SKIP: cannot attach a loop device: {error}");
            return;
        }
        let path = named.path().to_str().unwrap();
        let unidentified = |block: &BlockDevice| {
            let backing = block.backing.as_ref();
            backing.is_some_and(|file| file.path.starts_with(path) && !file.is_identified)
        };
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            let attaching = scope.spawn(|| attach_repeatedly(&file, &stop));
            let found = (0..400).find_map(|_| {
                let mut devices = block_devices(&Kernel::live()).into_values();
                devices.find(unidentified)
            });
            stop.store(true, Relaxed);
            assert!(attaching.join().unwrap().unwrap() > 1);
            assert!(found.is_none(), "{found:?}");
        });
    }
}
