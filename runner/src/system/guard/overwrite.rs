//! Determines which data a run would destroy. The target state, to which a confirmation is bound,
//! is a digest of its identity, size and contents.

use crate::{
    plan::host_view::{Overwritten, PathKind},
    system::{
        guard::{
            FIELD, Guard, Purpose,
            contents::Contents,
            file::permission_denied,
            file_use::{check_unused, open_to_write},
        },
        host::{
            block_device::BlockDevice,
            identity::{identity, serial},
            kernel::{attribute, value},
            ownership,
            resolved_path::{ResolvedPath, Stat},
        },
    },
};
use leadline_protocol::{format::hex, plan::target::TargetKind, problem::Problem};
use rustix::{
    fs::{Mode, OFlags, SeekFrom, open, seek},
    io::Errno,
};
use sha2::{Digest, Sha256};
use std::{
    fs::{self, File},
    ops::Range,
    os::{
        fd::{AsRawFd, OwnedFd},
        unix::fs::MetadataExt,
    },
    path::{Path, PathBuf},
};

/// Maximum number of data ranges in a loop device's backing file.
const MAX_DATA_RANGES: usize = 32;
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

impl Guard {
    /// `None` for new files, for files that Leadline created and that have not changed since, and
    /// for the run's loop devices. `regions`: byte ranges that the jobs write to.
    ///
    /// # Errors
    /// `permission_denied` if the target cannot be opened; `file_in_use` if another process uses a
    /// file that Leadline did not create.
    pub(crate) fn overwritten(
        &self,
        found: &ResolvedPath,
        regions: &[Range<u64>],
    ) -> Result<Option<Overwritten>, Problem> {
        self.overwritten_unless(found, regions, check_unused)
    }

    /// Like `overwritten`, for a file that this process may have open.
    pub(crate) fn overwritten_by_run(
        &self,
        found: &ResolvedPath,
        regions: &[Range<u64>],
    ) -> Result<Option<Overwritten>, Problem> {
        self.overwritten_unless(found, regions, |_, _| Ok(()))
    }

    /// `check` runs on the open file.
    fn overwritten_unless(
        &self,
        found: &ResolvedPath,
        regions: &[Range<u64>],
        check: impl FnOnce(&OwnedFd, &Path) -> Result<(), Problem>,
    ) -> Result<Option<Overwritten>, Problem> {
        match (found.kind, found.stat) {
            // The plan has already reported the reason.
            _ if self.refuses_to_write(found) => Ok(None),
            (PathKind::Device, Some(stat)) => match self.host.by_dev(stat.rdev) {
                Some(block) if !self.is_run_loop(block) => {
                    self.overwritten_device(&found.path, block, regions)
                }
                _ => Ok(None),
            },
            (PathKind::File, Some(stat)) => overwritten_file(&found.path, stat, regions, check),
            _ => Ok(None),
        }
    }

    fn refuses_to_write(&self, found: &ResolvedPath) -> bool {
        let block = found.stat.and_then(|stat| self.host.by_dev(stat.rdev));
        match (found.kind, block) {
            (PathKind::Device, Some(block)) => self.check_write(block).is_err(),
            _ => self.admit_file(found, Purpose::Write).is_err(),
        }
    }

    fn overwritten_device(
        &self,
        path: &Path,
        block: &BlockDevice,
        regions: &[Range<u64>],
    ) -> Result<Option<Overwritten>, Problem> {
        let device = open_to_read(path)?;
        let regions = [regions, &data_ranges(block)].concat();
        let mut contents = Contents::read(&device, block.size_bytes, &regions)
            .map_err(|error| unreadable(path, &error))?;
        for partition in self.host.blocks.values() {
            if partition.disk.as_ref() == Some(&block.name) {
                let path = PathBuf::from(partition.path());
                let found = Contents::read(open_to_read(&path)?, partition.size_bytes, &[]);
                let found = found.map_err(|error| unreadable(&path, &error))?;
                contents.add_partition(&partition.name, &found);
            }
        }
        let identity = identity(&self.host, block);
        let sequence: Option<u64> = value(block.dir.join("diskseq"));
        let sector: Option<u64> = value(block.queue().join("logical_block_size"));
        let state = format!(
            "{identity:?} {} {sequence:?} {} {sector:?} {} {:?}",
            block.dev,
            block.size_bytes,
            block.read_only,
            attribute(BOOT_ID),
        );
        Ok(Some(Overwritten {
            kind: TargetKind::Device,
            text: serial(block).unwrap_or_else(|| block.name.clone()),
            identity,
            contents: contents.sentences(),
            is_blank: contents.is_blank(),
            must_confirm: self.backing_file_in_root(block).is_none(),
            state: hex(&Sha256::digest(state)),
            data: contents.digest(),
        }))
    }
}

/// Parts of a loop device for which the backing file has allocated blocks. Samples of a large
/// device could miss small amounts of data between them. Empty for other devices.
fn data_ranges(block: &BlockDevice) -> Vec<Range<u64>> {
    let file = block.backing.as_ref().and_then(|backing| {
        let file = File::open(&backing.path).ok()?;
        Some((file, backing.offset))
    });
    let Some((file, offset)) = file else {
        return Vec::new();
    };
    let mut ranges = Vec::new();
    let mut at = offset;
    while ranges.len() < MAX_DATA_RANGES
        && let Ok(start) = seek(&file, SeekFrom::Data(at))
        && let Ok(end) = seek(&file, SeekFrom::Hole(start))
    {
        let range = start.max(offset) - offset..(end - offset).min(block.size_bytes);
        if range.is_empty() {
            break;
        }
        ranges.push(range);
        at = end;
    }
    ranges
}

fn overwritten_file(
    path: &Path,
    stat: Stat,
    regions: &[Range<u64>],
    check: impl FnOnce(&OwnedFd, &Path) -> Result<(), Problem>,
) -> Result<Option<Overwritten>, Problem> {
    let file = open_to_write(path)?;
    if !Stat::of_fd(&file).is_ok_and(|now| now.is_same(&stat)) {
        return Err(replaced(path));
    }
    if ownership::is_owned(Path::new(&format!("/proc/self/fd/{}", file.as_raw_fd()))) {
        return Ok(None);
    }
    check(&file, path)?;
    let contents =
        Contents::read(&file, stat.length, regions).map_err(|error| unreadable(path, &error))?;
    let modified = fs::metadata(path)
        .map(|now| (now.mtime(), now.mtime_nsec()))
        .ok();
    let name = path.file_name().unwrap_or_default();
    let state = format!("{} {} {}", path.display(), stat.dev, stat.inode);
    let data = format!("{} {modified:?} {}", stat.length, contents.digest());
    Ok(Some(Overwritten {
        kind: TargetKind::File,
        identity: None,
        text: name.to_string_lossy().into_owned(),
        contents: contents.sentences(),
        is_blank: contents.is_blank(),
        must_confirm: false,
        state: hex(&Sha256::digest(state)),
        data: hex(&Sha256::digest(data)),
    }))
}

/// The problem if another file has replaced the checked file.
fn replaced(path: &Path) -> Problem {
    Problem::guard(
        "identity_changed",
        FIELD,
        format!("{} was replaced during the check.", path.display()),
        "Check the file and plan the run again.",
    )
}

fn open_to_read(path: &Path) -> Result<OwnedFd, Problem> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    open(path, flags, Mode::empty()).map_err(permission_denied(path))
}

/// The problem for data that cannot be read and therefore cannot be confirmed.
fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    permission_denied(path)(Errno::from_io_error(error).unwrap_or(Errno::IO))
}
