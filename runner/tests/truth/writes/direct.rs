//! Direct I/O that bypasses the page cache, and direct I/O that the filesystem silently buffers.

use super::builders::*;
use crate::{case::Case, scratch::run};
use serde_json::{Value, json};
use std::path::Path;

pub(super) const CASES: &[Case] = &[
    case("direct_overwrites_on_ext4", |at| {
        writes(at, EXT4, "defaults", json!({}))
    }),
    case("direct_overwrites_on_xfs", |at| {
        writes(at, XFS, "defaults", json!({}))
    }),
    case("direct_writes_with_checksums_on_btrfs", |at| {
        writes(at, BTRFS, "defaults", json!({}))
    }),
    case("direct_writes_without_checksums_on_btrfs", |at| {
        writes(at, BTRFS, "nodatasum", json!({}))
    }),
    case("direct_writes_of_512_bytes_on_ext4", |at| {
        writes(at, EXT4, "defaults", json!({"bs": "512", "size": "2m"}))
    }),
    case("direct_writes_of_512_bytes_on_btrfs", |at| {
        writes(at, BTRFS, "defaults", json!({"bs": "512", "size": "1m"}))
    }),
    case("direct_writes_of_zeros_compressed_by_btrfs", |at| {
        writes(
            at,
            BTRFS,
            "compress-force=zstd",
            json!({"bs": "128k", "zero_buffers": 1}),
        )
    }),
    case("direct_writes_to_holes_on_ext4", |at| {
        into_holes(at, EXT4, "none")
    }),
    case("direct_writes_to_holes_on_xfs", |at| {
        into_holes(at, XFS, "none")
    }),
    case("direct_writes_to_unwritten_extents_on_ext4", |at| {
        into_holes(at, EXT4, "native")
    }),
    case("direct_writes_to_unwritten_extents_on_xfs", |at| {
        into_holes(at, XFS, "native")
    }),
    case("direct_appends", |at| {
        writes(
            at,
            EXT4,
            "defaults",
            json!({"rw": "write", "file_append": 1, "size": "4m"}),
        )
    }),
    case("direct_mixed_job_over_holes", |at| direct_mix(at, false)),
    case("direct_mixed_job_over_unwritten_extents", |at| {
        direct_mix(at, true)
    }),
    case("direct_writes_over_dirty_pages", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        dirty(&path, 0, SIZE);
        let job = job(&path, "randwrite", json!({"direct": 1, "invalidate": 0}));
        situation(job, vec![Box::new(volume)], vec![device("write")])
    }),
    case("direct_reads_that_flush_dirty_pages", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        dirty(&path, 0, SIZE);
        let job = job(&path, "randread", json!({"direct": 1, "invalidate": 0}));
        situation(job, vec![Box::new(volume)], vec![device("read")])
    }),
    case("direct_reads_of_delayed_allocation_and_holes", |at| {
        half_dirty_holes(at, 1, split("read", 0.0, 0.5, 0.5))
    }),
    case("buffered_reads_of_delayed_allocation_and_holes", |at| {
        half_dirty_holes(at, 0, split("read", 0.5, 0.5, 0.0))
    }),
    case("direct_reads_of_compressed_extents_on_btrfs", |at| {
        let volume = volume(at, BTRFS, "compress-force=zstd")?;
        let path = volume.cold_file("f", SIZE);
        let truth = counted_reads(volume.device.0.clone());
        // btrfs reads each 128 KiB extent once, and its other pages stay in the page cache.
        let job = timed(&path, "randread", json!({"direct": 1}));
        situation_with(job, vec![Box::new(volume)], truth)
    }),
    case("direct_reads_of_512_bytes_cached_by_btrfs", |at| {
        let volume = volume(at, BTRFS, "defaults")?;
        let path = volume.cold_file("f", SIZE);
        let locked = lock(&path, SIZE);
        let job = timed(
            &path,
            "randread",
            json!({"direct": 1, "bs": "512", "invalidate": 0}),
        );
        situation(
            job,
            vec![Box::new(locked), Box::new(volume)],
            vec![memory("read")],
        )
    }),
    case("direct_reads_of_cached_pages_on_ext4", |at| {
        cached_direct_reads(at, EXT4)
    }),
    case("direct_reads_of_cached_pages_on_btrfs", |at| {
        cached_direct_reads(at, BTRFS)
    }),
];

fn writes(at: &Path, make: &str, mount: &str, changes: Value) -> Prepared {
    let volume = volume(at, make, mount)?;
    let path = volume.cold_file("f", SIZE);
    let direct = crate::scratch::program::with(&json!({"direct": 1}), changes);
    situation(
        job(&path, "randwrite", direct),
        vec![Box::new(volume)],
        vec![device("write")],
    )
}

fn into_holes(at: &Path, make: &str, fallocate: &str) -> Prepared {
    let volume = volume(at, make, "defaults")?;
    let job = job(
        &volume.at.join("f"),
        "randwrite",
        json!({"direct": 1, "fallocate": fallocate}),
    );
    situation(job, vec![Box::new(volume)], vec![device("write")])
}

/// Each block is either read or written, and only once, so no read gets data that the job wrote.
fn direct_mix(at: &Path, is_allocated: bool) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.at.join("f");
    sparse(&path, SIZE);
    if is_allocated {
        run("fallocate", &["-l", "16M", path.to_str().unwrap()])?;
    }
    let job = job(&path, "randrw", json!({"direct": 1}));
    situation(
        job,
        vec![Box::new(volume)],
        vec![zeros("read"), device("write")],
    )
}

/// The first half is dirty. FIEMAP reports it as delayed allocation, or not at all.
fn half_dirty_holes(at: &Path, direct: u64, truth: crate::case::Truth) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.at.join("f");
    sparse(&path, SIZE);
    dirty(&path, 0, SIZE / 2);
    let locked = lock(&path, SIZE / 2);
    let job = job(
        &path,
        "randread",
        json!({"direct": direct, "invalidate": 0}),
    );
    situation(job, vec![Box::new(locked), Box::new(volume)], vec![truth])
}

/// Direct reads do not use clean cached pages.
fn cached_direct_reads(at: &Path, make: &str) -> Prepared {
    let volume = volume(at, make, "defaults")?;
    let path = volume.cold_file("f", SIZE);
    let locked = lock(&path, SIZE);
    let job = job(&path, "randread", json!({"direct": 1, "invalidate": 0}));
    situation(
        job,
        vec![Box::new(locked), Box::new(volume)],
        vec![device("read")],
    )
}
