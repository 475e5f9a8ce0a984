//! The file behind a loop device without direct I/O of its own: how much of it lies in this host's page cache at both ends of
//! the measured window. Whoever may not open it sees nothing of it.

use crate::system::host::block_device::SECTOR_BYTES;
use crate::system::host::inventory::Inventory;
use crate::system::probes::region::Region;
use crate::system::probes::residency::ResidencyMethod;
use leadline_protocol::counters::Residency;
use leadline_protocol::evidence::BackingFile;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

/// An open backing file.
pub struct Backing {
    file: File,
    whole: Region,
    told: BackingFile,
}

impl Backing {
    /// That of this loop device (kernel name); `None` for other devices, and where it may not be opened.
    pub fn of(device: &str, host: &Inventory) -> Option<Self> {
        let path = host.blocks.get(device)?.backing.as_ref()?.path.clone();
        let file = File::open(&path).ok()?;
        let stat = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
        let whole = Region::of(std::iter::once(0..stat.len()));
        let allocated_bytes = (stat.blocks() * SECTOR_BYTES).min(stat.len());
        Some(Self {
            file,
            whole,
            told: BackingFile {
                path,
                allocated_bytes,
                start: None,
                end: None,
            },
        })
    }

    /// The measured window begins.
    pub fn start(&mut self) {
        self.told.start = self.residency();
    }

    /// The measured window ended.
    pub fn end(&mut self) {
        self.told.end = self.residency();
    }

    /// What was seen.
    pub fn tell(self) -> BackingFile {
        self.told
    }

    fn residency(&self) -> Option<Residency> {
        ResidencyMethod::detect(self.file.as_fd())
            .ok()?
            .residency(self.file.as_fd(), &self.whole)
            .ok()
    }
}
