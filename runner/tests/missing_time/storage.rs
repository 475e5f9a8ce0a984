//! A FUSE filesystem whose script determines when each request completes, if ever. When the
//! filesystem is dropped, even after a panic, all open requests are completed.

use super::scratch;
use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, InitFlags, KernelConfig, LockOwner, MountOption, OpenFlags, ReplyAttr,
    ReplyCreate, ReplyData, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, ReplyXattr,
    Request, Session, TimeOrNow, WriteFlags,
};
use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    io,
    path::PathBuf,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
    thread::{self, JoinHandle},
    time::{Duration, Instant, SystemTime},
};

/// Latency of a request without a fault. Long enough to limit the CPU time of a test.
pub(crate) const HEALTHY: Duration = Duration::from_millis(10);
const ATTRIBUTES_VALID: Duration = Duration::from_secs(1);
const ROOT: u64 = 1;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Kind {
    Read,
    Write,
    Sync,
    Unlink,
    Allocate,
    /// A change of the file's length.
    Truncate,
}

/// A request whose completion time the script determines.
#[derive(Clone, Debug)]
pub(crate) struct Io {
    pub kind: Kind,
    pub file: String,
    pub offset: u64,
    /// Number of earlier requests of the same kind, across all files.
    pub index: u64,
    /// Time since the first request.
    pub at: Duration,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Completion {
    After(Duration),
    /// Completes this long after the first request.
    At(Duration),
    /// Completes on `release`.
    Never,
}

pub(crate) const IMMEDIATELY: Completion = Completion::After(Duration::ZERO);

type Script = Box<dyn Fn(&Io) -> Completion + Send + Sync>;
type Reply = Box<dyn FnOnce() + Send>;

/// Replies that are not due yet.
#[derive(Default)]
struct PendingReplies {
    timed: BTreeMap<(Instant, u64), Reply>,
    until_release: Vec<Reply>,
    count: u64,
    released: bool,
    closed: bool,
}

#[derive(Default)]
struct Clock {
    first: Option<Instant>,
    counts: [u64; 6],
}

struct ReplyScheduler {
    script: Script,
    clock: Mutex<Clock>,
    pending: Mutex<PendingReplies>,
    changed: Condvar,
}

/// Ignores poisoning so that tests can clean up after a panic.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl ReplyScheduler {
    fn handle(&self, kind: Kind, file: &str, offset: u64, reply: Reply) {
        let now = Instant::now();
        let (io, first) = {
            let mut clock = lock(&self.clock);
            let first = *clock.first.get_or_insert(now);
            let index = clock.counts[kind as usize];
            clock.counts[kind as usize] += 1;
            let (file, at) = (file.to_string(), now - first);
            let io = Io {
                kind,
                file,
                offset,
                index,
                at,
            };
            (io, first)
        };
        let due = match (self.script)(&io) {
            Completion::After(delay) => Some(now + delay),
            Completion::At(at) => Some(first + at),
            Completion::Never => None,
        };
        let mut pending = lock(&self.pending);
        if pending.released || due.is_some_and(|due| due <= now) {
            drop(pending);
            return reply();
        }
        pending.count += 1;
        let key = pending.count;
        match due {
            Some(due) => drop(pending.timed.insert((due, key), reply)),
            None => pending.until_release.push(reply),
        }
        self.changed.notify_all();
    }

    /// Sends each reply when it is due.
    fn send_replies(&self) {
        let mut pending = lock(&self.pending);
        while !pending.closed {
            let now = Instant::now();
            let mut due: Vec<Reply> = Vec::new();
            let released = pending.released;
            if released {
                due.append(&mut pending.until_release);
            }
            while let Some(entry) = pending.timed.first_entry()
                && (released || entry.key().0 <= now)
            {
                due.push(entry.remove());
            }
            if !due.is_empty() {
                drop(pending);
                due.into_iter().for_each(|reply| reply());
                pending = lock(&self.pending);
                continue;
            }
            pending = match pending.timed.first_key_value() {
                Some(((next, _), _)) => {
                    let wait = next.saturating_duration_since(now);
                    let waited = self.changed.wait_timeout(pending, wait);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => self
                    .changed
                    .wait(pending)
                    .unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn release(&self) {
        lock(&self.pending).released = true;
        self.changed.notify_all();
    }

    fn close(&self) {
        self.release();
        lock(&self.pending).closed = true;
        self.changed.notify_all();
    }
}

struct Node {
    name: Option<OsString>,
    data: Vec<u8>,
    attributes: BTreeMap<OsString, Vec<u8>>,
}

impl Node {
    fn new(name: &OsStr, length: u64) -> Self {
        Self {
            name: Some(name.into()),
            data: vec![0x5a; length as usize],
            attributes: BTreeMap::new(),
        }
    }
}

type Nodes = Arc<Mutex<BTreeMap<u64, Node>>>;

struct Files {
    scheduler: Arc<ReplyScheduler>,
    nodes: Nodes,
}

fn attributes(ino: u64, length: u64) -> FileAttr {
    let directory = ino == ROOT;
    let time = SystemTime::UNIX_EPOCH;
    FileAttr {
        ino: INodeNo(ino),
        size: length,
        blocks: length.div_ceil(512),
        atime: time,
        mtime: time,
        ctime: time,
        crtime: time,
        kind: if directory {
            FileType::Directory
        } else {
            FileType::RegularFile
        },
        perm: if directory { 0o755 } else { 0o644 },
        nlink: 1,
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: 4096,
        flags: 0,
    }
}

/// Direct writes run in parallel, as on a block device.
fn open_flags(flags: i32) -> FopenFlags {
    if flags & libc::O_DIRECT == 0 {
        return FopenFlags::empty();
    }
    FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
}

impl Files {
    fn with_node<T>(&self, ino: INodeNo, action: impl FnOnce(&mut Node) -> T) -> Result<T, Errno> {
        lock(&self.nodes)
            .get_mut(&ino.0)
            .map(action)
            .ok_or(Errno::ENOENT)
    }

    fn find(&self, name: &OsStr) -> Option<(u64, u64)> {
        lock(&self.nodes)
            .iter()
            .find(|(_, node)| node.name.as_deref() == Some(name))
            .map(|(ino, node)| (*ino, node.data.len() as u64))
    }

    fn name(&self, ino: INodeNo) -> String {
        let name = self.with_node(ino, |node| node.name.clone()).ok().flatten();
        name.unwrap_or_default().to_string_lossy().into()
    }
}

impl Filesystem for Files {
    fn init(&mut self, _: &Request, config: &mut KernelConfig) -> io::Result<()> {
        // By default, the kernel sends only 12 asynchronous requests at a time.
        let _ = config.set_max_background(256);
        let _ = config.add_capabilities(InitFlags::FUSE_ASYNC_DIO);
        Ok(())
    }

    fn lookup(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEntry) {
        match self.find(name) {
            Some((ino, length)) => {
                reply.entry(&ATTRIBUTES_VALID, &attributes(ino, length), Generation(0))
            }
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let length = if ino.0 == ROOT {
            Ok(0)
        } else {
            self.with_node(ino, |node| node.data.len() as u64)
        };
        match length {
            Ok(length) => reply.attr(&ATTRIBUTES_VALID, &attributes(ino.0, length)),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        request: &Request,
        ino: INodeNo,
        _mode: Option<u32>,
        _uid: Option<u32>,
        _gid: Option<u32>,
        size: Option<u64>,
        _atime: Option<TimeOrNow>,
        _mtime: Option<TimeOrNow>,
        _ctime: Option<SystemTime>,
        handle: Option<FileHandle>,
        _crtime: Option<SystemTime>,
        _chgtime: Option<SystemTime>,
        _bkuptime: Option<SystemTime>,
        _flags: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let Some(size) = size else {
            return self.getattr(request, ino, handle, reply);
        };
        let nodes = self.nodes.clone();
        let truncate = move || match lock(&nodes).get_mut(&ino.0) {
            Some(node) => {
                node.data.resize(size as usize, 0);
                reply.attr(&ATTRIBUTES_VALID, &attributes(ino.0, size));
            }
            None => reply.error(Errno::ENOENT),
        };
        let name = self.name(ino);
        self.scheduler
            .handle(Kind::Truncate, &name, size, Box::new(truncate));
    }

    fn fallocate(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let (nodes, end) = (self.nodes.clone(), (offset + length) as usize);
        let allocate = move || {
            if let Some(node) = lock(&nodes).get_mut(&ino.0)
                && mode & libc::FALLOC_FL_KEEP_SIZE == 0
                && node.data.len() < end
            {
                node.data.resize(end, 0);
            }
            reply.ok();
        };
        let name = self.name(ino);
        self.scheduler
            .handle(Kind::Allocate, &name, offset, Box::new(allocate));
    }

    fn open(&self, _: &Request, _: INodeNo, flags: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), open_flags(flags.0));
    }

    fn create(
        &self,
        _: &Request,
        _: INodeNo,
        name: &OsStr,
        _mode: u32,
        _umask: u32,
        flags: i32,
        reply: ReplyCreate,
    ) {
        let mut nodes = lock(&self.nodes);
        let ino = nodes.last_key_value().map_or(ROOT, |(ino, _)| *ino) + 1;
        nodes.insert(ino, Node::new(name, 0));
        reply.created(
            &ATTRIBUTES_VALID,
            &attributes(ino, 0),
            Generation(0),
            FileHandle(0),
            open_flags(flags),
        );
    }

    fn unlink(&self, _: &Request, _: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let (nodes, removed) = (self.nodes.clone(), name.to_os_string());
        let remove = move || {
            for node in lock(&nodes).values_mut() {
                if node.name.as_ref() == Some(&removed) {
                    node.name = None;
                }
            }
            reply.ok();
        };
        self.scheduler
            .handle(Kind::Unlink, &name.to_string_lossy(), 0, Box::new(remove));
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let data = self.with_node(ino, |node| {
            let start = node.data.len().min(offset as usize);
            let end = node.data.len().min(start + size as usize);
            node.data[start..end].to_vec()
        });
        let send = move || match data {
            Ok(data) => reply.data(&data),
            Err(error) => reply.error(error),
        };
        self.scheduler
            .handle(Kind::Read, &self.name(ino), offset, Box::new(send));
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let written = self.with_node(ino, |node| {
            let end = offset as usize + data.len();
            if node.data.len() < end {
                node.data.resize(end, 0);
            }
            node.data[offset as usize..end].copy_from_slice(data);
            data.len() as u32
        });
        let send = move || match written {
            Ok(written) => reply.written(written),
            Err(error) => reply.error(error),
        };
        self.scheduler
            .handle(Kind::Write, &self.name(ino), offset, Box::new(send));
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        // Closing a file must not hang.
        reply.ok();
    }

    fn fsync(&self, _: &Request, ino: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let send = Box::new(move || reply.ok());
        self.scheduler.handle(Kind::Sync, &self.name(ino), 0, send);
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let blocks = 1 << 20;
        reply.statfs(blocks, blocks, blocks, 1 << 20, 1 << 20, 4096, 255, 4096);
    }

    fn setxattr(
        &self,
        _: &Request,
        ino: INodeNo,
        name: &OsStr,
        value: &[u8],
        _: i32,
        _: u32,
        reply: ReplyEmpty,
    ) {
        let set = self.with_node(ino, |node| {
            node.attributes.insert(name.into(), value.into());
        });
        match set {
            Ok(()) => reply.ok(),
            Err(error) => reply.error(error),
        }
    }

    fn getxattr(&self, _: &Request, ino: INodeNo, name: &OsStr, size: u32, reply: ReplyXattr) {
        let value = self.with_node(ino, |node| node.attributes.get(name).cloned());
        match value.ok().flatten() {
            None => reply.error(Errno::ENODATA),
            Some(value) if size == 0 => reply.size(value.len() as u32),
            Some(value) if value.len() > size as usize => reply.error(Errno::ERANGE),
            Some(value) => reply.data(&value),
        }
    }

    fn removexattr(&self, _: &Request, ino: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let _ = self.with_node(ino, |node| node.attributes.remove(name));
        reply.ok();
    }
}

/// The mounted filesystem.
pub(crate) struct Storage {
    scheduler: Arc<ReplyScheduler>,
    nodes: Nodes,
    replies: Option<JoinHandle<()>>,
    session: Option<BackgroundSession>,
    at: tempfile::TempDir,
}

impl Storage {
    /// A filesystem with existing files of this length. Returns `None` and reports a skipped
    /// test if FUSE is not permitted.
    pub(crate) fn new(
        files: &[&str],
        length: u64,
        script: impl Fn(&Io) -> Completion + Send + Sync + 'static,
    ) -> Option<Self> {
        let at = scratch::directory();
        let scheduler = Arc::new(ReplyScheduler {
            script: Box::new(script),
            clock: Mutex::default(),
            pending: Mutex::default(),
            changed: Condvar::new(),
        });
        let numbers = ROOT + 1..;
        let existing = files.iter().map(|name| Node::new(name.as_ref(), length));
        let mut nodes: BTreeMap<u64, Node> = numbers.zip(existing).collect();
        for (ino, node) in &mut nodes {
            // Mark the file as created by Leadline, so overwriting it requires no confirmation.
            let mark = format!("{ino} {length} 0 0 0").into_bytes();
            node.attributes.insert("user.leadline.made".into(), mark);
        }
        let nodes: Nodes = Arc::new(Mutex::new(nodes));
        let filesystem = Files {
            scheduler: scheduler.clone(),
            nodes: nodes.clone(),
        };
        let mut config = Config::default();
        config.mount_options = vec![MountOption::FSName("missing-time".into())];
        let session = match Session::new(filesystem, at.path(), &config).and_then(Session::spawn) {
            Ok(session) => session,
            Err(error) => {
                scratch::skip(&format!("cannot mount a FUSE filesystem: {error}"));
                return None;
            }
        };
        let sender = scheduler.clone();
        Some(Self {
            scheduler,
            nodes,
            replies: Some(thread::spawn(move || sender.send_replies())),
            session: Some(session),
            at,
        })
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.at.path().join(name)
    }

    /// Returns whether a file exists. Does not send a request to the filesystem.
    pub(crate) fn contains(&self, name: &str) -> bool {
        lock(&self.nodes)
            .values()
            .any(|node| node.name.as_deref() == Some(OsStr::new(name)))
    }

    /// Length of a file. Does not send a request to the filesystem.
    pub(crate) fn length(&self, name: &str) -> Option<usize> {
        let nodes = lock(&self.nodes);
        let mut found = nodes.values();
        let found = found.find(|node| node.name.as_deref() == Some(OsStr::new(name)));
        found.map(|node| node.data.len())
    }

    /// Time of the first request.
    pub(crate) fn first_io(&self) -> Option<Instant> {
        lock(&self.scheduler.clock).first
    }

    /// Completes all open requests now, and later ones without delay.
    pub(crate) fn release(&self) {
        self.scheduler.release();
    }
}

impl Drop for Storage {
    fn drop(&mut self) {
        self.release();
        // Abort the connection so that no process keeps waiting for the filesystem.
        let at = self.at.path().to_str().unwrap();
        let _ = scratch::run("umount", &["--force", "--lazy", at]);
        self.scheduler.close();
        if let Some(replies) = self.replies.take() {
            let _ = replies.join();
        }
        if let Some(session) = self.session.take() {
            let _ = session.join();
        }
    }
}
