//! Tests sequential reads, which are looked up ahead of readahead.

use crate::load::layer_sampler::tests::*;
use std::ops::Range;

const KIB: u64 = 1024;

/// A sequential reader of a file that contains data.
struct Reader {
    job: ResolvedJob,
    file: StoredFile,
    _named: tempfile::NamedTempFile,
}

/// The lookups of a stream.
struct Lookups {
    /// Offset of the I/O about to be submitted, and the offset that was looked up.
    lookups: Vec<(u64, u64)>,
    /// I/Os that the counted lookups represent.
    counted: u64,
    on_device: u64,
    samples: u64,
}

impl Reader {
    /// Returns `None` and reports a skip if the filesystem does not read ahead.
    fn new(fields: Value, offset: u64, size: u64) -> Option<Self> {
        let named = tempfile::NamedTempFile::new_in(env!("CARGO_MANIFEST_DIR")).unwrap();
        let host = Inventory::read(&Kernel::live());
        let mut layers = LayersBuilder::new(&host);
        let file = layers.target(named.as_file(), named.path()).unwrap();
        if file.readahead_bytes(true) == 0 {
            eprintln!("SKIP: no readahead on this filesystem");
            return None;
        }
        let mut job = json!({
            "rw": "read", "direct": false, "mode": "buffered", "ioengine": "psync",
            "targets": [target(offset, size)], "size": size,
        });
        for (name, value) in fields.as_object().unwrap() {
            job[name] = value.clone();
        }
        Some(Self {
            job: resolved(job),
            file,
            _named: named,
        })
    }

    fn step(&self) -> u64 {
        self.job.pattern.bs.read.max + self.job.pattern.rw_modifier.unwrap_or(0).unsigned_abs()
    }

    /// Offsets of one pass over the region.
    fn pass(&self) -> Vec<u64> {
        let region = &self.job.targets[0];
        let last = region.offset + region.size - self.job.pattern.bs.read.max;
        (region.offset..=last)
            .step_by(self.step() as usize)
            .collect()
    }

    /// Issues `ios` I/Os; looks up the first one and then one of every `every` I/Os. Data before
    /// `cached_until` is cached.
    fn run(&self, ios: usize, every: usize, cached_until: u64) -> Lookups {
        let mut stream = Stream::new(&self.job, &self.job.targets[0], 1, &self.file).unwrap();
        stream.begin();
        let layer_sums = LayerSums::default();
        let lookups = RefCell::default();
        let offsets = self.pass().into_iter().cycle().take(ios).enumerate();
        let chosen = offsets.filter(|(index, _)| *index == 0 || index % every == every / 2);
        for (index, offset) in chosen {
            let weight = if index == 0 { 1 } else { every as u64 };
            let io = Io {
                offset,
                len: self.job.pattern.bs.read.max as u32,
                ..Io::default()
            };
            let read = |range: Range<u64>| {
                let ahead = range.start;
                let lookups: &RefCell<Vec<(u64, u64)>> = &lookups;
                lookups.borrow_mut().push((offset, ahead));
                let layer = if ahead < cached_until {
                    StorageLayer::PageCache
                } else {
                    StorageLayer::Device
                };
                LayerBytes::all(layer, u64::from(io.len))
            };
            stream.look_up(&io, weight, read, &layer_sums);
        }
        stream.finish(Some(ios as u64), &layer_sums);
        Lookups {
            lookups: lookups.into_inner(),
            counted: layer_sums.ios.iter().map(|counter| counter.get()).sum(),
            on_device: layer_sums.ios[StorageLayer::Device as usize].get(),
            samples: layer_sums.samples.get(),
        }
    }

    /// Checks that each offset was looked up once.
    fn assert_each_once(&self, lookups: &[(u64, u64)], expected: &[u64]) {
        let mut times: BTreeMap<u64, u32> = BTreeMap::new();
        for (_, offset) in lookups {
            *times.entry(*offset).or_default() += 1;
        }
        let once: BTreeMap<u64, u32> = expected.iter().map(|offset| (*offset, 1)).collect();
        assert_eq!(times, once);
    }
}

fn blocks(bytes: u64) -> Value {
    same(&json!({"min": bytes, "max": bytes, "split": []}))
}

#[test]
fn a_stream_looks_up_each_block_once() {
    for (name, fields, offset) in [
        ("4 KiB", json!({}), 0),
        ("an offset", json!({}), 1 << 20),
        ("128 KiB", json!({"bs": blocks(128 * KIB)}), 0),
        ("gaps", json!({"rw_modifier": 12 * KIB}), 0),
        (
            "a depth",
            json!({"iodepth": 32, "ioengine": "io_uring"}),
            64 * KIB,
        ),
    ] {
        let Some(reader) = Reader::new(fields, offset, 8 << 20) else {
            return;
        };
        let pass = reader.pass();
        let found = reader.run(pass.len(), 1, 0);
        reader.assert_each_once(&found.lookups, &pass);
        assert_eq!(found.counted, pass.len() as u64, "{name}");
        assert_eq!(found.samples, pass.len() as u64, "{name}");
    }
}

/// A reader of a region that is many times as long as the readahead distance.
fn long_reader(fields: Value, offset: u64) -> Option<Reader> {
    let readahead = Reader::new(json!({}), 0, 4096)?.file.readahead_bytes(true);
    Reader::new(fields, offset, (4 * readahead).next_multiple_of(1 << 20))
}

#[test]
fn a_stream_stays_ahead_of_its_readahead() {
    let start = 1 << 20;
    let Some(reader) = long_reader(json!({}), start) else {
        return;
    };
    let readahead = reader.file.readahead_bytes(true);
    let pass = reader.pass();
    let found = reader.run(pass.len(), 1, 0);
    let after_start = found.lookups.iter().filter(|(io, _)| *io > start);
    let nearest = after_start.map(|(io, offset)| offset - io).min();
    assert!(nearest.unwrap() >= readahead, "{nearest:?} of {readahead}");
    assert_eq!(found.counted, pass.len() as u64);
}

#[test]
fn direct_and_random_reads_are_looked_up_at_their_own_offset() {
    for fields in [
        json!({"rw": "randread"}),
        json!({"rw_modifier": -(8 * KIB as i64)}),
        json!({"fadvise_hint": "random"}),
    ] {
        let Some(reader) = Reader::new(fields, 0, 8 << 20) else {
            return;
        };
        assert!(Stream::new(&reader.job, &reader.job.targets[0], 1, &reader.file).is_none());
    }
}

#[test]
fn small_regions_are_looked_up_at_the_start() {
    let Some(reader) = Reader::new(json!({}), 0, 64 * KIB) else {
        return;
    };
    let pass = reader.pass();
    let found = reader.run(pass.len(), 1, 0);
    reader.assert_each_once(&found.lookups, &pass);
    assert!(found.lookups.iter().all(|(io, _)| *io == 0));
    assert_eq!(found.counted, 16);
}

/// Runs three passes over a region, a quarter of which is cached.
fn check_passes(name: &str, reader: &Reader) {
    let pass = reader.pass().len() as u64;
    let size = reader.job.targets[0].size;
    let found = reader.run(3 * pass as usize, 1, size / 4);
    // If the distance is very long, a few lookups are counted before the stream reaches them.
    let near = |found: u64, expected: u64| found.abs_diff(expected) <= expected / 1000;
    assert!(near(found.counted, 3 * pass), "{name}: {}", found.counted);
    let on_device = 3 * pass * 3 / 4;
    assert!(
        near(found.on_device, on_device),
        "{name}: {}",
        found.on_device
    );
}

#[test]
fn later_passes_are_counted_the_same_as_the_first() {
    for (name, fields) in [
        ("loops", json!({"loops": 3})),
        ("time", json!({"time_based": true})),
        ("gaps", json!({"loops": 3, "rw_modifier": 12 * KIB})),
    ] {
        let Some(reader) = long_reader(fields, 0) else {
            return;
        };
        check_passes(name, &reader);
    }
}

#[test]
fn later_passes_are_counted_in_regions_smaller_than_the_readahead() {
    let Some(reader) = Reader::new(json!({"loops": 3}), 0, 64 * KIB) else {
        return;
    };
    check_passes("64 KiB", &reader);
}

#[test]
fn offsets_past_the_end_of_the_stream_are_ignored() {
    let runtime = json!({"runtime_ms": 1000});
    let Some(reader) = Reader::new(runtime, 0, 8 << 20) else {
        return;
    };
    for ios in [1, 10, 500, 1000] {
        // All data after the last I/O is on the device.
        let found = reader.run(ios, 1, ios as u64 * 4 * KIB);
        assert_eq!((found.counted, found.on_device), (ios as u64, 0), "{ios}");
    }
}

/// Readahead reads whole pages, so only the first block in a page requires device I/O.
fn check_small_blocks(bytes: u64, pages: u64) {
    let size = pages * 4096 / bytes * bytes;
    let Some(reader) = Reader::new(json!({"bs": blocks(bytes)}), 0, size) else {
        return;
    };
    let ios = reader.pass().len();
    let found = reader.run(ios, 1, 0);
    assert_eq!(found.counted, ios as u64, "{bytes}");
    // The result is exact unless the region is so long that multiple blocks share a lookup.
    let error = found.on_device.abs_diff(pages);
    assert!(
        error * 20 <= pages,
        "{bytes}: {} of {pages}",
        found.on_device
    );
}

#[test]
fn small_blocks_share_a_page() {
    for bytes in [512, 1024, 1536] {
        check_small_blocks(bytes, 256);
    }
}

/// With a long readahead, one lookup represents multiple blocks at the start of a stream.
#[test]
fn small_blocks_share_a_page_with_a_long_readahead() {
    check_small_blocks(512, 2048);
}

#[test]
fn lookup_groups_represent_all_of_a_streams_ios() {
    let Some(reader) = long_reader(json!({}), 0) else {
        return;
    };
    let ios = reader.pass().len();
    let found = reader.run(ios, 8, reader.job.targets[0].size / 2);
    let near = |found: u64, expected: usize| found.abs_diff(expected as u64) <= 2 * 8;
    assert!(near(found.counted, ios), "{} of {ios}", found.counted);
    assert!(
        near(found.on_device, ios / 2),
        "{} of {ios}",
        found.on_device
    );
}
