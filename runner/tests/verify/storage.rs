//! A FUSE filesystem with one file. It damages selected blocks as they are written. The list of
//! damaged blocks is the oracle.

use super::{random::Random, scratch};
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, MountOption, OpenFlags, ReplyAttr, ReplyData, ReplyEmpty,
    ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr, Request, Session, TimeOrNow,
    WriteFlags,
};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::PathBuf,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, SystemTime},
};

const ATTRIBUTES_VALID: Duration = Duration::from_secs(1);
const ROOT: u64 = 1;
const FILE: u64 = 2;
pub(crate) const SECTOR: usize = 512;
/// Maximum number of damaged blocks: a report lists at most this many failures.
pub(crate) const MAX_DAMAGED: usize = 100;

#[derive(Clone, Copy, Debug, Eq, Ord, PartialEq, PartialOrd)]
pub(crate) enum Damage {
    /// One bit of the block is flipped, in the header or in the data.
    Flipped,
    Zeroed,
    /// The write is lost, so the block holds the data of an earlier write.
    Stale,
    /// The block holds data that belongs at another offset.
    Misplaced,
    /// Only the block's first sectors are written.
    Torn,
    /// Reads fail.
    Unreadable,
}

impl Damage {
    pub(crate) const ALL: [Self; 6] = [
        Self::Flipped,
        Self::Zeroed,
        Self::Stale,
        Self::Misplaced,
        Self::Torn,
        Self::Unreadable,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Flipped => "flipped",
            Self::Zeroed => "zeroed",
            Self::Stale => "stale",
            Self::Misplaced => "misplaced",
            Self::Torn => "torn",
            Self::Unreadable => "unreadable",
        }
    }
}

/// A damaged block. For a misplaced block, `found` is the offset where its data belongs.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Injection {
    pub damage: Damage,
    pub found: Option<u64>,
}

pub(crate) struct State {
    data: Vec<u8>,
    attributes: BTreeMap<OsString, Vec<u8>>,
    interval: usize,
    random: Random,
    damages: Vec<Damage>,
    /// Share of written blocks to damage, in thousandths.
    per_mille: u64,
    /// Blocks that have been written at least once.
    written: BTreeMap<u64, ()>,
    pub(crate) injected: BTreeMap<u64, Injection>,
}

impl State {
    fn read(&self, start: usize, end: usize) -> Result<Vec<u8>, Errno> {
        let interval = self.interval as u64;
        let first = start as u64 / interval * interval;
        let unreadable = self
            .injected
            .range(first..end as u64)
            .any(|(_, injection)| injection.damage == Damage::Unreadable);
        let end = end.min(self.data.len());
        if unreadable {
            return Err(Errno::EIO);
        }
        Ok(self.data[start.min(end)..end].to_vec())
    }

    fn write(&mut self, offset: u64, data: &[u8]) {
        for (index, block) in data.chunks(self.interval).enumerate() {
            let at = offset + (index * self.interval) as u64;
            self.write_block(at, block);
        }
    }

    fn write_block(&mut self, at: u64, block: &[u8]) {
        // Do not damage a block twice: if this write were lost, the block would keep its earlier
        // kind of damage.
        let was_damaged = self.injected.remove(&at).is_some();
        let start = at as usize;
        let old = self.data[start..start + block.len()].to_vec();
        self.data[start..start + block.len()].copy_from_slice(block);
        let chosen = !was_damaged && self.random.below(1000) < self.per_mille;
        if chosen && self.injected.len() < MAX_DAMAGED && block.len() == self.interval {
            self.damage(at, &old);
        }
        self.written.insert(at, ());
    }

    fn damage(&mut self, at: u64, old: &[u8]) {
        let damage = self.damages[self.random.below(self.damages.len() as u64) as usize];
        let start = at as usize;
        let length = old.len();
        let is_rewritten = self.written.contains_key(&at);
        let mut found = None;
        let sectors = (length / SECTOR) as u64;
        match damage {
            Damage::Flipped => {
                let byte = start + self.random.below(length as u64) as usize;
                self.data[byte] ^= 1 << self.random.below(8);
            }
            Damage::Zeroed => self.data[start..start + length].fill(0),
            Damage::Stale if is_rewritten => {
                self.data[start..start + length].copy_from_slice(old);
            }
            Damage::Torn if sectors > 1 => {
                let kept = (1 + self.random.below(sectors - 1)) as usize * SECTOR;
                self.data[start + kept..start + length].copy_from_slice(&old[kept..]);
            }
            Damage::Misplaced => {
                let Some(other) = self.intact_block_except(at) else {
                    return;
                };
                let source = other as usize;
                self.data.copy_within(source..source + length, start);
                found = Some(other);
            }
            Damage::Unreadable => {}
            Damage::Stale | Damage::Torn => return,
        }
        self.injected.insert(at, Injection { damage, found });
    }

    fn intact_block_except(&mut self, at: u64) -> Option<u64> {
        let blocks = self.written.keys().copied();
        let intact: Vec<u64> = blocks
            .filter(|other| *other != at && !self.injected.contains_key(other))
            .collect();
        let index = self.random.below(intact.len().max(1) as u64) as usize;
        intact.get(index).copied()
    }
}

type Shared = Arc<Mutex<State>>;

fn lock(state: &Mutex<State>) -> MutexGuard<'_, State> {
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

struct FaultyFilesystem(Shared);

impl FaultyFilesystem {
    fn attributes(&self, ino: u64) -> FileAttr {
        let size = if ino == ROOT {
            0
        } else {
            lock(&self.0).data.len() as u64
        };
        let time = SystemTime::UNIX_EPOCH;
        let (kind, perm) = match ino {
            ROOT => (FileType::Directory, 0o755),
            _ => (FileType::RegularFile, 0o644),
        };
        FileAttr {
            ino: INodeNo(ino),
            size,
            blocks: size.div_ceil(512),
            atime: time,
            mtime: time,
            ctime: time,
            crtime: time,
            kind,
            perm,
            nlink: 1,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        }
    }
}

impl Filesystem for FaultyFilesystem {
    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        if name == NAME {
            reply.entry(&ATTRIBUTES_VALID, &self.attributes(FILE), Generation(0));
        } else {
            reply.error(Errno::ENOENT);
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        reply.attr(&ATTRIBUTES_VALID, &self.attributes(ino.0));
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        _handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        if let Some(size) = size {
            lock(&self.0).data.resize(size as usize, 0);
        }
        reply.attr(&ATTRIBUTES_VALID, &self.attributes(ino.0));
    }

    fn open(&self, _: &Request, _: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        let flags = if flags.0 & libc::O_DIRECT == 0 {
            FopenFlags::empty()
        } else {
            FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
        };
        reply.opened(FileHandle(0), flags);
    }

    fn read(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let start = offset as usize;
        match lock(&self.0).read(start, start + size as usize) {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _: &Request,
        _: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut state = lock(&self.0);
        if offset as usize + data.len() > state.data.len() {
            reply.error(Errno::ENOSPC);
        } else {
            state.write(offset, data);
            reply.written(data.len() as u32);
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let blocks = 1 << 20;
        reply.statfs(blocks, blocks, blocks, 1 << 20, 1 << 20, 4096, 255, 4096);
    }

    fn setxattr(
        &self,
        _: &Request,
        _: INodeNo,
        name: &OsStr,
        value: &[u8],
        _: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        let mut state = lock(&self.0);
        state.attributes.insert(name.into(), value.into());
        reply.ok();
    }

    fn getxattr(&self, _: &Request, _: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        match lock(&self.0).attributes.get(name) {
            None => reply.error(Errno::ENODATA),
            Some(value) if size == 0 => reply.size(value.len() as u32),
            Some(value) if value.len() > size as usize => reply.error(Errno::ERANGE),
            Some(value) => reply.data(value),
        }
    }

    fn removexattr(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        lock(&self.0).attributes.remove(name);
        reply.ok();
    }
}

const NAME: &str = "data";

/// The mounted filesystem.
pub(crate) struct FaultyStorage {
    state: Shared,
    session: Option<BackgroundSession>,
    at: tempfile::TempDir,
}

impl FaultyStorage {
    /// A healthy filesystem with a file of zeros. Returns `None` and reports a skipped test if
    /// FUSE is not permitted. `interval` is the size of the damaged blocks in bytes.
    pub(crate) fn new(length: usize, interval: usize, seed: u64) -> Option<Self> {
        let at = scratch::directory();
        let mark = format!("{FILE} {length} 0 0 0").into_bytes();
        let state = Arc::new(Mutex::new(State {
            data: vec![0; length],
            // Mark the file as created by Leadline, so overwriting it requires no confirmation.
            attributes: BTreeMap::from([("user.leadline.made".into(), mark)]),
            interval,
            random: Random::new(seed),
            damages: Vec::new(),
            per_mille: 0,
            written: BTreeMap::new(),
            injected: BTreeMap::new(),
        }));
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("faulty".into())];
        let session = Session::new(FaultyFilesystem(state.clone()), at.path(), &config);
        match session.and_then(Session::spawn) {
            Ok(session) => Some(Self {
                state,
                session: Some(session),
                at,
            }),
            Err(error) => {
                scratch::skip(&format!("cannot mount a FUSE filesystem: {error}"));
                None
            }
        }
    }

    /// Damages this share of the blocks that are written from now on.
    pub(crate) fn inject(&self, damages: &[Damage], per_mille: u64) {
        let mut state = self.state();
        state.damages = damages.into();
        state.per_mille = per_mille;
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.at.path().join(NAME)
    }
}

impl Drop for FaultyStorage {
    fn drop(&mut self) {
        let at = self.at.path().to_str().unwrap();
        let _ = scratch::run("umount", &["--force", "--lazy", at]);
        if let Some(session) = self.session.take() {
            let _ = session.join();
        }
    }
}
