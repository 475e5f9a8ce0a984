//! Examines the contents of a target that a write would destroy: its signatures, and samples of its
//! data.
//!
//! Signatures alone miss raw databases and encrypted data without a header, so every nonzero byte
//! counts as data. Targets with little allocated space are read completely. For larger targets, the
//! first and last 4 MiB, evenly distributed samples, and samples of the job's regions are read. If
//! all of these are blank, the caller reads the regions completely (`Contents::complete`).

mod read_limit;
#[cfg(test)]
mod tests;

pub(crate) use read_limit::ReadLimit;

use crate::system::host::{
    access_time::open_noatime,
    signature::{Signature, signatures},
};
use leadline_protocol::format::{self, hex};
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
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
};

/// Targets with at most this much allocated space are read completely.
const FULL_BYTES: u64 = 64 << 20;
/// Targets with more allocated ranges than this are not read completely.
const MAX_EXTENTS: usize = 4096;
/// Size of the ranges at the beginning and end of a target that are read completely. They include
/// the offsets of all signatures that libblkid recognizes.
const EDGE_BYTES: u64 = 4 << 20;
const SAMPLE_BYTES: u64 = 4096;
const SAMPLES: u64 = 256;
const SAMPLES_PER_REGION: u64 = 64;
/// Maximum number of regions that are sampled separately.
const MAX_REGIONS: usize = 64;
/// Bytes per read, and the alignment of offsets and memory for direct I/O.
const CHUNK_BYTES: usize = 1 << 20;
const ALIGN: u64 = 4096;
static ZEROS: [u8; ALIGN as usize] = [0; ALIGN as usize];

#[derive(Clone, Debug, Default)]
pub(crate) struct Contents {
    /// Descriptions, such as `ext4 "photos", 812 GiB used`. A partition's are prefixed with its
    /// name: `sdb1: ext4 "photos", 812 GiB used`.
    signatures: Vec<String>,
    /// UUIDs of filesystems and other signatures.
    uuids: Vec<String>,
    /// Whether a nonzero byte was read.
    has_data: bool,
    /// Bytes in the regions that were not read because of the limit.
    unread_bytes: u64,
    /// Digest of all nonzero blocks in the samples, and their offsets.
    digest: [u8; 32],
}

/// An open target of `length` bytes.
pub(crate) struct Source<'a> {
    pub target: BorrowedFd<'a>,
    pub length: u64,
    /// The file whose holes are the parts of the target that were never written, and the offset of
    /// the target's first byte in that file. For a loop device, this is its backing file.
    pub holes: Option<(BorrowedFd<'a>, u64)>,
}

impl<'a> Source<'a> {
    /// For a file, or a device without a backing file.
    pub(crate) fn of(target: &'a impl AsFd, length: u64) -> Self {
        Self {
            target: target.as_fd(),
            length,
            holes: Some((target.as_fd(), 0)),
        }
    }
}

impl Contents {
    /// Reads samples. `regions`: additional byte ranges to sample.
    ///
    /// # Errors
    /// Returns an error if the target cannot be read.
    pub(crate) fn read(source: &Source, regions: &[Range<u64>]) -> io::Result<Self> {
        let mut sample = Sample::open(source)?;
        let allocated = sample.allocated_ranges(source.length);
        for range in allocated.unwrap_or_else(|| ranges(source.length, regions)) {
            sample.read(range)?;
        }
        let found: Vec<Signature> = match &sample.copy {
            Some(copy) if sample.has_data => signatures(copy)
                .into_iter()
                .map(|signature| signature.with_used_space(copy))
                .collect(),
            _ => Vec::new(),
        };
        Ok(Self {
            signatures: found.iter().map(ToString::to_string).collect(),
            uuids: found.iter().filter_map(Signature::uuid).collect(),
            has_data: sample.has_data,
            unread_bytes: 0,
            digest: sample.hash.finalize().into(),
        })
    }

    /// If no data was found, reads the regions completely, until data is found or the limit is
    /// reached. Does not change the digest, which must not depend on the target's speed.
    ///
    /// # Errors
    /// Returns an error if the target cannot be read.
    pub(crate) fn complete(
        &mut self,
        source: &Source,
        regions: &[Range<u64>],
        limit: &ReadLimit,
    ) -> io::Result<()> {
        if !self.is_blank() {
            return Ok(());
        }
        let mut sample = Sample::open(source)?;
        for region in union(regions, source.length) {
            self.unread_bytes += sample.read_within(region, limit)?;
            if sample.has_data {
                self.has_data = true;
                break;
            }
        }
        Ok(())
    }

    pub(crate) fn uuids(&self) -> &[String] {
        &self.uuids
    }

    /// Adds the signatures on a partition of this device.
    pub(crate) fn add_partition(&mut self, name: &str, contents: &Self) {
        let signatures = contents.signatures.iter();
        self.signatures
            .extend(signatures.map(|signature| format!("{name}: {signature}")));
        self.uuids.extend(contents.uuids.iter().cloned());
    }

    pub(crate) fn is_blank(&self) -> bool {
        self.signatures.is_empty() && !self.has_data && self.unread_bytes == 0
    }

    /// Descriptions of the contents to show to the user. Never empty.
    pub(crate) fn descriptions(&self) -> Vec<String> {
        match (self.signatures.is_empty(), self.has_data) {
            (false, _) => self.signatures.clone(),
            (true, true) => vec!["data without a known signature".into()],
            (true, false) if self.unread_bytes > 0 => vec![format!(
                "no data found, but {} were not examined",
                format::bytes(self.unread_bytes)
            )],
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

/// The ranges to read: aligned, sorted and nonoverlapping.
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
    union(&ranges, length)
}

/// Aligns ranges, sorts them, merges overlaps, and clips them to the target's length.
fn union(ranges: &[Range<u64>], length: u64) -> Vec<Range<u64>> {
    let aligned = |range: &Range<u64>| range.start - range.start % ALIGN..range.end.min(length);
    let mut ranges: Vec<Range<u64>> = ranges.iter().map(aligned).collect();
    ranges.retain(|range| !range.is_empty());
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

struct Sample<'a> {
    file: OwnedFd,
    holes: Option<(BorrowedFd<'a>, u64)>,
    /// A sparse in-memory copy of the data that was read, used to search for signatures without
    /// reading the target again through the page cache; `None` if the kernel does not permit it.
    copy: Option<File>,
    buffer: Vec<u8>,
    /// Index of the first aligned byte in the buffer.
    first: usize,
    has_data: bool,
    hash: Sha256,
}

impl<'a> Sample<'a> {
    /// Uses O_DIRECT if possible, to leave the page cache unchanged.
    fn open(source: &Source<'a>) -> io::Result<Self> {
        let path = format!("/proc/self/fd/{}", source.target.as_raw_fd());
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let open = |flags| open_noatime(flags, |flags| open(&path, flags, Mode::empty()));
        let file = match open(flags | OFlags::DIRECT) {
            Err(Errno::INVAL) => open(flags),
            result => result,
        }?;
        // Disable readahead, in case the filesystem does not support O_DIRECT.
        let _ = fadvise(&file, 0, None, Advice::Random);
        let buffer = vec![0; CHUNK_BYTES + ALIGN as usize];
        Ok(Self {
            file,
            holes: source.holes,
            copy: sparse_memory(source.length).ok(),
            first: buffer.as_ptr().align_offset(ALIGN as usize),
            buffer,
            has_data: false,
            hash: Sha256::new(),
        })
    }

    /// The allocated ranges; `None` if they are too large or too numerous to read.
    fn allocated_ranges(&self, length: u64) -> Option<Vec<Range<u64>>> {
        let mut ranges = Vec::new();
        let (mut at, mut bytes) = (0, 0);
        while at < length {
            let start = self.next_data(at).min(length);
            let end = self.next_hole(start).min(length);
            bytes += end - start;
            if bytes > FULL_BYTES || ranges.len() == MAX_EXTENTS {
                return None;
            }
            ranges.push(start..end);
            at = end.max(at + 1);
        }
        Some(union(&ranges, length))
    }

    fn read(&mut self, range: Range<u64>) -> io::Result<()> {
        let mut at = range.start;
        while at < range.end {
            at = self.next_data(at);
            if at >= range.end {
                break;
            }
            match self.read_chunk(at..range.end)? {
                0 => break,
                read => at += read,
            }
        }
        Ok(())
    }

    /// Stops at the first nonzero block. Returns the number of bytes left unread because of the
    /// limit.
    fn read_within(&mut self, range: Range<u64>, limit: &ReadLimit) -> io::Result<u64> {
        let mut at = range.start;
        while at < range.end && !self.has_data {
            at = self.next_data(at);
            if at >= range.end {
                break;
            }
            if !limit.permits() {
                return Ok(range.end - at);
            }
            let read = limit.count(|| self.read_chunk(at..range.end))?;
            if read == 0 {
                break;
            }
            at += read;
        }
        Ok(0)
    }

    /// Reads the beginning of a range. Returns the number of bytes read, which is 0 at the end of
    /// the target.
    fn read_chunk(&mut self, range: Range<u64>) -> io::Result<u64> {
        let at = range.start;
        // Direct I/O reads whole blocks. Any excess in the last block is beyond the end of the
        // file, or is read a second time.
        let bytes = range.end.saturating_sub(at).next_multiple_of(ALIGN);
        let bytes = bytes.min(CHUNK_BYTES as u64) as usize;
        let buffer = &mut self.buffer[self.first..self.first + bytes];
        let read = retry_on_intr(|| pread(&self.file, &mut *buffer, at))?;
        let data = &self.buffer[self.first..self.first + read];
        for (block, at) in data
            .chunks(ALIGN as usize)
            .zip((at..).step_by(ALIGN as usize))
        {
            if block != &ZEROS[..block.len()] {
                self.has_data = true;
                self.hash.update(at.to_le_bytes());
                self.hash.update(block);
                // Best effort: without the copy, only the content type is missing from the report.
                let _ = self.copy.as_ref().map(|copy| pwrite(copy, block, at));
            }
        }
        Ok(read as u64)
    }

    /// Skips holes. If holes cannot be detected, every byte is treated as data.
    fn next_data(&self, at: u64) -> u64 {
        let Some((file, offset)) = self.holes else {
            return at;
        };
        match seek(file, SeekFrom::Data(at + offset)) {
            Ok(data) => (data - offset) / ALIGN * ALIGN,
            Err(Errno::NXIO) => u64::MAX,
            Err(_) => at,
        }
        .max(at)
    }

    fn next_hole(&self, at: u64) -> u64 {
        let Some((file, offset)) = self.holes.filter(|_| at < u64::MAX) else {
            return u64::MAX;
        };
        match seek(file, SeekFrom::Hole(at.saturating_add(offset))) {
            Ok(hole) if hole > at + offset => hole - offset,
            _ => u64::MAX,
        }
    }
}

fn sparse_memory(length: u64) -> Result<File, Errno> {
    let memory = memfd_create("contents", MemfdFlags::CLOEXEC)?;
    ftruncate(&memory, length)?;
    Ok(memory.into())
}
