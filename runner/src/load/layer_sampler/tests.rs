//! Which I/Os are looked up, and how many I/Os they stand for.

use crate::{
    load::layer_sampler::{tally::LayerTally, *},
    plan::fixture::{resolved, same, target},
    system::{
        host::{inventory::Inventory, kernel::Kernel},
        layers::{LayerBytes, builder::LayersBuilder},
    },
};
use leadline_protocol::verdict::StorageLayer;
use serde_json::{Value, json};
use std::{cell::RefCell, collections::BTreeMap};

/// One run on a clock that only advances with I/Os and lookups.
struct Run {
    ios: u64,
    io_ns: fn(u64) -> u64,
    lookup_ns: u64,
}

/// A looked up I/O and its weight.
type Sample = (u64, u64);

impl Run {
    /// The samples, and the share of the time that the lookups took.
    fn samples(&self, seed: u64) -> (Vec<Sample>, f64) {
        let mut interval = Interval::new(seed);
        interval.begin(0);
        let mut samples = Vec::new();
        let mut now_ns = 0;
        let mut next = 0;
        for io in 0..self.ios {
            if io == next {
                samples.push((io, interval.length()));
                let end_ns = now_ns + self.lookup_ns;
                next += 1 + interval.next(now_ns, end_ns) as u64;
                now_ns = end_ns;
            }
            now_ns += (self.io_ns)(io);
        }
        let lookups_ns = samples.len() as u64 * self.lookup_ns;
        (samples, lookups_ns as f64 / now_ns as f64)
    }

    /// Checks over many seeds that the mean estimate of the I/Os with a property is their number.
    fn assert_unbiased(&self, name: &str, has_property: impl Fn(u64) -> bool) {
        const SEEDS: u64 = 400;
        let truth = (0..self.ios).filter(|io| has_property(*io)).count() as f64;
        let estimate = |seed| {
            let samples = self.samples(seed).0;
            let found = samples.iter().filter(|(io, _)| has_property(*io));
            found.map(|(_, weight)| *weight as f64).sum::<f64>()
        };
        let estimates: Vec<f64> = (0..SEEDS).map(estimate).collect();
        let mean = estimates.iter().sum::<f64>() / SEEDS as f64;
        let squares = estimates.iter().map(|found| (found - mean).powi(2));
        let error = (squares.sum::<f64>() / (SEEDS - 1) as f64 / SEEDS as f64).sqrt();
        assert!(
            (mean - truth).abs() <= 4.5 * error + 1e-6,
            "{name}: {mean} ±{error}, not {truth}"
        );
    }
}

/// 1 µs each.
const FAST: Run = Run {
    ios: 100_000,
    io_ns: |_| 1000,
    lookup_ns: 2000,
};

/// Slower in the middle, so that the groups get shorter and longer again.
const CHANGING: Run = Run {
    ios: 60_000,
    io_ns: |io| {
        if (20_000..40_000).contains(&io) {
            50_000
        } else {
            500
        }
    },
    lookup_ns: 2000,
};

#[test]
fn samples_are_unbiased() {
    for (name, run) in [("constant", FAST), ("changing", CHANGING)] {
        run.assert_unbiased(name, |_| true);
        run.assert_unbiased(name, |io| io.is_multiple_of(2));
        run.assert_unbiased(name, |io| io.is_multiple_of(400));
        run.assert_unbiased(name, |io| io % 256 < 3);
        run.assert_unbiased(name, |io| io >= run.ios * 9 / 10);
    }
    CHANGING.assert_unbiased("the slow part", |io| (20_000..40_000).contains(&io));
}

#[test]
fn lengths_follow_the_speed() {
    let samples = CHANGING.samples(3).0;
    let longest = |range: std::ops::Range<u64>| {
        let of_range = samples.iter().filter(|(io, _)| range.contains(io));
        of_range.map(|(_, weight)| *weight).max().unwrap()
    };
    let slow = longest(38_000..40_000);
    assert!(slow <= 16, "{slow}");
    assert!(longest(55_000..60_000) > 4 * slow);
}

#[test]
fn lookups_take_at_most_their_share_of_the_time() {
    let long = Run {
        ios: 2_000_000,
        ..FAST
    };
    // 0.5 %, and 1 ms of 2 s at the start.
    let share = long.samples(1).1;
    assert!((0.002..0.008).contains(&share), "{share}");
}

#[test]
fn first_ios_are_all_looked_up() {
    let samples = FAST.samples(9).0;
    let all = samples
        .iter()
        .zip(0..)
        .take_while(|(sample, io)| **sample == (*io, 1))
        .count();
    // 1 ms of lookups.
    assert!((400..=600).contains(&all), "{all}");
}

#[test]
fn slow_ios_are_all_looked_up() {
    let slow = Run {
        ios: 5000,
        io_ns: |_| 1_000_000,
        lookup_ns: 3000,
    };
    let all: Vec<Sample> = (0..5000).map(|io| (io, 1)).collect();
    assert_eq!(slow.samples(1).0, all);
}

#[test]
fn no_lookup_dominates_a_short_run() {
    for seed in 0..20 {
        for (io, weight) in FAST.samples(seed).0 {
            assert!(weight <= (io / 256).max(1), "I/O {io}: {weight}");
        }
    }
}

const KIB: u64 = 1024;

/// A sequential reader of a file with data.
struct Reader {
    job: ResolvedJob,
    file: StoredFile,
    _named: tempfile::NamedTempFile,
}

/// What a stream looked up.
struct Lookups {
    /// I/O that was about to be submitted, and offset that was looked up.
    places: Vec<(u64, u64)>,
    /// I/Os that the counted lookups stand for.
    counted: u64,
    on_device: u64,
    samples: u64,
}

impl Reader {
    /// `None` with a reported skip where the filesystem does not read ahead.
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

    /// Offsets of one pass.
    fn pass(&self) -> Vec<u64> {
        let region = &self.job.targets[0];
        let last = region.offset + region.size - self.job.pattern.bs.read.max;
        (region.offset..=last)
            .step_by(self.step() as usize)
            .collect()
    }

    /// Looks up the first of `ios` I/Os, and one of each `every` after it. The data before
    /// `cached_until` is cached.
    fn run(&self, ios: usize, every: usize, cached_until: u64) -> Lookups {
        let mut stream = Stream::of(&self.job, &self.job.targets[0], &self.file).unwrap();
        stream.begin();
        let tally = LayerTally::default();
        let places = RefCell::default();
        let offsets = self.pass().into_iter().cycle().take(ios).enumerate();
        let chosen = offsets.filter(|(index, _)| *index == 0 || index % every == every / 2);
        for (index, offset) in chosen {
            let weight = if index == 0 { 1 } else { every as u64 };
            let io = Io {
                offset,
                len: self.job.pattern.bs.read.max as u32,
                ..Io::default()
            };
            let read = |place: u64| {
                let places: &RefCell<Vec<(u64, u64)>> = &places;
                places.borrow_mut().push((offset, place));
                let layer = if place < cached_until {
                    StorageLayer::PageCache
                } else {
                    StorageLayer::Device
                };
                LayerBytes::all(layer, u64::from(io.len))
            };
            stream.look_up(&io, weight, read, &tally);
        }
        stream.finish(Some(ios as u64), &tally);
        Lookups {
            places: places.into_inner(),
            counted: tally.ios.iter().map(|counter| counter.get()).sum(),
            on_device: tally.ios[StorageLayer::Device as usize].get(),
            samples: tally.samples.get(),
        }
    }

    /// Each place once.
    fn assert_each_once(&self, places: &[(u64, u64)], expected: &[u64]) {
        let mut times: BTreeMap<u64, u32> = BTreeMap::new();
        for (_, place) in places {
            *times.entry(*place).or_default() += 1;
        }
        let once: BTreeMap<u64, u32> = expected.iter().map(|place| (*place, 1)).collect();
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
        reader.assert_each_once(&found.places, &pass);
        assert_eq!(found.counted, pass.len() as u64, "{name}");
        assert_eq!(found.samples, pass.len() as u64, "{name}");
    }
}

/// A reader of a region of several readahead distances.
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
    let after_start = found.places.iter().filter(|(io, _)| *io > start);
    let nearest = after_start.map(|(io, place)| place - io).min();
    assert!(nearest.unwrap() >= readahead, "{nearest:?} of {readahead}");
    assert_eq!(found.counted, pass.len() as u64);
}

#[test]
fn direct_reads_and_random_reads_are_looked_up_in_place() {
    for fields in [
        json!({"rw": "randread"}),
        json!({"rw_modifier": -(8 * KIB as i64)}),
        json!({"fadvise_hint": "random"}),
    ] {
        let Some(reader) = Reader::new(fields, 0, 8 << 20) else {
            return;
        };
        assert!(Stream::of(&reader.job, &reader.job.targets[0], &reader.file).is_none());
    }
}

#[test]
fn small_regions_are_looked_up_at_the_start() {
    let Some(reader) = Reader::new(json!({}), 0, 64 * KIB) else {
        return;
    };
    let pass = reader.pass();
    let found = reader.run(pass.len(), 1, 0);
    reader.assert_each_once(&found.places, &pass);
    assert!(found.places.iter().all(|(io, _)| *io == 0));
    assert_eq!(found.counted, 16);
}

/// Three passes, of which a quarter is cached.
fn check_passes(name: &str, reader: &Reader) {
    let pass = reader.pass().len() as u64;
    let size = reader.job.targets[0].size;
    let found = reader.run(3 * pass as usize, 1, size / 4);
    // A few lookups count before the stream reaches them if the distance is very long.
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
fn later_passes_count_like_the_first_one() {
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
fn later_passes_count_in_regions_smaller_than_the_readahead() {
    let Some(reader) = Reader::new(json!({"loops": 3}), 0, 64 * KIB) else {
        return;
    };
    check_passes("64 KiB", &reader);
}

#[test]
fn places_that_the_stream_does_not_reach_do_not_count() {
    let runtime = json!({"runtime_ms": 1000});
    let Some(reader) = Reader::new(runtime, 0, 8 << 20) else {
        return;
    };
    for ios in [1, 10, 500, 1000] {
        // Everything after the last I/O is on the device.
        let found = reader.run(ios, 1, ios as u64 * 4 * KIB);
        assert_eq!((found.counted, found.on_device), (ios as u64, 0), "{ios}");
    }
}

/// Readahead reads whole pages: only the first block of a page needs the device.
fn check_small_blocks(bytes: u64, pages: u64) {
    let size = pages * 4096 / bytes * bytes;
    let Some(reader) = Reader::new(json!({"bs": blocks(bytes)}), 0, size) else {
        return;
    };
    let ios = reader.pass().len();
    let found = reader.run(ios, 1, 0);
    assert_eq!(found.counted, ios as u64, "{bytes}");
    // Exact unless the region is so long that several blocks share a lookup.
    let error = found.on_device.abs_diff(pages);
    assert!(
        error * 20 <= pages,
        "{bytes}: {} of {pages}",
        found.on_device
    );
}

#[test]
fn small_blocks_share_their_page() {
    for bytes in [512, 1024, 1536] {
        check_small_blocks(bytes, 256);
    }
}

/// With a long readahead, one lookup stands for several blocks at the start of a stream.
#[test]
fn small_blocks_share_their_page_also_at_a_long_start() {
    check_small_blocks(512, 2048);
}

#[test]
fn groups_of_a_stream_stand_for_all_its_ios() {
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

/// Pushes writes of this weight with increasing offsets.
fn kept(count: u64, weight: impl Fn(u64) -> u64, target: impl Fn(u64) -> u16) -> Vec<WriteSample> {
    let mut writes = WriteSamples::new(1);
    for offset in 0..count {
        writes.push(WriteSample {
            io: Io {
                offset,
                len: 4096,
                target: target(offset),
                kind: Kind::Write,
            },
            weight: weight(offset),
            syncs_before: 0,
            was_dirty: false,
        });
    }
    writes.into_samples()
}

fn weight_of(samples: &[WriteSample], is_counted: impl Fn(&Io) -> bool) -> f64 {
    let counted = samples.iter().filter(|sample| is_counted(&sample.io));
    counted.map(|sample| sample.weight as f64).sum()
}

#[test]
fn writes_keep_their_total_weight() {
    for count in [1, 100, 2048, 2049, 4096, 5000, 100_000, 1_000_003] {
        let samples = kept(count, |_| 3, |_| 0);
        assert!(samples.len() <= 2048, "{count}: {} kept", samples.len());
        assert!(samples.len() as u64 >= count.min(1024), "{count}");
        let total = weight_of(&samples, |_| true);
        let error = (total / (3 * count) as f64 - 1.0).abs();
        assert!(error <= 1.0 / 1024.0, "{count}: {error}");
    }
    let few = kept(2048, |offset| offset + 1, |_| 0);
    assert_eq!(weight_of(&few, |_| true), 2048.0 * 2049.0 / 2.0);
}

#[test]
fn writes_are_kept_from_the_whole_run() {
    // The weights grow, as they do when the writes become faster.
    let weight = |offset: u64| if offset < 50_000 { 1 } else { 10 };
    let samples = kept(100_000, weight, |_| 0);
    for (range, expected) in [(0..25_000, 25_000.0), (50_000..75_000, 250_000.0)] {
        let found = weight_of(&samples, |io| range.contains(&io.offset));
        assert!((found / expected - 1.0).abs() < 0.01, "{range:?}: {found}");
    }
}

/// Slow writes are all looked up, in turns on two files.
#[test]
fn writes_in_turns_are_kept_in_equal_parts() {
    let samples = kept(10_000, |_| 1, |offset| (offset % 2) as u16);
    let first = weight_of(&samples, |io| io.target == 0);
    assert!((4000.0..6000.0).contains(&first), "{first} of 10,000");
}
