//! Buffered writes that stay in memory, completely or in part.

use super::builders::*;
use crate::case::Case;
use serde_json::{Value, json};
use std::path::Path;

pub(super) const CASES: &[Case] = &[
    case("dirty_overwrites_on_ext4", |at| {
        overwrites(at, EXT4, json!({}))
    }),
    case("dirty_overwrites_on_xfs", |at| {
        overwrites(at, XFS, json!({}))
    }),
    case("dirty_overwrites_on_btrfs", |at| {
        on_btrfs(at, true, json!({}))
    }),
    case("dirty_sequential_overwrites_of_64_kib_on_xfs", |at| {
        overwrites(at, XFS, json!({"rw": "write", "bs": "64k"}))
    }),
    case("overwrites_before_a_flush_at_the_end", |at| {
        overwrites(at, EXT4, json!({"end_fsync": 1}))
    }),
    case("one_mebibyte_rewritten_for_a_second", |at| {
        overwrites(
            at,
            EXT4,
            json!({"size": "1m", "runtime": "1s", "time_based": 1}),
        )
    }),
    case("delayed_allocation_on_ext4", |at| {
        allocations(at, EXT4, "none")
    }),
    case("delayed_allocation_on_xfs", |at| {
        allocations(at, XFS, "none")
    }),
    case("delayed_allocation_on_btrfs", |at| {
        on_btrfs(at, false, json!({}))
    }),
    case("dirty_writes_to_unwritten_extents_on_ext4", |at| {
        allocations(at, EXT4, "native")
    }),
    case("dirty_writes_to_unwritten_extents_on_xfs", |at| {
        allocations(at, XFS, "native")
    }),
    case("writes_of_512_bytes_that_read_cold_pages", |at| {
        overwrites(at, EXT4, json!({"bs": "512", "size": "4m"}))
    }),
    case("writes_of_512_bytes_that_read_cold_pages_on_xfs", |at| {
        overwrites(at, XFS, json!({"bs": "512", "size": "4m"}))
    }),
    case("writes_of_1_kib_to_blocks_of_1_kib", |at| {
        overwrites(
            at,
            "mkfs.ext4 -q -b 1024 -E lazy_itable_init=0,lazy_journal_init=0",
            json!({"bs": "1k"}),
        )
    }),
    case(
        "partial_page_writes_read_the_disk_next_to_cached_reads",
        |at| {
            let volume = ext4(at)?;
            let warm = volume.cold_file("warm", SIZE);
            let locked = lock(&warm, SIZE);
            let reads = timed(
                &warm,
                "randread",
                json!({"invalidate": 0, "rate_iops": 3000}),
            );
            let cold = volume.cold_file("cold", SIZE);
            let writes = timed(&cold, "randwrite", json!({"bs": "512", "rate_iops": 3000}));
            situation(
                jobs(&[reads, writes]),
                vec![Box::new(locked), Box::new(volume)],
                vec![memory("read"), memory("write")],
            )
        },
    ),
    case(
        "partial_page_writes_read_the_disk_next_to_direct_reads",
        |at| {
            let volume = ext4(at)?;
            let reads = timed(
                &volume.cold_file("read", SIZE),
                "randread",
                json!({"direct": 1, "rate_iops": 1000}),
            );
            let writes = timed(
                &volume.cold_file("cold", SIZE),
                "randwrite",
                json!({"bs": "1k", "rate_iops": 3000}),
            );
            situation(
                jobs(&[reads, writes]),
                vec![Box::new(volume)],
                vec![device("read"), memory("write")],
            )
        },
    ),
    case("mixed_job_on_locked_pages", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let locked = lock(&path, SIZE);
        let job = timed(&path, "randrw", json!({"invalidate": 0}));
        situation(
            job,
            vec![Box::new(locked), Box::new(volume)],
            vec![memory("read"), memory("write")],
        )
    }),
    case("one_pass_of_a_mixed_job_over_cold_pages_on_ext4", |at| {
        cold_mix(at, EXT4)
    }),
    case("one_pass_of_a_mixed_job_over_cold_pages_on_xfs", |at| {
        cold_mix(at, XFS)
    }),
    case("one_pass_of_a_mixed_job_over_holes", |at| {
        let volume = ext4(at)?;
        let path = volume.at.join("f");
        sparse(&path, SIZE);
        let job = job(&path, "randrw", json!({}));
        situation(
            job,
            vec![Box::new(volume)],
            vec![zeros("read"), memory("write")],
        )
    }),
    case("writes_after_the_last_fsync_on_ext4", |at| {
        last_fsync(at, EXT4)
    }),
    case("writes_after_the_last_fsync_on_xfs", |at| {
        last_fsync(at, XFS)
    }),
    case("writes_after_the_last_fsync_on_btrfs", |at| {
        on_btrfs(at, true, json!({"fsync": 3000}))
    }),
    case("every_pass_but_the_last_followed_by_an_fsync", |at| {
        // As in fio, no sync follows the last write.
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let changes = json!({"size": "1m", "fsync": 256, "loops": 4});
        situation(
            job(&path, "randwrite", changes),
            vec![Box::new(volume)],
            vec![split("write", 0.25, 0.0, 0.75)],
        )
    }),
    case("synchronous_writes_o_sync", |at| {
        synchronous(at, json!({"sync": "sync"}))
    }),
    case("synchronous_writes_o_dsync", |at| {
        synchronous(at, json!({"sync": "dsync"}))
    }),
    case("fdatasync_after_each_write", |at| {
        synchronous(at, json!({"fdatasync": 1}))
    }),
    case("synchronous_writes_of_512_bytes_to_warm_pages", |at| {
        synchronous(
            at,
            json!({"bs": "512", "size": "1m", "sync": "dsync", "invalidate": 0}),
        )
    }),
    case("buffered_writes_on_a_synchronous_mount", |at| {
        let volume = volume(at, EXT4, "sync")?;
        let path = volume.cold_file("f", 4 * MIB);
        situation(
            job(&path, "randwrite", json!({"size": "4m"})),
            vec![Box::new(volume)],
            vec![device("write")],
        )
    }),
    case("few_writes_to_large_folios_on_xfs", |at| {
        large_folios(at, XFS, json!({"number_ios": 500}))
    }),
    case("few_writes_to_large_folios_on_ext4", |at| {
        large_folios(at, EXT4, json!({"number_ios": 500}))
    }),
    case("large_folios_partly_flushed_on_xfs", |at| {
        let (volume, path) = warmed_in_large_folios(at, XFS)?;
        let job = job(
            &path,
            "randwrite",
            json!({"size": "64m", "invalidate": 0, "number_ios": 500, "fsync": 400}),
        );
        situation(
            job,
            vec![Box::new(volume)],
            vec![split("write", 0.2, 0.0, 0.8)],
        )
    }),
    case("large_folios_partly_flushed_on_ext4", |at| {
        let (volume, path) = warmed_in_large_folios(at, EXT4)?;
        let job = job(
            &path,
            "randwrite",
            json!({"size": "64m", "invalidate": 0, "number_ios": 500, "fsync": 400}),
        );
        situation(
            job,
            vec![Box::new(volume)],
            vec![split("write", 0.2, 0.0, 0.8)],
        )
    }),
    case("appends_that_stay_dirty", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        situation(
            job(&path, "write", json!({"file_append": 1})),
            vec![Box::new(volume)],
            vec![memory("write")],
        )
    }),
    case("synchronous_appends", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", MIB);
        let job = job(
            &path,
            "write",
            json!({"file_append": 1, "size": "4m", "sync": "dsync"}),
        );
        situation(job, vec![Box::new(volume)], vec![device("write")])
    }),
];

fn overwrites(at: &Path, make: &str, changes: Value) -> Prepared {
    let volume = volume(at, make, "defaults")?;
    let path = volume.cold_file("f", SIZE);
    let job = job(&path, "randwrite", changes);
    situation(job, vec![Box::new(volume)], vec![memory("write")])
}

/// btrfs starts writeback early if it has little space for metadata.
fn on_btrfs(at: &Path, exists: bool, changes: Value) -> Prepared {
    let volume = volume(at, BTRFS, "defaults")?;
    let path = volume.at.join("f");
    if exists {
        volume.cold_file("f", SIZE);
    }
    let truth = still_dirty(path.clone());
    situation_with(
        job(&path, "randwrite", changes),
        vec![Box::new(volume)],
        truth,
    )
}

fn allocations(at: &Path, make: &str, fallocate: &str) -> Prepared {
    let volume = volume(at, make, "defaults")?;
    let job = job(
        &volume.at.join("f"),
        "randwrite",
        json!({"fallocate": fallocate}),
    );
    situation(job, vec![Box::new(volume)], vec![memory("write")])
}

fn cold_mix(at: &Path, make: &str) -> Prepared {
    let volume = volume(at, make, "defaults")?;
    let path = volume.cold_file("f", SIZE);
    let truths = vec![device("read"), memory("write")];
    situation(
        job(&path, "randrw", json!({})),
        vec![Box::new(volume)],
        truths,
    )
}

/// An fsync flushes the first 3,000 of 4,096 writes.
fn last_fsync(at: &Path, make: &str) -> Prepared {
    let volume = volume(at, make, "defaults")?;
    let path = volume.cold_file("f", SIZE);
    let flushed = 3000.0 / 4096.0;
    let truth = split("write", 1.0 - flushed, 0.0, flushed);
    situation(
        job(&path, "randwrite", json!({"fsync": 3000})),
        vec![Box::new(volume)],
        vec![truth],
    )
}

fn synchronous(at: &Path, changes: Value) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", SIZE);
    let locked = lock(&path, MIB);
    situation(
        job(&path, "randwrite", changes),
        vec![Box::new(locked), Box::new(volume)],
        vec![device("write")],
    )
}

fn warmed_in_large_folios(at: &Path, make: &str) -> Result<(Volume, std::path::PathBuf), String> {
    let volume = volume(at, make, "defaults")?;
    let path = volume.cold_file("f", 64 * MIB);
    read_with_readahead(&path);
    Ok((volume, path))
}

/// cachestat(2) reports a whole folio as dirty if one of its pages is.
fn large_folios(at: &Path, make: &str, changes: Value) -> Prepared {
    let (volume, path) = warmed_in_large_folios(at, make)?;
    let job = job(&path, "randwrite", json!({"size": "64m", "invalidate": 0}));
    situation(
        crate::scratch::program::with(&job, changes),
        vec![Box::new(volume)],
        vec![memory("write")],
    )
}
