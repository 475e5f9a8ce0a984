//! Unequal workers, phases, and very few or very many reads.

use super::{KIB, lock_stripes};
use crate::{
    case::Case,
    reads::setup::{self, Layer::*, Prepared, by_job, exactly},
    scratch::program::with,
    writes::builders::*,
};
use serde_json::{Value, json};
use std::{
    any::Any,
    path::{Path, PathBuf},
    time::Duration,
};

/// One second of reads. They do not trigger readahead, and pages that are already cached are kept.
fn second(path: &Path, changes: Value) -> Value {
    let plain = json!({"invalidate": 0, "fadvise_hint": "random", "size": null});
    let mut job = timed(path, "randread", with(&plain, changes));
    job.as_object_mut()
        .unwrap()
        .retain(|_, value| !value.is_null());
    job
}

/// One pass of reads. They do not trigger readahead, and pages that are already cached are kept.
fn pass(path: &Path, bytes: u64, changes: Value) -> Value {
    let plain = json!({"invalidate": 0, "fadvise_hint": "random", "size": bytes});
    job(path, "read", with(&plain, changes))
}

/// A cached and a cold file, and the locked pages of the cached one.
type Pair = (Volume, [PathBuf; 2], Box<dyn Any>);

/// A warm and a cold file on a private disk.
fn pair(at: &Path, warm: u64, cold: u64) -> Result<Pair, String> {
    let volume = ext4(at)?;
    let files = [
        volume.cold_file("warm", warm),
        volume.cold_file("cold", cold),
    ];
    let locked = Box::new(lock(&files[0], warm));
    Ok((volume, files, locked))
}

/// Two jobs in parallel: the first one reads cached pages, the second one reads from the device.
fn cached_and_direct(at: &Path, cached: Value, direct: Value) -> Prepared {
    let (volume, [warm, cold], locked) = pair(at, SIZE, SIZE)?;
    let job = jobs(&[
        second(&warm, cached),
        second(&cold, with(&json!({"direct": 1}), direct)),
    ]);
    situation_with(
        job,
        vec![locked, Box::new(volume)],
        by_job(&[Memory, Device]),
    )
}

/// One pass over a file, of which `bytes` are cached, starting at `offset`.
fn partly_cached(at: &Path, size: u64, offset: u64, bytes: u64, changes: Value) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", size);
    let locked = setup::lock(&path, offset, bytes);
    let share = bytes as f64 / size as f64;
    let job = pass(&path, size, changes);
    situation_with(
        job,
        vec![Box::new(locked), Box::new(volume)],
        exactly(share, 0.0, 1.0 - share),
    )
}

/// The first `count` reads of a cold file whose first `cached` pages are in memory.
fn few(at: &Path, count: u64, cached: u64, changes: Value) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", SIZE);
    let locked = (cached > 0).then(|| lock(&path, cached * 4096));
    let share = cached as f64 / count as f64;
    let job = pass(&path, SIZE, with(&json!({"number_ios": count}), changes));
    situation_with(
        job,
        vec![Box::new(locked), Box::new(volume)],
        exactly(share, 0.0, 1.0 - share),
    )
}

/// Cached reads of a large file while another program repeatedly evicts a range of pages.
fn few_misses(at: &Path, range: u64, interval: u64, changes: Value) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", 64 * MIB);
    let locked = setup::lock(&path, range, 64 * MIB - range);
    read_with_readahead(&path);
    let truth = counted_reads(volume.device.0.clone());
    let job = second(&path, changes);
    let neighbor = Neighbor::every(Duration::from_millis(interval), move |_| {
        setup::evict(&path)
    });
    situation_with(
        job,
        vec![Box::new(neighbor), Box::new(locked), Box::new(volume)],
        truth,
    )
}

pub(super) const CASES: &[Case] = &[
    // Unequal workers
    case(
        "fifty_direct_reads_next_to_a_second_of_cached_reads",
        |at| cached_and_direct(at, json!({}), json!({"rate_iops": 50})),
    ),
    case("a_fast_cached_job_next_to_a_fast_direct_job", |at| {
        cached_and_direct(at, json!({}), json!({"iodepth": 8}))
    }),
    case("ten_cached_reads_next_to_a_second_of_direct_reads", |at| {
        cached_and_direct(at, json!({"number_ios": 10}), json!({}))
    }),
    case(
        "three_direct_reads_next_to_a_second_of_slow_cached_reads",
        |at| cached_and_direct(at, json!({"rate_iops": 30}), json!({"number_ios": 3})),
    ),
    case(
        "a_cached_job_that_ends_before_the_direct_job_starts",
        |at| {
            cached_and_direct(
                at,
                json!({"number_ios": 3000, "time_based": null, "runtime": null}),
                json!({"startdelay": "300ms", "rate_iops": 3000}),
            )
        },
    ),
    case(
        "a_direct_job_that_ends_before_the_cached_job_starts",
        |at| {
            cached_and_direct(
                at,
                json!({"startdelay": "500ms"}),
                json!({"number_ios": 500, "time_based": null, "runtime": null}),
            )
        },
    ),
    case("a_cached_job_with_pauses_next_to_a_direct_job", |at| {
        cached_and_direct(
            at,
            json!({"thinktime": 50_000, "thinktime_blocks": 200}),
            json!({"rate_iops": 2000, "rate_process": "poisson"}),
        )
    }),
    case("cached_bursts_at_the_start_and_direct_bursts_later", |at| {
        cached_and_direct(
            at,
            json!({"thinktime": 900_000, "thinktime_blocks": 4000}),
            json!({"thinktime": 100_000, "thinktime_blocks": 300, "startdelay": "100ms"}),
        )
    }),
    case("four_workers_one_fast_on_cached_pages", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", 128 * MIB);
        let locked = setup::lock(&path, 96 * MIB, 32 * MIB);
        let truth = counted_reads(volume.device.0.clone());
        let job = second(
            &path,
            json!({"numjobs": 4, "size": "32m", "offset_increment": "32m"}),
        );
        situation_with(job, vec![Box::new(locked), Box::new(volume)], truth)
    }),
    case("eight_workers_with_ten_reads_each_one_cold", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let locked = lock(&path, 14 * MIB);
        let changes =
            json!({"numjobs": 8, "size": "2m", "offset_increment": "2m", "number_ios": 10});
        let job = pass(&path, 2 * MIB, changes);
        situation_with(
            job,
            vec![Box::new(locked), Box::new(volume)],
            exactly(0.875, 0.0, 0.125),
        )
    }),
    case(
        "jobs_on_a_hole_a_cached_file_and_the_device_at_different_speeds",
        |at| {
            let (volume, [warm, cold], locked) = pair(at, SIZE, SIZE)?;
            let hole = volume.at.join("hole");
            sparse(&hole, SIZE);
            let job = jobs(&[
                second(&warm, json!({"bs": "64k"})),
                second(&cold, json!({"direct": 1})),
                second(&hole, json!({"direct": 1, "bs": "1m", "rate_iops": 200})),
            ]);
            situation_with(
                job,
                vec![locked, Box::new(volume)],
                by_job(&[Memory, Device, Zeros]),
            )
        },
    ),
    case(
        "large_cached_reads_next_to_small_direct_reads_for_a_second",
        |at| cached_and_direct(at, json!({"bs": "64k"}), json!({})),
    ),
    case("huge_cached_reads_next_to_tiny_direct_reads", |at| {
        cached_and_direct(at, json!({"bs": "1m"}), json!({"bs": "512"}))
    }),
    case(
        "small_cached_reads_next_to_large_direct_reads_for_a_second",
        |at| cached_and_direct(at, json!({"rate_iops": 5000}), json!({"bs": "256k"})),
    ),
    case("large_cached_reads_next_to_small_cold_reads", |at| {
        let (volume, [warm, cold], locked) = pair(at, SIZE, 64 * MIB)?;
        let truth = counted_reads(volume.device.0.clone());
        let job = jobs(&[
            second(&warm, json!({"bs": "64k"})),
            second(&cold, json!({"size": "64m", "iodepth": 4})),
        ]);
        situation_with(job, vec![locked, Box::new(volume)], truth)
    }),
    // Phases
    case("a_cached_phase_shorter_than_the_sample_interval", |at| {
        partly_cached(at, 64 * MIB, 0, 60 * MIB, json!({}))
    }),
    case("a_cold_phase_before_a_cached_phase", |at| {
        partly_cached(at, 64 * MIB, 4 * MIB, 60 * MIB, json!({}))
    }),
    case(
        "a_short_cached_phase_before_a_cold_phase_at_depth_32",
        |at| partly_cached(at, 32 * MIB, 0, 2 * MIB, json!({"iodepth": 32})),
    ),
    case("a_cached_phase_in_the_middle_of_a_cold_file", |at| {
        partly_cached(
            at,
            32 * MIB,
            8 * MIB,
            16 * MIB,
            json!({"startdelay": "150ms"}),
        )
    }),
    case("phases_that_alternate_every_mebibyte", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", 32 * MIB);
        let locked = lock_stripes(&path, 32 * MIB, 2 * MIB, MIB);
        situation_with(
            pass(&path, 32 * MIB, json!({})),
            vec![locked, Box::new(volume)],
            exactly(0.5, 0.0, 0.5),
        )
    }),
    case("phases_that_alternate_every_three_pages", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", 24 * MIB);
        let locked = lock_stripes(&path, 24 * MIB, 24 * KIB, 12 * KIB);
        situation_with(
            pass(&path, 24 * MIB, json!({})),
            vec![locked, Box::new(volume)],
            exactly(0.5, 0.0, 0.5),
        )
    }),
    case("a_ramp_that_covers_the_cached_phase", |at| {
        after_ramp(at, 490)
    }),
    case("a_ramp_that_ends_in_the_middle_of_the_cached_phase", |at| {
        after_ramp(at, 750)
    }),
    case("a_ramp_that_covers_the_cold_phase", |at| {
        // Slow enough for a busy host to keep up.
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let locked = setup::lock(&path, 450 * 4096, SIZE - 450 * 4096);
        situation(
            pass(&path, SIZE, ramp()),
            vec![Box::new(locked), Box::new(volume)],
            vec![memory("read")],
        )
    }),
    case("a_cold_pass_before_millions_of_cached_reads", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", MIB);
        let truth = counted_reads(volume.device.0.clone());
        let job = second(&path, json!({"size": MIB}));
        situation_with(job, vec![Box::new(volume)], truth)
    }),
    // Few reads
    case("one_cold_read", |at| few(at, 1, 0, json!({}))),
    case("one_cached_read", |at| few(at, 1, 1, json!({}))),
    case("one_direct_read_of_a_cached_page", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let locked = lock(&path, SIZE);
        let job = pass(&path, SIZE, json!({"direct": 1, "number_ios": 1}));
        situation_with(
            job,
            vec![Box::new(locked), Box::new(volume)],
            exactly(0.0, 0.0, 1.0),
        )
    }),
    case("ten_reads_three_cached", |at| few(at, 10, 3, json!({}))),
    case("fifty_reads_half_cached_at_depth_16", |at| {
        few(at, 50, 25, json!({"iodepth": 16}))
    }),
    case("five_hundred_reads_the_last_ten_cold", |at| {
        few(at, 500, 490, json!({}))
    }),
    case("five_hundred_reads_the_first_ten_cached", |at| {
        few(at, 500, 10, json!({}))
    }),
    case("one_slow_read_of_a_hole_among_twenty_reads", |at| {
        let volume = ext4(at)?;
        let path = volume.at.join("f");
        std::fs::write(&path, vec![7; 19 * 4096]).unwrap();
        drop_pages(&path);
        open(&path).set_len(20 * 4096).unwrap();
        let job = pass(&path, 20 * 4096, json!({"direct": 1, "rate_iops": 40}));
        situation_with(job, vec![Box::new(volume)], exactly(0.0, 0.05, 0.95))
    }),
    // Very many reads with few misses
    case("millions_of_cached_reads_with_rare_misses", |at| {
        few_misses(at, MIB, 100, json!({}))
    }),
    case("millions_of_cached_reads_with_frequent_misses", |at| {
        few_misses(at, 2 * MIB, 3, json!({}))
    }),
    case("cached_reads_by_two_workers_with_misses_in_bursts", |at| {
        few_misses(at, 8 * MIB, 150, json!({"numjobs": 2, "norandommap": 1}))
    }),
    case("a_hot_zone_that_is_evicted_repeatedly", |at| {
        let zones = json!({"random_distribution": "zoned:60/2:40/98", "norandommap": 1});
        few_misses(at, MIB, 5, zones)
    }),
    case("zipf_reads_with_half_evicted", |at| {
        let zipf = json!({"random_distribution": "zipf:1.1", "norandommap": 1});
        few_misses(at, 32 * MIB, 20, zipf)
    }),
    case("sequential_loops_with_an_evicted_head", |at| {
        few_misses(at, 2 * MIB, 20, json!({"rw": "read"}))
    }),
    // Rates and mixed sizes
    case("fifty_reads_per_second_of_a_half_cached_file", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let locked = lock(&path, SIZE / 2);
        let truth = counted_reads(volume.device.0.clone());
        let job = second(&path, json!({"rate_iops": 50, "runtime": "2s"}));
        situation_with(job, vec![Box::new(locked), Box::new(volume)], truth)
    }),
    case("bursts_of_ten_reads_with_pauses", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let locked = lock_stripes(&path, SIZE, 40 * KIB, 4 * KIB);
        let changes = json!({"thinktime": 20_000, "thinktime_blocks": 10, "number_ios": 500});
        situation_with(
            pass(&path, SIZE, changes),
            vec![locked, Box::new(volume)],
            exactly(0.1, 0.0, 0.9),
        )
    }),
    case("small_blocks_hit_and_large_blocks_miss", |at| {
        split_sizes(at, "4k/50:64k/50")
    }),
    case("many_small_blocks_hit_and_few_large_blocks_miss", |at| {
        split_sizes(at, "4k/95:64k/5")
    }),
    case("mixed_job_with_one_percent_writes", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", 32 * MIB);
        let locked = lock(&path, 8 * MIB);
        let truth = counted_reads(volume.device.0.clone());
        let job = second(
            &path,
            json!({"rw": "randrw", "rwmixread": 99, "rate_iops": "3000,30"}),
        );
        situation_with(job, vec![Box::new(locked), Box::new(volume)], truth)
    }),
    case("half_random_and_half_sequential_reads", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", 64 * MIB);
        let locked = lock(&path, 16 * MIB);
        let truth = counted_reads(volume.device.0.clone());
        let job = second(&path, json!({"percentage_random": 50, "norandommap": 1}));
        situation_with(job, vec![Box::new(locked), Box::new(volume)], truth)
    }),
];

fn ramp() -> Value {
    json!({"ramp_time": "1s", "rate_iops": 500, "runtime": "1s", "time_based": 1})
}

/// Sequential reads of a file whose first pages are cached. The window ends with the last cold
/// read, so it contains all cold reads.
fn after_ramp(at: &Path, cached: u64) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", SIZE);
    let locked = lock(&path, cached * 4096);
    let device = volume.device.0.clone();
    let before = reads_of(&device);
    situation_with(
        pass(&path, SIZE, ramp()),
        vec![Box::new(locked), Box::new(volume)],
        Box::new(move |result| {
            let share = ((reads_of(&device) - before) as f64 / ios(result, "read")).min(1.0);
            vec![split("read", 1.0 - share, 0.0, share)]
        }),
    )
}

/// One page in 16 is not cached, so each 64 KiB read needs the device unless that page was read
/// before. The number of reads is so small that few pages are read twice.
fn split_sizes(at: &Path, sizes: &str) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", 256 * MIB);
    let locked: Vec<_> = (0..256 * MIB / (64 * KIB))
        .map(|index| setup::lock(&path, index * 64 * KIB, 60 * KIB))
        .collect();
    let truth = counted_reads(volume.device.0.clone());
    let changes = json!({"bssplit": sizes, "norandommap": 1, "number_ios": 3000, "bs": null});
    let job = second(&path, changes);
    situation_with(job, vec![Box::new(locked), Box::new(volume)], truth)
}
