//! A zram device (Documentation/admin-guide/blockdev/zram.rst), raw or with ext4 and a file. The
//! data is incompressible, so each I/O copies a page regardless of what the contender's buffers
//! contain.

use super::{
    file::{DataFile, fill},
    interface::Target,
    system::{require_root, system},
};
use crate::work::Work;
use anyhow::{Context, Result};
use std::{
    fs::{self, File, OpenOptions},
    path::{Path, PathBuf},
};

const CONTROL: &str = "/sys/class/zram-control";
/// Maximum number of attempts to remove a device. The increasing pauses between attempts add up to
/// 4.5 s.
const REMOVE_TRIES: u32 = 10;
const REMOVE_PAUSE: std::time::Duration = std::time::Duration::from_millis(100);

pub struct ZramDevice {
    number: String,
    path: PathBuf,
}

impl ZramDevice {
    fn new(mib: u64) -> Result<Self> {
        require_root("a zram device")?;
        let number = fs::read_to_string(format!("{CONTROL}/hot_add"))
            .context("zram is not available; load it with `modprobe zram`")?;
        let number = number.trim().to_owned();
        let device = Self {
            path: format!("/dev/zram{number}").into(),
            number,
        };
        device.set("disksize", &format!("{mib}M"))?;
        Ok(device)
    }

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
        // Evicts cached pages, because direct reads would look them up.
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
        // udev or blkid may keep a new device open briefly.
        let removed = (0..REMOVE_TRIES).find_map(|attempt| {
            std::thread::sleep(REMOVE_PAUSE * attempt);
            self.set("reset", "1").ok()?;
            fs::write(format!("{CONTROL}/hot_remove"), &self.number).ok()
        });
        if removed.is_none() {
            eprintln!(
                "[bench] {} is still in use and was not removed; run: echo {} > {CONTROL}/hot_remove",
                self.path.display(),
                self.number
            );
        }
    }
}

/// A file on ext4 on zram. Fields are dropped in order: file, mount, device.
pub struct Mounted {
    file: DataFile,
    _mount: Mount,
    _device: ZramDevice,
}

struct Mount(PathBuf);

impl Mounted {
    /// The file fills half of the device.
    pub fn new(folder: &Path, mib: u64) -> Result<Self> {
        let device = ZramDevice::new(mib)?;
        let mount_point = folder.join("zram");
        fs::create_dir(&mount_point)?;
        let device_path = device.path.to_string_lossy();
        system("mkfs.ext4", &["-q", &device_path])?;
        system("mount", &[&device_path, &mount_point.to_string_lossy()])?;
        let mount = Mount(mount_point.clone());
        Ok(Self {
            file: DataFile::new(&mount_point.join("data"), mib / 2)?,
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
