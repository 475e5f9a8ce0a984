//! Page cache residency of a loop device's backing file at the start and end of the measured
//! window. Used only for loop devices without direct I/O.

use crate::system::{
    host::{block_device::SECTOR_BYTES, inventory::Inventory},
    probes::{region::Region, residency::ResidencyMethod},
};
use leadline_protocol::{counters::Residency, evidence::target::BackingFile};
use std::{
    fs::File,
    os::{fd::AsFd, unix::fs::MetadataExt},
};

pub(crate) struct ObservedBackingFile {
    file: File,
    region: Region,
    /// Whether the file is in memory (for example on tmpfs), so that its dirty pages never reach a
    /// disk.
    is_in_memory: bool,
    pub observed: BackingFile,
}

impl ObservedBackingFile {
    /// Returns `None` unless the device is a loop device on a regular file that can be opened.
    /// `device`: kernel name. `is_in_memory`: whether there is no disk below the file.
    pub(crate) fn of(device: &str, host: &Inventory, is_in_memory: bool) -> Option<Self> {
        let path = host.blocks.get(device)?.backing.as_ref()?.path.clone();
        let file = File::open(&path).ok()?;
        let stat = file.metadata().ok()?;
        if !stat.is_file() {
            return None;
        }
        let observed = BackingFile {
            path,
            allocated_bytes: (stat.blocks() * SECTOR_BYTES).min(stat.len()),
            start: None,
            end: None,
        };
        Some(Self {
            file,
            region: Region::of(std::iter::once(0..stat.len())),
            is_in_memory,
            observed,
        })
    }

    pub(crate) fn start(&mut self) {
        self.observed.start = self.residency();
    }

    pub(crate) fn end(&mut self) {
        self.observed.end = self.residency();
    }

    fn residency(&self) -> Option<Residency> {
        let file = self.file.as_fd();
        let method = ResidencyMethod::detect(file).ok()?;
        let found = method.residency(file, &self.region).ok()?;
        Some(if self.is_in_memory {
            Residency {
                dirty: None,
                writeback: None,
                ..found
            }
        } else {
            found
        })
    }
}
