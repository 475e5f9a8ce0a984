//! Filesystem blocks smaller than a page: some blocks of a cached page may never have been read.

use crate::{
    case::{Case, Expected, Truth},
    scratch::program::with,
    writes::builders::*,
};
use serde_json::{Value, json};
use std::{os::unix::fs::FileExt, path::Path};

const EXT4_1K: &str = "mkfs.ext4 -q -b 1024 -E lazy_itable_init=0,lazy_journal_init=0";
const XFS_1K: &str = "mkfs.xfs -q -b size=1024";

/// Writes the first KiB of each page, which caches the page without its other blocks.
fn begin_pages(path: &Path) {
    let file = open(path);
    for page in 0..SIZE / 4096 {
        file.write_all_at(&[7; 1024], page * 4096).unwrap();
    }
    file.sync_all().unwrap();
}

/// Reads of partly cached pages. `truth` returns the expected shares for a device.
fn partly_cached(at: &Path, make: &str, changes: Value, truth: fn(String) -> Expected) -> Prepared {
    let volume = volume(at, make, "defaults")?;
    let path = volume.cold_file("f", SIZE);
    begin_pages(&path);
    let plain = json!({"bs": "1k", "invalidate": 0, "fadvise_hint": "random"});
    let job = job(&path, "randread", with(&plain, changes));
    let truth = truth(volume.device.0.clone());
    situation_with(job, vec![Box::new(volume)], truth)
}

/// The same file after its pages have been read completely.
fn warm(at: &Path, make: &str, block: &str) -> Prepared {
    let volume = volume(at, make, "defaults")?;
    let path = volume.cold_file("f", SIZE);
    begin_pages(&path);
    read_with_readahead(&path);
    let changes = json!({"bs": block, "invalidate": 0, "fadvise_hint": "random"});
    let job = job(&path, "randread", changes);
    situation(job, vec![Box::new(volume)], vec![memory("read")])
}

/// All reads reach the device. Each needs more than one request.
fn all(_device: String) -> Expected {
    Box::new(|_| vec![device("read")])
}

/// A read of a page with two separate missing parts needs two requests.
fn one_or_two_requests(device: String) -> Expected {
    let before = reads_of(&device);
    Box::new(move |result| {
        let max = (reads_of(&device) - before) as f64 / ios(result, "read");
        vec![Truth {
            direction: "read",
            memory: 1.0 - max..=1.0 - max / 2.0,
            zeros: 0.0..=0.0,
            device: max / 2.0..=max,
        }]
    })
}

pub(super) const CASES: &[Case] = &[
    case("reads_of_partly_cached_pages_on_xfs", |at| {
        partly_cached(at, XFS_1K, json!({}), counted_reads)
    }),
    case("reads_of_partly_cached_pages_on_ext4", |at| {
        partly_cached(at, EXT4_1K, json!({}), |device| {
            counted_transfers(device, 3072)
        })
    }),
    case("reads_of_half_blocks_of_partly_cached_pages", |at| {
        partly_cached(at, XFS_1K, json!({"bs": 512}), counted_reads)
    }),
    case("reads_of_whole_partly_cached_pages", |at| {
        partly_cached(at, XFS_1K, json!({"bs": "4k"}), all)
    }),
    case("reads_of_several_partly_cached_pages", |at| {
        partly_cached(at, EXT4_1K, json!({"bs": "32k"}), all)
    }),
    case("large_reads_of_partly_cached_pages", |at| {
        partly_cached(at, XFS_1K, json!({"bs": "1m"}), all)
    }),
    case("reads_of_partly_cached_pages_with_readahead", |at| {
        let changes = json!({"fadvise_hint": 1});
        partly_cached(at, XFS_1K, changes, counted_reads)
    }),
    case("sequential_reads_of_partly_cached_pages", |at| {
        partly_cached(
            at,
            XFS_1K,
            json!({"rw": "read", "fadvise_hint": 1}),
            counted_reads,
        )
    }),
    case(
        "sequential_reads_of_partly_cached_pages_without_readahead",
        |at| partly_cached(at, XFS_1K, json!({"rw": "read"}), counted_reads),
    ),
    case("reads_next_to_writes_of_parts_of_pages", |at| {
        let volume = volume(at, XFS_1K, "defaults")?;
        let path = volume.cold_file("f", SIZE);
        let changes = json!({"bs": "1k", "fadvise_hint": "random"});
        let job = job(&path, "randrw", changes);
        let truth = one_or_two_requests(volume.device.0.clone());
        situation_with(job, vec![Box::new(volume)], truth)
    }),
    case("cold_reads_of_parts_of_pages", |at| {
        let volume = volume(at, EXT4_1K, "defaults")?;
        let path = volume.cold_file("f", SIZE);
        let changes = json!({"bs": "1k", "fadvise_hint": "random"});
        let job = job(&path, "randread", changes);
        let truth = counted_reads(volume.device.0.clone());
        situation_with(job, vec![Box::new(volume)], truth)
    }),
    case("cached_pages_of_small_blocks", |at| warm(at, XFS_1K, "1k")),
    case("cached_pages_of_small_blocks_in_large_reads", |at| {
        warm(at, EXT4_1K, "1m")
    }),
    // The page cache of a loop device's backing file contains partly cached pages.
    case("partly_cached_pages_below_a_loop_device", |at| {
        let volume = volume(at, XFS_1K, "defaults")?;
        let image = volume.cold_file("image", SIZE);
        begin_pages(&image);
        let upper = attach(&image, CACHED)?;
        let changes = json!({"bs": "1k", "direct": 1});
        let job = job(Path::new(&upper.0), "randread", changes);
        let truth = counted_reads(volume.device.0.clone());
        situation_with(job, vec![Box::new(upper), Box::new(volume)], truth)
    }),
];
