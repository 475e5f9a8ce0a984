//! Determines which data a run would destroy. A confirmation is bound to the target state, which is
//! a digest of the target's identity, size and contents.

use crate::{
    plan::host_view::{Overwritten, PathKind},
    system::{
        guard::{
            FIELD, Guard, Purpose,
            backing_file::holes,
            contents::{Contents, Source},
            file::permission_denied,
            file_use::{check_unused, check_unwritten, open_for_writing},
        },
        host::{
            block_device::BlockDevice,
            identity::{identity, serial},
            kernel::{attribute, value},
            ownership::{self, Mark},
            resolved_path::{ResolvedPath, Stat},
        },
    },
};
use leadline_protocol::{format::hex, plan::target::TargetKind, problem::Problem};
use rustix::{
    fs::{Mode, OFlags, fstat, open},
    io::Errno,
};
use sha2::{Digest, Sha256};
use std::{
    ops::Range,
    os::fd::{AsFd, AsRawFd, OwnedFd},
    path::{Path, PathBuf},
};

const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";

impl Guard {
    /// Describes the data that a run would overwrite; `None` for new files, for files that Leadline
    /// created and that have not changed since, for the run's loop devices, and for targets that
    /// the guard rejects. `regions`: byte ranges that the jobs write to.
    ///
    /// # Errors
    /// `permission_denied` if the target cannot be opened or read; `file_in_use` or `device_in_use`
    /// if another process uses the file, the device or its backing file; `identity_changed` if
    /// another file replaced the target.
    pub(crate) fn overwritten(
        &self,
        found: &ResolvedPath,
        regions: &[Range<u64>],
    ) -> Result<Option<Overwritten>, Problem> {
        self.overwritten_target(found, regions, false)
    }

    /// Like `overwritten`, for a file that this process may have open.
    pub(crate) fn overwritten_by_run(
        &self,
        found: &ResolvedPath,
        regions: &[Range<u64>],
    ) -> Result<Option<Overwritten>, Problem> {
        self.overwritten_target(found, regions, true)
    }

    fn overwritten_target(
        &self,
        found: &ResolvedPath,
        regions: &[Range<u64>],
        may_be_open: bool,
    ) -> Result<Option<Overwritten>, Problem> {
        match (found.kind, found.stat) {
            // The plan has already reported this problem.
            _ if self.rejects_writes(found) => Ok(None),
            (PathKind::Device, Some(stat)) => match self.host.by_dev(stat.rdev) {
                Some(block) if !self.is_run_loop(block) => {
                    self.overwritten_device(&found.path, block, regions)
                }
                _ => Ok(None),
            },
            (PathKind::File, Some(stat)) => {
                self.overwritten_file(&found.path, stat, regions, may_be_open)
            }
            _ => Ok(None),
        }
    }

    fn rejects_writes(&self, found: &ResolvedPath) -> bool {
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
        self.check_device_unused(block)?;
        let must_confirm = self.backing_file_in_root(block).is_none();
        let device = open_for_reading(path)?;
        let holes = holes(&device, block);
        let mut source = Source::of(&device, block.size_bytes);
        source.holes = holes.as_ref().map(|(file, offset)| (file.as_fd(), *offset));
        let unreadable = |error| unreadable(path, &error);
        let mut contents = Contents::read(&source, regions).map_err(unreadable)?;
        if !must_confirm {
            let limit = &self.read_limit;
            contents
                .complete(&source, regions, limit)
                .map_err(unreadable)?;
        }
        for partition in self.host.blocks.values() {
            if partition.disk.as_ref() == Some(&block.name) {
                contents.add_partition(&partition.name, &partition_contents(partition)?);
            }
        }
        // Writes between the samples do not change the digest of the samples, but they do change
        // the backing file's timestamps.
        let times = holes.as_ref().and_then(|(file, _)| mtime_and_ctime(file));
        let data = format!("{times:?} {}", contents.digest());
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
            contents: self.description(&contents),
            is_blank: contents.is_blank(),
            must_confirm,
            is_only_extended: false,
            state: hex(&Sha256::digest(state)),
            data: hex(&Sha256::digest(data)),
        }))
    }

    /// `may_be_open`: whether this process may have the file open.
    fn overwritten_file(
        &self,
        path: &Path,
        stat: Stat,
        regions: &[Range<u64>],
        may_be_open: bool,
    ) -> Result<Option<Overwritten>, Problem> {
        let file = open_for_writing(path)?;
        if !Stat::of_fd(&file).is_ok_and(|now| now.is_same(&stat)) {
            return Err(file_replaced(path));
        }
        self.check_underlying_file_unused(path, stat)?;
        let opened = format!("/proc/self/fd/{}", file.as_raw_fd());
        if ownership::is_owned(Mark::Target, Path::new(&opened)) {
            if !may_be_open {
                let users = || self.users_of_file(&self.host.file_identity(path, stat));
                check_unwritten(file, path, users)?;
            }
            return Ok(None);
        }
        if !may_be_open {
            check_unused(&file, path)?;
        }
        let source = Source::of(&file, stat.length);
        let unreadable = |error| unreadable(path, &error);
        let mut contents = Contents::read(&source, regions).map_err(unreadable)?;
        let limit = &self.read_limit;
        contents
            .complete(&source, regions, limit)
            .map_err(unreadable)?;
        let times = mtime_and_ctime(&file);
        let name = path.file_name().unwrap_or_default();
        let state = format!("{} {} {}", path.display(), stat.dev, stat.inode);
        let data = format!("{} {times:?} {}", stat.length, contents.digest());
        Ok(Some(Overwritten {
            kind: TargetKind::File,
            identity: None,
            text: name.to_string_lossy().into_owned(),
            contents: self.description(&contents),
            is_blank: contents.is_blank(),
            must_confirm: false,
            is_only_extended: regions.iter().all(|region| region.start >= stat.length),
            state: hex(&Sha256::digest(state)),
            data: hex(&Sha256::digest(data)),
        }))
    }

    /// Descriptions of the contents to show to the user.
    fn description(&self, contents: &Contents) -> Vec<String> {
        let mut descriptions = contents.descriptions();
        descriptions.extend(self.mounted_copy(contents.uuids()));
        descriptions
    }
}

/// Samples a partition's contents.
fn partition_contents(partition: &BlockDevice) -> Result<Contents, Problem> {
    let path = PathBuf::from(partition.path());
    let device = open_for_reading(&path)?;
    let mut source = Source::of(&device, partition.size_bytes);
    source.holes = None;
    Contents::read(&source, &[]).map_err(|error| unreadable(&path, &error))
}

/// The problem to report if another file has replaced the checked one.
fn file_replaced(path: &Path) -> Problem {
    Problem::guard(
        "identity_changed",
        FIELD,
        format!("{} was replaced during the check.", path.display()),
        "Check the file and plan the run again.",
    )
}

fn open_for_reading(path: &Path) -> Result<OwnedFd, Problem> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    open(path, flags, Mode::empty()).map_err(permission_denied(path))
}

/// The problem to report for data that cannot be read, and therefore cannot be confirmed.
fn unreadable(path: &Path, error: &std::io::Error) -> Problem {
    permission_denied(path)(Errno::from_io_error(error).unwrap_or(Errno::IO))
}

/// Modification time and inode change time (mtime and ctime), in seconds and nanoseconds. A program
/// can restore the former, but not the latter.
fn mtime_and_ctime(file: impl AsFd) -> Option<[(i64, i64); 2]> {
    let now = fstat(file).ok()?;
    Some([
        (now.st_mtime, now.st_mtime_nsec as i64),
        (now.st_ctime, now.st_ctime_nsec as i64),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::{
        guard::{device::tests::Attached, permissions::Permissions},
        host::fixture::skip,
    };
    use rustix::{
        fs::fcntl_getfl,
        io::{FdFlags, fcntl_getfd},
    };
    use std::{
        fs::{self, File},
        os::unix::fs::FileExt,
    };

    fn directory() -> tempfile::TempDir {
        tempfile::tempdir_in(env!("CARGO_MANIFEST_DIR")).unwrap()
    }

    #[test]
    fn files_created_by_leadline_do_not_count_as_overwritten() {
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
        assert_eq!(of_path(&base.join("outside")), Ok(None), "rejected anyway");
        if let Err(error) = ownership::mark_owned(Mark::Target, &path) {
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
    fn targets_are_read_without_blocking_and_not_inherited() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let device = open_for_reading(file.path()).unwrap();
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
        let rejected = Permissions::below(&nowhere);
        assert_eq!(overwritten(&rejected), None, "rejected anyway");
        let guard = Guard::live(&rejected);
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
