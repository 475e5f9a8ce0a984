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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{
        guard::{device::tests::Attached, permissions::Permissions},
        host::fixture::{Fixture, skip},
    };
    use rustix::{
        fs::fcntl_getfl,
        io::{FdFlags, fcntl_getfd},
    };
    use std::os::unix::fs::FileExt;

    const KIB: u64 = 1024;

    fn directory() -> tempfile::TempDir {
        tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
    }

    #[test]
    fn foreign_files_are_overwritten_and_owned_files_are_not() {
        let dir = directory();
        let base = dir.path().canonicalize().unwrap();
        fs::create_dir(base.join("root")).unwrap();
        let guard = Guard::live(&Permissions::below(&[base.join("root")]));
        let path = base.join("root/f");
        let of_path = |path: &Path| guard.overwritten(&ResolvedPath::find(path), &[]);
        let overwritten = || of_path(&path).unwrap().expect("overwritten");

        assert_eq!(of_path(&path), Ok(None), "a new file");
        fs::write(&path, [0; 8192]).unwrap();
        let blank = overwritten();
        assert_eq!((blank.kind, blank.text.as_str()), (TargetKind::File, "f"));
        assert!(blank.is_blank && !blank.must_confirm && blank.identity.is_none());
        assert_eq!(blank.contents, ["no data found"]);
        File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .write_all_at(b"x", 5000)
            .unwrap();
        let data = overwritten();
        assert!(!data.is_blank);
        assert_eq!(data.contents, ["data without a known signature"]);
        assert!(data.state == blank.state && data.data != blank.data);

        let reader = File::open(&path).unwrap();
        let problem = of_path(&path).unwrap_err();
        assert_eq!(problem.code, "file_in_use");
        let by_run = guard.overwritten_by_run(&ResolvedPath::find(&path), &[]);
        assert_eq!(by_run.unwrap().unwrap(), data);
        drop(reader);

        fs::write(base.join("outside"), "data").unwrap();
        assert_eq!(of_path(&base.join("outside")), Ok(None), "refused anyway");
        if let Err(error) = ownership::mark_owned(&path) {
            return skip(&format!("no user xattrs: {error}"));
        }
        assert_eq!(of_path(&path), Ok(None), "owned");
    }

    #[test]
    fn replaced_files_are_not_described() {
        let dir = directory();
        let path = dir.path().canonicalize().unwrap().join("f");
        let guard = Guard::live(&Permissions::default());
        fs::write(&path, "data").unwrap();
        let before = ResolvedPath::find(&path);
        fs::write(path.with_extension("new"), "data").unwrap();
        fs::rename(path.with_extension("new"), &path).unwrap();
        let problem = guard.overwritten(&before, &[]).unwrap_err();
        assert_eq!(problem.code, "identity_changed");
    }

    #[test]
    fn parts_of_a_loop_device_with_data_are_those_of_its_file() {
        let dir = directory();
        let path = dir.path().join("image");
        let file = File::create(&path).unwrap();
        let data = |offset: u64, sectors: u64| {
            let fixture = Fixture::new(&format!(
                "sys/devices/loop9099/dev = 4007:9099
                sys/devices/loop9099/size = {sectors}
                sys/devices/loop9099/loop/offset = {offset}
                sys/devices/loop9099/loop/backing_file = {}",
                path.display()
            ));
            data_ranges(&fixture.inventory().blocks["loop9099"])
        };
        let range = |begin: u64, end: u64| begin * KIB..end * KIB;
        file.set_len(10_000 * KIB).unwrap();
        assert_eq!(data(0, 20_000), []);
        // Blocks of 64 KiB, in case the filesystem has large ones.
        for begin in [0, 256, 1024] {
            file.write_all_at(&[1; 64 << 10], begin * KIB).unwrap();
        }
        assert_eq!(
            data(0, 20_000),
            [range(0, 64), range(256, 320), range(1024, 1088)]
        );
        assert_eq!(
            data(128 * KIB, 19_000),
            [range(128, 192), range(896, 960)],
            "relative to the offset"
        );
        assert_eq!(
            data(0, 2 * 300),
            [range(0, 64), range(256, 300)],
            "within the device"
        );
        for index in 0..40 {
            file.write_all_at(&[1; 64 << 10], index * 128 * KIB)
                .unwrap();
        }
        assert_eq!(data(0, 20_000).len(), 32);
    }

    #[test]
    fn targets_are_read_without_blocking_and_not_inherited() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let device = open_to_read(file.path()).unwrap();
        assert!(fcntl_getfl(&device).unwrap().contains(OFlags::NONBLOCK));
        assert_eq!(fcntl_getfd(&device), Ok(FdFlags::CLOEXEC));
    }

    #[test]
    fn loop_devices_outside_the_roots_need_a_confirmation() {
        let Some(device) = Attached::new() else {
            return;
        };
        let listed = [format!("loop:{}", device.root().join("a").display())];
        let found = ResolvedPath::find(Path::new(&device.path));
        let overwritten = |permissions: &Permissions| {
            let guard = Guard::live(permissions);
            guard.overwritten(&found, &[]).unwrap()
        };
        let below = Permissions::below(&[device.root()]);
        let blank = overwritten(&below).unwrap();
        assert_eq!(blank.kind, TargetKind::Device);
        assert_eq!(blank.identity.as_ref(), Some(&listed[0]));
        assert_eq!(format!("/dev/{}", blank.text), device.path);
        assert_eq!(blank.contents, ["no data found"]);
        assert!(blank.is_blank && !blank.must_confirm);

        let nowhere = [device.root().join("none")];
        let outside = overwritten(&Permissions::new(&nowhere, &listed)).unwrap();
        assert!(outside.is_blank && outside.must_confirm);
        let refused = Permissions::below(&nowhere);
        assert_eq!(overwritten(&refused), None, "refused anyway");
        let guard = Guard::live(&refused);
        let run_loop = device.block(&guard).dev;
        let guard = guard.with_run_loops(vec![run_loop]);
        assert_eq!(
            guard.overwritten(&found, &[]),
            Ok(None),
            "attached by the run"
        );

        let file = File::options().write(true).open(device.root().join("a"));
        file.unwrap().write_all_at(b"x", 70_000).unwrap();
        let data = overwritten(&below).unwrap();
        assert!(!data.is_blank && data.data != blank.data && data.state == blank.state);
    }
}
