//! SHA-256 hashes of files and directory trees, and in-memory copies of files.

use leadline_protocol::format::hex;
use rustix::{
    fs::{SeekFrom, seek},
    io::Errno,
};
use sha2::{Digest, Sha256};
use std::{
    collections::BTreeMap,
    fs::{self, File},
    os::unix::fs::{FileExt, FileTypeExt},
    path::{Path, PathBuf},
};

const CHUNK: usize = 64 << 10;

/// SHA-256 of all bytes and names. Chunks of zeros are skipped, but the offset of every other chunk
/// is included, so two hashes are equal only if all bytes are equal.
pub(crate) fn of(paths: &[PathBuf]) -> String {
    let mut hash = Sha256::new();
    paths.iter().for_each(|path| add(&mut hash, path));
    hex(&hash.finalize())
}

fn add(hash: &mut Sha256, path: &Path) {
    hash.update(path.as_os_str().as_encoded_bytes());
    let Ok(metadata) = path.symlink_metadata() else {
        return hash.update(b"absent");
    };
    let kind = metadata.file_type();
    if kind.is_dir() {
        entries(path).iter().for_each(|entry| add(hash, entry));
    } else if kind.is_symlink() {
        hash.update(fs::read_link(path).unwrap().as_os_str().as_encoded_bytes());
    } else if kind.is_file() || kind.is_block_device() {
        hash.update(metadata.len().to_le_bytes());
        chunks(path, |offset, bytes| {
            hash.update(offset.to_le_bytes());
            hash.update(bytes);
        });
    } else {
        hash.update([kind.is_fifo().into(), kind.is_socket().into()]);
    }
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

/// Calls a function with each nonzero chunk.
fn chunks(path: &Path, mut each: impl FnMut(u64, &[u8])) {
    // A node without a device behind it cannot be opened.
    let Ok(file) = File::open(path) else {
        return;
    };
    let mut buffer = vec![0; CHUNK];
    let mut offset = 0;
    loop {
        offset = match seek(&file, SeekFrom::Data(offset)) {
            Ok(data) => data / CHUNK as u64 * CHUNK as u64,
            Err(Errno::NXIO) => break,
            // Devices have no extent map.
            Err(_) => offset,
        };
        let bytes = read_full(&file, &mut buffer, offset);
        if bytes == 0 {
            break;
        }
        if buffer[..bytes].iter().any(|byte| *byte != 0) {
            each(offset, &buffer[..bytes]);
        }
        offset += CHUNK as u64;
    }
}

fn read_full(file: &File, buffer: &mut [u8], offset: u64) -> usize {
    let mut done = 0;
    while done < buffer.len() {
        match file.read_at(&mut buffer[done..], offset + done as u64) {
            Ok(0) => break,
            Ok(bytes) => done += bytes,
            Err(error) => panic!("{error}"),
        }
    }
    done
}

/// Copies of regular files, used to restore data if an unsafe guard permits it to be overwritten.
pub(crate) struct Copies(BTreeMap<PathBuf, Content>);

struct Content {
    length: u64,
    /// Nonzero chunks and their offsets.
    chunks: Vec<(u64, Vec<u8>)>,
}

impl Copies {
    pub(crate) fn of(paths: &[PathBuf]) -> Self {
        let mut copies = BTreeMap::new();
        for path in paths.iter().flat_map(|path| files(path)) {
            let mut content = Content {
                length: path.metadata().unwrap().len(),
                chunks: Vec::new(),
            };
            chunks(&path, |offset, bytes| {
                content.chunks.push((offset, bytes.to_vec()));
            });
            copies.insert(path, content);
        }
        Self(copies)
    }

    /// Restores what it can. The caller checks the result.
    pub(crate) fn restore(&self, paths: &[PathBuf]) {
        for path in paths.iter().flat_map(|path| files(path)) {
            if !self.0.contains_key(&path) {
                let _ = fs::remove_file(path);
            }
        }
        for (path, content) in &self.0 {
            let mut options = File::options();
            let options = options.write(true).create(true).truncate(false);
            let Ok(file) = options.open(path) else {
                continue;
            };
            let _ = file.set_len(content.length);
            zero(&file, content.length);
            for (offset, bytes) in &content.chunks {
                let _ = file.write_all_at(bytes, *offset);
            }
            let _ = file.sync_all();
        }
    }
}

fn zero(file: &File, length: u64) {
    use rustix::fs::FallocateFlags;
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    if length > 0 {
        let _ = rustix::fs::fallocate(file, flags, 0, length);
    }
}

/// Returns the regular files in a tree.
fn files(path: &Path) -> Vec<PathBuf> {
    match path.symlink_metadata() {
        Ok(metadata) if metadata.is_file() => vec![path.to_path_buf()],
        Ok(metadata) if metadata.is_dir() => {
            let entries = entries(path);
            entries.iter().flat_map(|entry| files(entry)).collect()
        }
        _ => Vec::new(),
    }
}
