//! Tests lookups in real files, and on loop devices backed by files.

mod loop_devices;

use crate::system::{
    host::{inventory::Inventory, kernel::Kernel},
    layers::{builder::LayersBuilder, *},
};
use StorageLayer::{Device, LowerCache, PageCache, Unwritten};
use rustix::fs::{Advice, FallocateFlags, fadvise, fallocate};
use std::{
    fs::OpenOptions,
    ops::Range,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::{Path, PathBuf},
    process::Command,
};

const PAGE: u64 = 4096;
const SIZE: u64 = 64 * PAGE;
const ALL: Range<u64> = 0..SIZE;

struct TestFile {
    named: tempfile::NamedTempFile,
}

impl TestFile {
    /// A sparse file without data. It is in the source directory, because the temporary directory
    /// may be a tmpfs.
    fn sparse() -> Self {
        let named = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        named.as_file().set_len(SIZE).unwrap();
        Self { named }
    }

    /// A file that is fully written, cached and clean.
    fn written() -> Self {
        let file = Self::sparse();
        file.write(ALL);
        file.sync();
        file
    }

    fn cold() -> Self {
        let file = Self::written();
        file.drop_pages();
        file
    }

    fn file(&self) -> &File {
        self.named.as_file()
    }

    /// Writes one page at a time, because a larger write creates large folios, which become dirty
    /// as a whole.
    fn write(&self, range: Range<u64>) {
        for start in range.step_by(PAGE as usize) {
            self.file().write_all_at(&[7; 4096], start).unwrap();
        }
    }

    fn sync(&self) {
        self.file().sync_all().unwrap();
    }

    /// Drops clean pages.
    fn drop_pages(&self) {
        fadvise(self.file(), 0, None, Advice::DontNeed).unwrap();
    }

    /// Reads pages into the page cache, without readahead.
    fn cache(&self, range: Range<u64>) {
        fadvise(self.file(), 0, None, Advice::Random).unwrap();
        let mut data = vec![0; (range.end - range.start) as usize];
        self.file().read_exact_at(&mut data, range.start).unwrap();
    }

    fn stored(&self) -> StoredFile {
        stored(self.file(), self.named.path())
    }
}

fn stored(file: &File, path: &Path) -> StoredFile {
    let host = Inventory::read(&Kernel::live());
    LayersBuilder::new(&host).target(file, path).unwrap()
}

/// Whether the tests' filesystem is on a disk and reports extents. If not, prints that the test is
/// skipped.
fn is_on_disk(file: &StoredFile) -> bool {
    let is_plain =
        matches!(*file.below, LowerLayer::Disk) && matches!(file.mapping, Mapping::Fiemap { .. });
    if !is_plain {
        eprintln!("SKIP: the source directory is not on a disk: {file:?}");
    }
    is_plain
}

const fn pages(range: Range<u64>) -> Range<u64> {
    range.start * PAGE..range.end * PAGE
}

/// Number of pages in each layer, from the top layer to the bottom one.
fn pages_per_layer(found: LayerBytes) -> Vec<(StorageLayer, u64)> {
    let layers = StorageLayer::TOP_DOWN.into_iter();
    let each = layers.map(|layer| (layer, found.of(layer) / PAGE));
    each.filter(|(_, pages)| *pages > 0).collect()
}

fn assert_read(
    file: &StoredFile,
    range: Range<u64>,
    direct: bool,
    expected: &[(StorageLayer, u64)],
) {
    let found = file.read(range.clone(), direct);
    assert_eq!(
        pages_per_layer(found),
        expected,
        "{range:?}, direct: {direct}"
    );
    assert_eq!(found.total(), range.end - range.start);
}

#[test]
fn cached_data_is_served_from_the_page_cache() {
    let file = TestFile::written();
    let layers = file.stored();
    if !is_on_disk(&layers) {
        return;
    }
    assert_read(&layers, ALL, false, &[(PageCache, 64)]);
    assert_read(&layers, pages(3..4), false, &[(PageCache, 1)]);
    assert_read(&layers, ALL, true, &[(Device, 64)]);
    let part = layers.read(PAGE + 512..PAGE + 1024, false);
    assert_eq!((part.of(PageCache), part.total()), (512, 512));
    file.drop_pages();
    assert_read(&layers, ALL, false, &[(Device, 64)]);
}

#[test]
fn half_cached_data_is_split_between_layers() {
    let file = TestFile::cold();
    let layers = file.stored();
    if !is_on_disk(&layers) {
        return;
    }
    file.cache(pages(0..32));
    assert_read(&layers, ALL, false, &[(PageCache, 32), (Device, 32)]);
    assert_read(&layers, pages(0..32), false, &[(PageCache, 32)]);
    assert_read(&layers, pages(32..64), false, &[(Device, 32)]);
    assert_read(
        &layers,
        pages(30..34),
        false,
        &[(PageCache, 2), (Device, 2)],
    );
    let both = layers.read(pages(31..33), false);
    assert_eq!((both.highest(), both.lowest()), (PageCache, Device));
    assert_read(&layers, ALL, true, &[(Device, 64)]);
}

#[test]
fn holes_and_unwritten_extents_are_found() {
    let hole = TestFile::sparse();
    let layers = hole.stored();
    if !is_on_disk(&layers) {
        return;
    }
    let unwritten = TestFile::sparse();
    fallocate(unwritten.file(), FallocateFlags::empty(), 0, SIZE).unwrap();
    unwritten.sync();
    for file in [hole, unwritten] {
        let layers = file.stored();
        for direct in [false, true] {
            assert_read(&layers, ALL, direct, &[(Unwritten, 64)]);
        }
        file.write(pages(0..16));
        file.sync();
        file.drop_pages();
        for direct in [false, true] {
            assert_read(&layers, ALL, direct, &[(Unwritten, 48), (Device, 16)]);
            assert_read(
                &layers,
                pages(15..17),
                direct,
                &[(Unwritten, 1), (Device, 1)],
            );
        }
    }
}

/// Reading a hole puts zero-filled pages into the page cache.
#[test]
fn cached_holes_are_served_from_the_page_cache() {
    let file = TestFile::sparse();
    let layers = file.stored();
    if !is_on_disk(&layers) {
        return;
    }
    file.cache(pages(0..8));
    assert_read(&layers, pages(0..8), false, &[(PageCache, 8)]);
    assert_read(&layers, pages(0..8), true, &[(Unwritten, 8)]);
}

#[test]
fn dirty_data_in_holes_is_written_before_direct_reads() {
    let file = TestFile::sparse();
    let layers = file.stored();
    if !is_on_disk(&layers) {
        return;
    }
    file.write(pages(0..16));
    assert_read(&layers, pages(0..16), false, &[(PageCache, 16)]);
    assert_read(&layers, pages(0..16), true, &[(Device, 16)]);
    assert_read(&layers, pages(16..64), true, &[(Unwritten, 48)]);
}

#[test]
fn writes_are_in_memory_until_they_are_synced() {
    let new = TestFile::sparse();
    let layers = new.stored();
    if !is_on_disk(&layers) {
        return;
    }
    for file in [new, TestFile::written()] {
        let layers = file.stored();
        file.write(ALL);
        let written = |range: Range<u64>| pages_per_layer(layers.written(range, false));
        assert_eq!(written(ALL), [(PageCache, 64)]);
        assert_eq!(pages_per_layer(layers.synced(ALL, false)), [(Device, 64)]);
        file.sync();
        assert_eq!(written(ALL), [(Device, 64)]);
        file.write(pages(10..12));
        assert_eq!(written(pages(10..12)), [(PageCache, 2)]);
        assert_eq!(written(pages(12..64)), [(Device, 52)]);
        assert_eq!(written(pages(11..13)), [(PageCache, 1), (Device, 1)]);
    }
}

#[test]
fn direct_writes_are_on_the_device() {
    let file = TestFile::cold();
    let layers = file.stored();
    if !is_on_disk(&layers) {
        return;
    }
    assert_eq!(pages_per_layer(layers.written(ALL, true)), [(Device, 64)]);
}

#[test]
fn discarded_writes_never_left_memory() {
    let file = TestFile::sparse();
    let layers = file.stored();
    if !is_on_disk(&layers) {
        return;
    }
    file.write(ALL);
    file.file().set_len(0).unwrap();
    assert_eq!(
        pages_per_layer(layers.written(ALL, false)),
        [(PageCache, 64)]
    );
}

#[test]
fn shares_of_large_ranges_are_exact() {
    let file = TestFile::sparse();
    let layers = file.stored();
    if !is_on_disk(&layers) {
        return;
    }
    file.write(pages(0..1024));
    file.sync();
    file.drop_pages();
    file.cache(pages(0..256));
    assert_read(
        &layers,
        pages(0..1024),
        false,
        &[(PageCache, 256), (Device, 768)],
    );
}

#[test]
fn newly_cached_pages_serve_reads() {
    let file = TestFile::cold();
    let layers = file.stored();
    if !is_on_disk(&layers) {
        return;
    }
    assert!(!layers.is_in_memory());
    file.cache(pages(0..16));
    assert_read(&layers, ALL, false, &[(PageCache, 16), (Device, 48)]);
    file.cache(pages(16..32));
    assert_read(&layers, ALL, false, &[(PageCache, 32), (Device, 32)]);
}

#[test]
fn files_on_tmpfs_are_in_memory() {
    let Ok(named) = tempfile::NamedTempFile::new_in("/dev/shm") else {
        eprintln!("SKIP: no /dev/shm");
        return;
    };
    named.as_file().set_len(SIZE).unwrap();
    named.as_file().write_all_at(&[7; 16 * 4096], 0).unwrap();
    let layers = stored(named.as_file(), named.path());
    if !matches!(*layers.below, LowerLayer::Nothing) {
        eprintln!("SKIP: /dev/shm is not a tmpfs");
        return;
    }
    for direct in [false, true] {
        assert_read(&layers, pages(0..16), direct, &[(PageCache, 16)]);
        assert_read(&layers, pages(32..64), direct, &[(Unwritten, 32)]);
        assert_eq!(
            pages_per_layer(layers.written(pages(0..16), direct)),
            [(PageCache, 16)]
        );
    }
    assert_eq!(layers.readahead_bytes(true), 0);
    assert!(layers.is_in_memory());
}
