//! Writes chunks of a file on a separate thread, so a stop does not wait for hung storage.

use crate::system::target::{CHUNK_BYTES, cancellable::wait_with_grace};
use rustix::io::{Errno, fcntl_dupfd_cloexec, pwrite, retry_on_intr};
use std::{
    os::fd::OwnedFd,
    sync::{
        atomic::AtomicBool,
        mpsc::{Receiver, Sender, channel},
    },
    thread::Builder,
    time::Duration,
};

/// Alignment of the write buffer in bytes: the largest sector size, which is the size of a page.
pub(super) const BUFFER_ALIGN: usize = 4096;
/// How long a stop waits for a write or a sync: long enough that a slow disk can finish and the
/// file can be restored.
pub(super) const STOP_GRACE: Duration = Duration::from_millis(300);

/// An aligned buffer and the offset of its data in the file.
pub(super) struct Chunk {
    memory: Vec<u8>,
    length: usize,
    offset: u64,
}

impl Chunk {
    pub(super) fn new() -> Self {
        Self {
            memory: vec![0; CHUNK_BYTES + BUFFER_ALIGN],
            length: 0,
            offset: 0,
        }
    }

    /// Prepares the buffer for `length` bytes (at most `CHUNK_BYTES`) at an offset.
    pub(super) fn at(&mut self, offset: u64, length: usize) -> &mut [u8] {
        (self.offset, self.length) = (offset, length);
        let head = self.head();
        &mut self.memory[head..head + length]
    }

    fn head(&self) -> usize {
        self.memory.as_ptr().align_offset(BUFFER_ALIGN)
    }

    fn write_to(&self, fd: &OwnedFd) -> Result<(), Errno> {
        let head = self.head();
        write_all_at(fd, &self.memory[head..head + self.length], self.offset)
    }
}

pub(super) struct ChunkWriter {
    chunks: Sender<Chunk>,
    written: Receiver<(Chunk, Result<(), Errno>)>,
}

impl ChunkWriter {
    pub(super) fn new(fd: &OwnedFd) -> Result<Self, Errno> {
        let fd = fcntl_dupfd_cloexec(fd, 0)?;
        let (chunks, queue) = channel::<Chunk>();
        let (results, written) = channel();
        let work = move || {
            for chunk in queue {
                let result = chunk.write_to(&fd);
                if results.send((chunk, result)).is_err() {
                    return;
                }
            }
        };
        let thread = Builder::new().name("layout".into()).spawn(work);
        thread.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::AGAIN))?;
        Ok(Self { chunks, written })
    }

    /// Writes a chunk and returns its buffer. Returns `None` if the storage has not completed the
    /// write within `STOP_GRACE` of a stop.
    pub(super) fn write(&self, chunk: Chunk, stop: &AtomicBool) -> Result<Option<Chunk>, Errno> {
        self.chunks.send(chunk).map_err(|_| Errno::IO)?;
        let written = wait_with_grace(&self.written, stop, STOP_GRACE).map_err(|_| Errno::IO)?;
        written
            .map(|(chunk, result)| result.map(|()| chunk))
            .transpose()
    }
}

fn write_all_at(fd: &OwnedFd, mut bytes: &[u8], mut offset: u64) -> Result<(), Errno> {
    while !bytes.is_empty() {
        let written = retry_on_intr(|| pwrite(fd, bytes, offset))?;
        if written == 0 {
            return Err(Errno::IO);
        }
        bytes = &bytes[written..];
        offset += written as u64;
    }
    Ok(())
}
