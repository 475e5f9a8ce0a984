//! Finds the processes that use a file or device: they have it open (`/proc/TID/fd`), locked
//! (`fdinfo`) or mapped (`maps`, `map_files`). These entries refer to inodes, so names and mount
//! namespaces do not matter. Only root can see other users' processes, and a process in a container
//! can see only the container's processes.
//!
//! A thread can have a separate descriptor table. If a process's main thread has exited, its files
//! and mappings appear only in the entries of its other threads. Each table is searched once.

use crate::system::host::{
    kernel::{Dev, Kernel, attribute, names},
    resolved_path::Stat,
};
use rustix::fs::{AtFlags, CWD, FileType, StatxFlags, makedev, statx};
use std::{
    cmp::Ordering,
    fmt, fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// How a process uses a file or device. If there are multiple uses, only the most severe one is
/// reported.
#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Access {
    /// Use that cannot change the file or device.
    Read,
    Locked,
    /// A writable shared mapping, or one that mprotect(2) can make writable.
    Mapped,
    Write,
}

impl Access {
    /// Whether this kind of use by another program causes the target to be rejected. Readers are
    /// allowed, because they do not lose data, and because monitors and probes (udev, blkid) may
    /// read devices at any time.
    pub(crate) fn prevents_writes(self) -> bool {
        self > Self::Read
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "open",
            Self::Locked => "locked",
            Self::Mapped => "mapped for writing",
            Self::Write => "open for writing",
        })
    }
}

#[derive(Debug, Eq, PartialEq)]
pub(crate) struct Process {
    pub id: u32,
    /// Program name.
    name: Option<String>,
}

impl fmt::Display for Process {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.id)?;
        match &self.name {
            Some(name) => write!(f, " ({name})"),
            None => Ok(()),
        }
    }
}

/// A file or device that a process has open or mapped.
#[derive(Debug)]
pub(crate) struct OpenFile {
    /// Magic link in /proc.
    pub link: PathBuf,
    pub stat: Stat,
    /// As in STATX_MNT_ID.
    pub mount: Option<u64>,
    is_block_device: bool,
}

impl OpenFile {
    /// Does not wait for a network filesystem's server.
    fn at(link: PathBuf) -> Option<Self> {
        let mask = StatxFlags::BASIC_STATS | StatxFlags::MNT_ID;
        let found = statx(CWD, &link, AtFlags::STATX_DONT_SYNC, mask).ok()?;
        let has_mount = found.stx_mask & StatxFlags::MNT_ID.bits() != 0;
        let kind = FileType::from_raw_mode(found.stx_mode.into());
        Some(Self {
            link,
            stat: Stat {
                dev: Dev(makedev(found.stx_dev_major, found.stx_dev_minor)),
                inode: found.stx_ino,
                rdev: Dev(makedev(found.stx_rdev_major, found.stx_rdev_minor)),
                links: found.stx_nlink.into(),
                length: found.stx_size,
            },
            mount: has_mount.then_some(found.stx_mnt_id),
            is_block_device: kind == FileType::BlockDevice,
        })
    }

    /// Device number, if this is a block device.
    pub(crate) fn device(&self) -> Option<Dev> {
        self.is_block_device.then_some(self.stat.rdev)
    }
}

/// A process and how it uses one of the searched files or devices.
#[derive(Debug, Eq, PartialEq)]
pub(crate) struct User<T> {
    pub process: Process,
    /// Whether it runs the same program as this process.
    pub is_own: bool,
    pub access: Access,
    pub used: T,
}

/// The first use by another program's process that prevents writes.
pub(crate) fn first_preventing_use<T>(users: Vec<User<T>>) -> Option<User<T>> {
    let mut users = users.into_iter();
    users.find(|user| !user.is_own && user.access.prevents_writes())
}

/// All processes that use files or devices for which `search` returns a value.
pub(crate) fn users<T>(kernel: &Kernel, search: impl Fn(&OpenFile) -> Option<T>) -> Vec<User<T>> {
    let own = program(&kernel.proc.join("self"));
    let user = |name: String| {
        let id: u32 = name.parse().ok()?;
        let threads = threads_with_own_table(kernel, id);
        let mut uses = mapped(&threads, &search);
        for thread in &threads {
            uses.extend(open(thread, &search));
        }
        let (access, used) = uses.into_iter().max_by_key(|(access, _)| *access)?;
        let program = threads.iter().find_map(|thread| program(thread));
        let process = Process {
            id,
            name: attribute(kernel.proc.join(name).join("comm")),
        };
        Some(User {
            process,
            is_own: own.is_some() && program == own,
            access,
            used,
        })
    };
    names(&kernel.proc).into_iter().filter_map(user).collect()
}

/// Device and inode number of a process's executable.
fn program(process: &Path) -> Option<(u64, u64)> {
    let found = fs::metadata(process.join("exe")).ok()?;
    Some((found.dev(), found.ino()))
}

/// For each descriptor table of a process, the /proc directory of a thread that uses it.
/// `/proc/TID` is not listed, but it exists for every thread.
fn threads_with_own_table(kernel: &Kernel, process: u32) -> Vec<PathBuf> {
    let listed = names(kernel.proc.join(process.to_string()).join("task"));
    let mut threads: Vec<u32> = Vec::new();
    for thread in listed.iter().filter_map(|name| name.parse().ok()) {
        let order = |known: &u32| compare_tables(*known, thread);
        if let Err(position) = threads.binary_search_by(order) {
            threads.insert(position, thread);
        }
    }
    if threads.is_empty() {
        threads.push(process);
    }
    let directory = |thread: u32| kernel.proc.join(thread.to_string());
    threads.into_iter().map(directory).collect()
}

/// Orders two threads by their descriptor tables. Tables count as different if they cannot be
/// compared, because a thread has exited or kcmp(2) is not available.
fn compare_tables(left: u32, right: u32) -> Ordering {
    /// `KCMP_FILES` in linux/kcmp.h.
    const FILES: i32 = 2;
    // SAFETY: kcmp takes integers and does not access this process's memory.
    match unsafe { libc::syscall(libc::SYS_kcmp, left, right, FILES, 0, 0) } {
        0 => Ordering::Equal,
        1 => Ordering::Less,
        2 => Ordering::Greater,
        _ => left.cmp(&right),
    }
}

/// A thread's open files.
fn open<T>(thread: &Path, search: impl Fn(&OpenFile) -> Option<T>) -> Vec<(Access, T)> {
    let descriptors = names(thread.join("fd"));
    let found = descriptors.iter().filter_map(|name| {
        let used = search(&OpenFile::at(thread.join("fd").join(name))?)?;
        Some((descriptor_access(&thread.join("fdinfo").join(name)), used))
    });
    found.collect()
}

/// If the flags cannot be read, assume that the file is open for writing.
fn descriptor_access(info: &Path) -> Access {
    let info = fs::read_to_string(info).unwrap_or_default();
    let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = flags.and_then(|flags| i32::from_str_radix(flags.trim(), 8).ok());
    if flags.is_none_or(|flags| flags & libc::O_ACCMODE != libc::O_RDONLY) {
        Access::Write
    } else if info.lines().any(|line| line.starts_with("lock:")) {
        Access::Locked
    } else {
        Access::Read
    }
}

/// A process's shared mappings. All of its threads share them, except threads that have exited. A
/// line is `begin-end permissions offset major:minor inode path`. On btrfs and overlayfs, these
/// numbers differ from those of stat(2), so the files are looked up by their address ranges.
fn mapped<T>(threads: &[PathBuf], search: impl Fn(&OpenFile) -> Option<T>) -> Vec<(Access, T)> {
    let maps = |thread| Some((thread, fs::read(Path::new(thread).join("maps")).ok()?));
    let mut maps = threads.iter().filter_map(maps);
    let Some((thread, maps)) = maps.find(|(_, maps)| !maps.is_empty()) else {
        return Vec::new();
    };
    let used = |line: &str| {
        let mut fields = line.split_ascii_whitespace();
        let range = fields.next()?;
        let permissions = fields.next()?;
        let is_file = fields.nth(2)? != "0";
        if !permissions.ends_with('s') || !is_file {
            return None;
        }
        let used = search(&OpenFile::at(thread.join("map_files").join(range))?)?;
        let is_writable = permissions.contains('w') || may_become_writable(thread, range);
        let access = if is_writable {
            Access::Mapped
        } else {
            Access::Read
        };
        Some((access, used))
    };
    let text = String::from_utf8_lossy(&maps);
    text.lines().filter_map(used).collect()
}

/// Whether mprotect(2) can make a mapping writable (`VM_MAYWRITE`), because the mapped descriptor
/// was writable. The permissions of the link in `map_files` are not reliable, because the kernel
/// does not update them if another file is mapped at the same addresses. If the flags are unknown,
/// returns true.
fn may_become_writable(thread: &Path, range: &str) -> bool {
    let smaps = fs::read(thread.join("smaps")).unwrap_or_default();
    let smaps = String::from_utf8_lossy(&smaps);
    let mut mapping = smaps.lines().skip_while(|line| !line.starts_with(range));
    let flags = mapping.find_map(|line| line.strip_prefix("VmFlags:"));
    flags.is_none_or(|flags| flags.split_ascii_whitespace().any(|flag| flag == "mw"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::host::fixture::Fixture;
    use std::os::unix::fs::symlink;

    /// Fixture processes that have a file open or mapped.
    #[test]
    fn finds_how_each_process_uses_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        fs::write(&path, "data").unwrap();
        let file = Stat::of(&fs::metadata(&path).unwrap());
        let host = Fixture::new(
            "proc/11/comm = writer
            proc/11/fdinfo/6 = flags:\t02100000
            proc/11/fdinfo/7 = flags:\t02100002
            proc/12/comm = reader
            proc/12/fdinfo/7 = flags:\t02100000
            proc/13/comm = mapper
            proc/13/maps = 7f00-7f01 rw-s 00000000 fe:00 9 /f
            proc/14/maps = 7f00-7f01 rw-s 00000000 fe:00 1 /g
            proc/15/fdinfo/7 = flags:\t0100001
            proc/16/comm = locker
            proc/16/fdinfo/7 = flags:\t02100000\\nlock:\t1: FLOCK  ADVISORY  WRITE 16 fe:00:9 0 EOF
            proc/19/comm = protector
            proc/19/maps = 7e00-7e01 r--s 00000000 fe:00 8 /e\\n7f00-7f01 r--s 00000000 fe:00 9 /f
            proc/19/smaps = 7e00-7e01 r--s 0\\nVmFlags: rd sh\\n7f00-7f01 r--s 0\\nVmFlags: rd sh mw
            proc/20/comm = mapped reader
            proc/20/maps = 7f00-7f01 r--s 00000000 fe:00 9 /f
            proc/20/smaps = 7f00-7f01 r--s 0\\nVmFlags: rd sh\\n7f02-7f03 rw-s 0\\nVmFlags: rd mw
            proc/17/maps = 7f00-7f01 rw-p 00000000 fe:00 9 /f
            proc/18/fd @
            proc/18/task/18 @
            proc/18/task/1000000001 @
            proc/1000000001/fdinfo/7 = flags:\t02100001",
        );
        let kernel = host.kernel();
        let link = |at: &str, to: &Path| {
            let at = kernel.proc.join(at);
            fs::create_dir_all(at.parent().unwrap()).unwrap();
            symlink(to, at).unwrap();
        };
        link("11/fd/6", &path);
        for process in ["11", "12", "15", "16", "1000000001"] {
            link(&format!("{process}/fd/7"), &path);
        }
        for process in ["13", "17", "19", "20"] {
            link(&format!("{process}/map_files/7f00-7f01"), &path);
        }
        let program = std::env::current_exe().unwrap();
        link("self/exe", &program);
        link("15/exe", &program);
        let is_file = |open: &OpenFile| open.stat.is_same(&file).then_some(());
        let found = users(&kernel, is_file);
        // Unlike /proc, the fixture lists the thread as a process.
        let is_process = |user: &&User<()>| user.process.id < 1_000_000_000;
        let others = found.iter().filter(is_process);
        let mut others: Vec<String> = others
            .filter(|user| !user.is_own)
            .map(|user| format!("{} in {}", user.access, user.process))
            .collect();
        others.sort();
        assert_eq!(
            others,
            [
                "locked in process 16 (locker)",
                "mapped for writing in process 13 (mapper)",
                "mapped for writing in process 19 (protector)",
                "open for writing in process 11 (writer)",
                "open for writing in process 18",
                "open in process 12 (reader)",
                "open in process 20 (mapped reader)",
            ]
        );
        assert!(
            found
                .iter()
                .any(|user| user.is_own && user.process.id == 15)
        );
        let prevents = first_preventing_use(found).unwrap();
        assert!(!prevents.is_own && prevents.access > Access::Read);
    }

    /// Threads that share a table cost only one comparison each.
    #[test]
    fn threads_with_the_same_table_are_searched_once() {
        use std::{sync::Barrier, thread::scope};
        let started = Barrier::new(9);
        let ended = Barrier::new(9);
        scope(|scope| {
            for index in 0..8 {
                let (started, ended) = (&started, &ended);
                scope.spawn(move || {
                    if index < 2 {
                        // SAFETY: this closes only this thread's copies of the descriptors, so
                        // other tests' files do not stay open.
                        unsafe {
                            assert_eq!(libc::unshare(libc::CLONE_FILES), 0);
                            libc::syscall(libc::SYS_close_range, 3, u32::MAX, 0);
                        }
                    }
                    started.wait();
                    ended.wait();
                });
            }
            started.wait();
            let found = threads_with_own_table(&Kernel::live(), std::process::id());
            ended.wait();
            assert_eq!(found.len(), 3, "{found:?}");
        });
    }
}
