//! Examines the contents of a target that a write would destroy: signatures, and a sample of its
//! bytes.
//!
//! Signatures alone miss raw databases and encrypted data without a header, so every nonzero byte
//! counts as data. Small targets are read completely. For larger targets, the first and last 4 MiB,
//! evenly distributed samples, and samples of the job's regions are read.

#[cfg(test)]
mod tests;

use crate::system::host::signature::signatures;
use leadline_protocol::format::hex;
use rustix::{
    fs::{
        Advice, MemfdFlags, Mode, OFlags, SeekFrom, fadvise, ftruncate, memfd_create, open, seek,
    },
    io::{Errno, pread, pwrite, retry_on_intr},
};
use sha2::{Digest, Sha256};
use std::{
    fs::File,
    io,
    ops::Range,
    os::fd::{AsFd, AsRawFd, OwnedFd},
};

/// Targets up to this size are read completely.
const FULL_BYTES: u64 = 64 << 20;
/// Size of the ranges at the beginning and the end that are read completely. They include the
/// offsets of all signatures that libblkid recognizes.
const EDGE_BYTES: u64 = 4 << 20;
const SAMPLE_BYTES: u64 = 4096;
const SAMPLES: u64 = 256;
const SAMPLES_PER_REGION: u64 = 64;
/// Maximum number of regions that are sampled separately.
const MAX_REGIONS: usize = 64;
/// Bytes per read, and the alignment of offsets and memory for direct I/O.
const CHUNK_BYTES: usize = 1 << 20;
const ALIGN: u64 = 4096;

#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// Such as `ext4 "photos", 812 GiB used`, or `sdb1: ext4 "photos", 812 GiB used`.
    signatures: Vec<String>,
    /// Whether a nonzero byte was read.
    has_data: bool,
    /// Digest of all nonzero bytes that were read, and their offsets.
    digest: [u8; 32],
}

impl Contents {
    /// Reads an open target of `length` bytes. `regions`: byte ranges to sample in addition.
    ///
    /// # Errors
    /// Returns an error if the target cannot be read.
    pub(crate) fn read(target: impl AsFd, length: u64, regions: &[Range<u64>]) -> io::Result<Self> {
        let mut sample = Sample::open(&target, length)?;
        for range in ranges(length, regions) {
            sample.read(range)?;
        }
        let found = match &sample.copy {
            Some(copy) if sample.has_data => signatures(copy)
                .into_iter()
                .map(|signature| signature.with_used_space(copy).to_string())
                .collect(),
            _ => Vec::new(),
        };
        Ok(Self {
            signatures: found,
            has_data: sample.has_data,
            digest: sample.hash.finalize().into(),
        })
    }

    /// Adds the signatures on a partition of this device.
    pub(crate) fn add_partition(&mut self, name: &str, contents: &Self) {
        let signatures = contents.signatures.iter();
        self.signatures
            .extend(signatures.map(|signature| format!("{name}: {signature}")));
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.signatures.is_empty() && !self.has_data
    }

    /// Descriptions of the contents, to show to the user. Never empty.
    pub(crate) fn sentences(&self) -> Vec<String> {
        match (self.signatures.is_empty(), self.has_data) {
            (false, _) => self.signatures.clone(),
            (true, true) => vec!["data without a known signature".into()],
            (true, false) => vec!["no data found".into()],
        }
    }

    /// Digest of the signatures and the data.
    pub(crate) fn digest(&self) -> String {
        let mut hash = Sha256::new();
        for signature in &self.signatures {
            hash.update(signature);
            hash.update([0]);
        }
        hash.update(self.digest);
        hex(&hash.finalize())
    }
}

/// The ranges to read: aligned, sorted, and without overlaps.
fn ranges(length: u64, regions: &[Range<u64>]) -> Vec<Range<u64>> {
    if length <= FULL_BYTES {
        return Vec::from([Range {
            start: 0,
            end: length,
        }]);
    }
    let mut ranges = vec![0..EDGE_BYTES, length - EDGE_BYTES..length];
    ranges.extend(samples(&(0..length), SAMPLES));
    for region in regions.iter().take(MAX_REGIONS) {
        ranges.extend(samples(region, SAMPLES_PER_REGION));
    }
    for range in &mut ranges {
        range.start -= range.start % ALIGN;
        range.end = range.end.min(length);
    }
    ranges.sort_by_key(|range| range.start);
    ranges.dedup_by(|next, range| {
        let overlaps = next.start <= range.end;
        if overlaps {
            range.end = range.end.max(next.end);
        }
        overlaps
    });
    ranges
}

fn samples(range: &Range<u64>, count: u64) -> impl Iterator<Item = Range<u64>> {
    let (begin, length) = (range.start, range.end - range.start);
    let step = (length / count).max(SAMPLE_BYTES);
    (0..length.div_ceil(step)).map(move |index| {
        let at = begin + index * step;
        at..at + SAMPLE_BYTES
    })
}

struct Sample {
    file: OwnedFd,
    /// A sparse in-memory copy of the data that was read, to search for signatures without reading
    /// the target again through the page cache; `None` if the kernel does not permit it.
    copy: Option<File>,
    buffer: Vec<u8>,
    /// Index of the first aligned byte in the buffer.
    first: usize,
    has_data: bool,
    hash: Sha256,
}

impl Sample {
    /// Opens with O_DIRECT if possible, so that the page cache is not changed.
    fn open(target: &impl AsFd, length: u64) -> io::Result<Self> {
        let path = format!("/proc/self/fd/{}", target.as_fd().as_raw_fd());
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let file = match open(&path, flags | OFlags::DIRECT, Mode::empty()) {
            Err(Errno::INVAL) => open(&path, flags, Mode::empty()),
            result => result,
        }?;
        // Disable readahead, in case the file is not open with O_DIRECT.
        let _ = fadvise(&file, 0, None, Advice::Random);
        let buffer = vec![0; CHUNK_BYTES + ALIGN as usize];
        Ok(Self {
            file,
            copy: sparse_memory(length).ok(),
            first: buffer.as_ptr().align_offset(ALIGN as usize),
            buffer,
            has_data: false,
            hash: Sha256::new(),
        })
    }

    fn read(&mut self, range: Range<u64>) -> io::Result<()> {
        let mut at = range.start;
        while at < range.end {
            at = self.next_data(at);
            if at >= range.end {
                break;
            }
            // Direct I/O reads whole blocks. The rest of the last block is beyond the end of the
            // file, or is read twice.
            let bytes = (range.end - at).next_multiple_of(ALIGN);
            let bytes = bytes.min(CHUNK_BYTES as u64) as usize;
            let buffer = &mut self.buffer[self.first..self.first + bytes];
            let read = retry_on_intr(|| pread(&self.file, &mut *buffer, at))?;
            if read == 0 {
                break;
            }
            let data = &self.buffer[self.first..self.first + read];
            for (block, at) in data
                .chunks(ALIGN as usize)
                .zip((at..).step_by(ALIGN as usize))
            {
                if block.iter().any(|byte| *byte != 0) {
                    self.has_data = true;
                    self.hash.update(at.to_le_bytes());
                    self.hash.update(block);
                    // Best effort: if this fails, only the content type is not reported.
                    let _ = self.copy.as_ref().map(|copy| pwrite(copy, block, at));
                }
            }
            at += read as u64;
        }
        Ok(())
    }

    /// Skips holes in a file. Devices have none.
    fn next_data(&self, at: u64) -> u64 {
        match seek(&self.file, SeekFrom::Data(at)) {
            Ok(data) => data - data % ALIGN,
            Err(Errno::NXIO) => u64::MAX,
            Err(_) => at,
        }
    }
}

fn sparse_memory(length: u64) -> Result<File, Errno> {
    let memory = memfd_create("contents", MemfdFlags::CLOEXEC)?;
    ftruncate(&memory, length)?;
    Ok(memory.into())
}
