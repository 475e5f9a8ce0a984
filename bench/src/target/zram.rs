//! A zram device (Documentation/admin-guide/blockdev/zram.rst), raw or with a filesystem and a file on it. Its data do
//! not compress, so that an I/O costs a copy of a page and no tool's buffers are luckier than another's.

use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use super::file::{DataFile, fill};
use super::{Target, need_root, system};
use crate::work::Work;

const CONTROL: &str = "/sys/class/zram-control";
/// Tries to remove a device, each after a longer pause: 4.5 s in all.
const REMOVE_TRIES: u32 = 10;
const REMOVE_PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

/// A zram device; removed when dropped.
pub struct ZramDevice {
    number: String,
    path: PathBuf,
}

impl ZramDevice {
    fn new(mib: u64) -> Result<Self> {
        need_root("a zram device")?;
        let number = fs::read_to_string(format!("{CONTROL}/hot_add"))
            .context("this kernel has no zram (modprobe zram)")?;
        let number = number.trim().to_owned();
        let device = Self {
            path: format!("/dev/zram{number}").into(),
            number,
        };
        device.set("disksize", &format!("{mib}M"))?;
        Ok(device)
    }

    /// Full of random data.
    ///
    /// # Errors
    /// What the system says.
    pub fn filled(mib: u64) -> Result<Self> {
        let device = Self::new(mib)?;
        let mut file = OpenOptions::new().write(true).open(&device.path)?;
        fill(&mut file, mib)?;
        file.sync_all()?;
        Ok(device)
    }

    fn set(&self, attribute: &str, value: &str) -> Result<()> {
        fs::write(format!("/sys/block/zram{}/{attribute}", self.number), value)
            .with_context(|| format!("zram {attribute}"))
    }
}

impl Target for ZramDevice {
    fn path(&self) -> &Path {
        &self.path
    }

    fn prepare(&self, _work: &Work) -> Result<()> {
        // What the page cache still held of it would be looked through by every direct read.
        let device = File::open(&self.path)?;
        Ok(rustix::fs::fadvise(
            &device,
            0,
            None,
            rustix::fs::Advice::DontNeed,
        )?)
    }
}

impl Drop for ZramDevice {
    fn drop(&mut self) {
        // Whoever probes new devices (udev, blkid) may hold it for a moment.
        let removed = (0..REMOVE_TRIES).find_map(|attempt| {
            std::thread::sleep(REMOVE_PAUSE * attempt);
            self.set("reset", "1").ok()?;
            fs::write(format!("{CONTROL}/hot_remove"), &self.number).ok()
        });
        if removed.is_none() {
            eprintln!(
                "[bench] {} is still in use and was left: echo {} > {CONTROL}/hot_remove",
                self.path.display(),
                self.number
            );
        }
    }
}

/// A file on ext4 on zram. Fields are dropped in their order: the file, the mount, the device.
pub struct Mounted {
    file: DataFile,
    _mount: Mount,
    _device: ZramDevice,
}

struct Mount(PathBuf);

impl Mounted {
    /// A file that fills half of the device.
    ///
    /// # Errors
    /// What mkfs.ext4(8), mount(8) or the system says.
    pub fn new(folder: &Path, mib: u64) -> Result<Self> {
        let device = ZramDevice::new(mib)?;
        let at = folder.join("zram");
        fs::create_dir(&at)?;
        let (device_path, at_path) = (device.path.to_string_lossy(), at.to_string_lossy());
        system("mkfs.ext4", &["-q", &device_path])?;
        system("mount", &[&device_path, &at_path])?;
        let mount = Mount(at.clone());
        Ok(Self {
            file: DataFile::new(&at.join("data"), mib / 2)?,
            _mount: mount,
            _device: device,
        })
    }
}

impl Target for Mounted {
    fn path(&self) -> &Path {
        self.file.path()
    }

    fn prepare(&self, work: &Work) -> Result<()> {
        self.file.prepare(work)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = system("umount", &[&self.0.to_string_lossy()]);
    }
}
