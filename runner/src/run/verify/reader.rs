//! Reads a job's written blocks in offset order.

use crate::{
    load::verify::{
        check::check,
        checked_blocks::CheckedBlocks,
        finding::Finding,
        format::Format,
        written_blocks::{BlockState, Expected, WrittenBlocks},
    },
    run::cache_preparation::cached_bytes,
    system::{
        buffers::BufferPool,
        target::{OpenTarget, cache::evict},
    },
};
use leadline_protocol::{
    job::engine::BufferPages,
    plan::job::{ResolvedJob, VerifyOptions},
    report::verify::{BadBlock, Damage, MAX_FAILURES, VerifyReport},
};
use rustix::{
    fs::{Mode, OFlags, open},
    io::{Errno, pread, retry_on_intr},
};
use std::{
    io,
    os::fd::{AsRawFd, OwnedFd},
};

/// Bytes per read.
const CHUNK_BYTES: u64 = 1 << 20;
/// Bytes per step: large enough that thread overhead is negligible, small enough for frequent
/// progress updates.
const STEP_BYTES: u64 = 64 << 20;

/// A worker's targets, and its last write to each block.
pub(crate) struct WorkerBlocks {
    pub number: u32,
    pub targets: Vec<OpenTarget>,
    /// `None` if `verify_only` is set.
    pub written: Option<WrittenBlocks>,
}

pub(crate) struct JobVerifier {
    job: usize,
    options: VerifyOptions,
    format: Format,
    direct: bool,
    workers: Vec<WorkerBlocks>,
    cursor: Cursor,
    file: Option<OpenFile>,
    done_bytes: u64,
    report: VerifyReport,
}

/// Position of the next block.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor {
    worker: usize,
    /// Index among the worker's targets.
    target: usize,
    /// Block index in the target's region.
    block: usize,
}

/// The target being read.
struct OpenFile {
    fd: OwnedFd,
    buffer: BufferPool,
    /// Alignment of offsets and lengths, in bytes.
    alignment: u64,
}

/// Consecutive blocks of a target that are read together.
struct Chunk {
    first: usize,
    count: usize,
    /// Offset in the target, in bytes.
    offset: u64,
}

impl JobVerifier {
    /// `job`: index in the run. `resolved` must have `verify` set.
    pub(crate) fn new(job: usize, resolved: &ResolvedJob) -> Self {
        let options = resolved.data.verify.expect("a job with verify");
        Self {
            job,
            options,
            format: Format::new(&options, &resolved.data),
            direct: resolved.direct,
            workers: Vec::new(),
            cursor: Cursor::default(),
            file: None,
            done_bytes: 0,
            report: VerifyReport {
                cached_bytes: (!resolved.direct).then_some(0),
                ..VerifyReport::default()
            },
        }
    }

    /// Adds a worker. With `verify_only`, a target that multiple workers share is read once.
    pub(crate) fn add(&mut self, mut worker: WorkerBlocks) {
        if worker.written.is_none() && !self.options.only {
            let reason = "a worker did not respond, so its writes are unknown";
            self.report.not_run = Some(reason.into());
        }
        if let Some(written) = &worker.written {
            self.add_checked_blocks(written.checked(), &worker.targets);
        }
        if self.options.only {
            let number = worker.number;
            worker
                .targets
                .retain(|opened| number == 0 || opened.target.worker.is_some());
        }
        self.workers.push(worker);
    }

    /// Adds the blocks that a worker checked while it wrote.
    fn add_checked_blocks(&mut self, checked: &CheckedBlocks, targets: &[OpenTarget]) {
        self.report.checked_blocks += checked.blocks;
        self.report.checked_bytes += checked.bytes;
        self.report.bad_blocks += checked.bad_blocks;
        for (target, offset, finding) in &checked.failures {
            let path = targets[usize::from(*target)].target.path.clone();
            self.add_failure(path, *offset, finding.clone(), None);
        }
    }

    pub(crate) fn job(&self) -> usize {
        self.job
    }

    pub(crate) fn report(&self) -> VerifyReport {
        self.report.clone()
    }

    pub(crate) fn is_done(&self) -> bool {
        let is_over = self.options.fatal && self.report.bad_blocks > 0;
        is_over || self.cursor.worker == self.workers.len() || self.report.not_run.is_some()
    }

    /// Bytes of the regions processed so far.
    pub(crate) fn done_bytes(&self) -> u64 {
        self.done_bytes
    }

    pub(crate) fn total_bytes(&self) -> u64 {
        let targets = self.workers.iter().flat_map(|worker| &worker.targets);
        targets.map(|opened| opened.target.size).sum()
    }

    /// Path of the current target.
    pub(crate) fn path(&self) -> Option<String> {
        let worker = self.workers.get(self.cursor.worker)?;
        let opened = worker.targets.get(self.cursor.target)?;
        Some(opened.target.path.clone())
    }

    /// Reads the next blocks.
    pub(crate) fn step(&mut self) {
        let end = self.done_bytes + STEP_BYTES;
        while self.done_bytes < end && !self.is_done() {
            if let Err(error) = self.advance() {
                let path = self.path().unwrap_or_default();
                self.report.not_run = Some(format!("{path} could not be read back: {error}"));
            }
        }
    }

    /// Opens the next target, reads its next chunk, or closes it.
    fn advance(&mut self) -> io::Result<()> {
        let Some(opened) = self.workers[self.cursor.worker]
            .targets
            .get(self.cursor.target)
        else {
            self.cursor = Cursor {
                worker: self.cursor.worker + 1,
                ..Cursor::default()
            };
            return Ok(());
        };
        if self.file.is_none() {
            self.open_target()?;
            return Ok(());
        }
        let blocks = (opened.target.size / self.options.interval) as usize;
        match self.next_chunk(blocks) {
            Some(chunk) => self.check_chunk(&chunk),
            None => {
                self.file = None;
                self.cursor.target += 1;
                self.cursor.block = 0;
            }
        }
        Ok(())
    }

    fn opened(&self) -> &OpenTarget {
        &self.workers[self.cursor.worker].targets[self.cursor.target]
    }

    /// Writes back and evicts the cached pages, so that the device is read, and opens the target
    /// for reading.
    fn open_target(&mut self) -> io::Result<()> {
        let opened = self.opened();
        evict(opened)?;
        let mut flags = OFlags::RDONLY | OFlags::CLOEXEC;
        flags.set(OFlags::DIRECT, self.direct);
        // Opens the same inode, even if its path has changed.
        let path = format!("/proc/self/fd/{}", opened.fd.as_raw_fd());
        let fd = open(path, flags, Mode::empty())?;
        let target = &opened.target;
        let alignment = u64::from(target.alignment.max(1));
        let bytes = CHUNK_BYTES.max(self.options.interval) + 2 * alignment;
        let cached = cached_bytes(opened);
        if let Some(sum) = &mut self.report.cached_bytes {
            match cached {
                Some(bytes) => *sum += bytes,
                None => self.report.cached_bytes = None,
            }
        }
        self.file = Some(OpenFile {
            fd,
            buffer: BufferPool::new(1, bytes as usize, BufferPages::Mmap)?,
            alignment,
        });
        Ok(())
    }

    fn state(&self, block: usize) -> BlockState {
        match &self.workers[self.cursor.worker].written {
            Some(written) => written.state(self.cursor.target, block),
            None => BlockState::Written(Expected::AnyWrite),
        }
    }

    /// The next consecutive blocks to check; `None` at the end of the target.
    fn next_chunk(&mut self, blocks: usize) -> Option<Chunk> {
        let interval = self.options.interval;
        let begin = self.cursor.block;
        while self.cursor.block < blocks && !self.is_written(self.cursor.block) {
            self.cursor.block += 1;
        }
        let first = self.cursor.block;
        self.done_bytes += (first - begin) as u64 * interval;
        let limit = (CHUNK_BYTES / interval).max(1) as usize;
        let count = (first..blocks.min(first + limit))
            .take_while(|block| self.is_written(*block))
            .count();
        (count > 0).then(|| Chunk {
            first,
            count,
            offset: self.opened().target.offset + first as u64 * interval,
        })
    }

    /// Whether the block's contents are known; counts unknown blocks as skipped.
    fn is_written(&mut self, block: usize) -> bool {
        match self.state(block) {
            BlockState::Written(_) => true,
            BlockState::Untouched => false,
            BlockState::Unknown => {
                if block == self.cursor.block {
                    self.report.skipped_blocks += 1;
                }
                false
            }
        }
    }

    fn check_chunk(&mut self, chunk: &Chunk) {
        let interval = self.options.interval;
        let bytes = chunk.count as u64 * interval;
        let mut file = self.file.take().expect("open");
        match file.read(chunk.offset, bytes) {
            Ok(blocks) if blocks.len() as u64 == bytes => {
                for (index, block) in blocks.chunks_exact(interval as usize).enumerate() {
                    self.check_block(chunk.first + index, block);
                }
            }
            _ => self.check_blocks_individually(chunk, &mut file),
        }
        self.file = Some(file);
        self.cursor.block += chunk.count;
        self.done_bytes += bytes;
    }

    /// Reads the blocks one by one, to find those that cannot be read.
    fn check_blocks_individually(&mut self, chunk: &Chunk, file: &mut OpenFile) {
        let interval = self.options.interval;
        for index in 0..chunk.count {
            let offset = chunk.offset + index as u64 * interval;
            match file.read(offset, interval) {
                Ok(block) if block.len() as u64 == interval => {
                    self.check_block(chunk.first + index, block);
                }
                Ok(_) => self.add_unreadable_block(chunk.first + index, None),
                Err(error) => self.add_unreadable_block(chunk.first + index, Some(error)),
            }
        }
    }

    fn check_block(&mut self, block: usize, bytes: &[u8]) {
        if self.options.fatal && self.report.bad_blocks > 0 {
            return;
        }
        self.report.checked_blocks += 1;
        self.report.checked_bytes += bytes.len() as u64;
        let offset = self.opened().target.offset + block as u64 * self.options.interval;
        if let BlockState::Written(expected) = self.state(block)
            && let Err(finding) = check(&self.format, bytes, offset, expected)
        {
            self.add_bad_block(offset, finding, None);
        }
    }

    fn add_unreadable_block(&mut self, block: usize, error: Option<Errno>) {
        if self.options.fatal && self.report.bad_blocks > 0 {
            return;
        }
        self.report.checked_blocks += 1;
        self.report.checked_bytes += self.options.interval;
        let offset = self.opened().target.offset + block as u64 * self.options.interval;
        let detail = match error {
            Some(error) => format!("The read failed: {}.", io::Error::from(error)),
            None => "The target ends before the end of the block.".into(),
        };
        let finding = Finding::new(Damage::Unreadable, detail);
        self.add_bad_block(offset, finding, error);
    }

    fn add_bad_block(&mut self, offset: u64, finding: Finding, error: Option<Errno>) {
        self.report.bad_blocks += 1;
        let path = self.opened().target.path.clone();
        self.add_failure(path, offset, finding, error);
    }

    fn add_failure(&mut self, path: String, offset: u64, finding: Finding, error: Option<Errno>) {
        if self.report.failures.len() == MAX_FAILURES {
            return;
        }
        self.report.failures.push(BadBlock {
            path,
            offset,
            bytes: self.options.interval,
            kind: finding.kind,
            detail: finding.detail,
            found_offset: finding.found_offset,
            bad_offset: finding.bad_offset,
            errno: error.map(Errno::raw_os_error),
        });
    }
}

impl OpenFile {
    /// Reads a range; the result is shorter at the end of the target.
    fn read(&mut self, offset: u64, bytes: u64) -> Result<&[u8], Errno> {
        let begin = offset - offset % self.alignment;
        let end = (offset + bytes).next_multiple_of(self.alignment);
        let buffer = &mut self.buffer.write_buffer_mut(0)[..(end - begin) as usize];
        let mut filled = 0;
        while filled < buffer.len() {
            let at = begin + filled as u64;
            match retry_on_intr(|| pread(&self.fd, &mut buffer[filled..], at))? {
                0 => break,
                read => filled += read,
            }
        }
        let start = (offset - begin) as usize;
        let end = filled.min(start + bytes as usize);
        Ok(&buffer[start.min(end)..end])
    }
}
