//! Other programs that race with the job's reads.

use super::{KIB, OwnReads, counted_holes};
use crate::{
    case::Case,
    reads::setup::{self, Layer::*, Prepared, by_job},
    scratch::{program::with, run},
    writes::builders::*,
};
use serde_json::{Value, json};
use std::{
    fs::File,
    os::{fd::AsRawFd, unix::fs::FileExt},
    path::Path,
    thread::sleep,
    time::Duration,
};

/// One pass of reads. They do not trigger readahead, and pages that are already cached are kept.
fn pass(path: &Path, rw: &str, changes: Value) -> Value {
    let plain = json!({"invalidate": 0, "fadvise_hint": "random"});
    job(path, rw, with(&plain, changes))
}

fn will_need(file: &File, offset: u64, bytes: u64) {
    // SAFETY: the call takes no pointers.
    let result = unsafe {
        libc::posix_fadvise(
            file.as_raw_fd(),
            offset as i64,
            bytes as i64,
            libc::POSIX_FADV_WILLNEED,
        )
    };
    assert_eq!(result, 0);
}

/// Rate-limited reads while a neighbor reads pages into memory. The truth is the kernel's count of
/// the job's own reads.
fn fetched(at: &Path, job: fn(&Path) -> Value, neighbor: fn(&File, u64)) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", SIZE);
    let file = open(&path);
    let neighbor = Neighbor::every(Duration::from_millis(10), move |round| {
        neighbor(&file, round)
    });
    let own = OwnReads::new();
    own.situation(
        job(&path),
        vec![Box::new(neighbor), Box::new(volume)],
        || {},
    )
}

/// The neighbor changes the file while the job reads it. The truth is the device's read counter.
fn changed(
    at: &Path,
    cached: bool,
    job: fn(&Path) -> Value,
    interval: u64,
    mut neighbor: impl FnMut(&Path, &File, u64) + Send + 'static,
) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", SIZE);
    if cached {
        read_with_readahead(&path);
    }
    let file = open(&path);
    let truth = counted_reads(volume.device.0.clone());
    let job = job(&path);
    let neighbor = Neighbor::every(Duration::from_millis(interval), move |round| {
        neighbor(&path, &file, round);
    });
    situation_with(job, vec![Box::new(neighbor), Box::new(volume)], truth)
}

const RANDOM: fn(&Path) -> Value = |path| pass(path, "randread", json!({"rate_iops": 3000}));
const SEQUENTIAL: fn(&Path) -> Value = |path| pass(path, "read", json!({"rate_iops": 3000}));

pub(super) const CASES: &[Case] = &[
    case("a_neighbor_prefetches_random_pages_of_a_cold_file", |at| {
        fetched(at, RANDOM, |file, round| {
            will_need(file, round * 7919 % 256 * 64 * KIB, 64 * KIB);
        })
    }),
    case("a_neighbor_reads_ahead_of_sequential_reads", |at| {
        fetched(at, SEQUENTIAL, |file, round| {
            will_need(file, round * 256 * KIB % SIZE, 256 * KIB);
        })
    }),
    case(
        "a_neighbor_reads_some_pages_ahead_of_sequential_reads",
        |at| {
            fetched(at, SEQUENTIAL, |file, round| {
                for block in 0..8 {
                    will_need(file, (round * 8 + block) * 64 * KIB % SIZE, 16 * KIB);
                }
            })
        },
    ),
    case("a_neighbors_mapping_loads_single_pages", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let mapped = path.clone();
        let neighbor = Neighbor::every(Duration::from_millis(1), move |round| {
            let page = round * 1_000_003 % 4096;
            drop(setup::lock(&mapped, page * 4096, 4096));
        });
        let job = RANDOM(&path);
        let own = OwnReads::new();
        own.situation(job, vec![Box::new(neighbor), Box::new(volume)], || {})
    }),
    case("a_whole_file_prefetched_after_a_quarter_was_read", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let job = SEQUENTIAL(&path);
        let own = OwnReads::new();
        own.situation(job, vec![Box::new(volume)], move || {
            wait_until(|| pages(&path, 0, SIZE).cached > 1024);
            will_need(&open(&path), 0, SIZE);
        })
    }),
    case(
        "a_warm_file_evicted_in_the_last_tenth_of_fast_reads",
        |at| evicted_late(at, 900),
    ),
    case(
        "a_warm_file_evicted_in_the_first_tenth_of_fast_reads",
        |at| evicted_late(at, 100),
    ),
    case("pages_evicted_behind_sequential_loops", |at| {
        changed(
            at,
            true,
            |path| {
                pass(
                    path,
                    "read",
                    json!({"size": "1m", "runtime": "1s", "time_based": 1}),
                )
            },
            50,
            |path, _, _| setup::evict(path),
        )
    }),
    case("three_loops_with_an_eviction_after_the_first", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let truth = counted_reads(volume.device.0.clone());
        let pauses = json!({"loops": 3, "thinktime": 300_000, "thinktime_blocks": 4096});
        let job = pass(&path, "read", pauses);
        let prepared = situation_with(job, vec![Box::new(volume)], truth);
        during(prepared, move || {
            wait_until(|| pages(&path, 0, SIZE).cached >= 4096);
            sleep(Duration::from_millis(50));
            setup::evict(&path);
        })
    }),
    case("a_neighbors_buffered_writes_ahead_of_cold_reads", |at| {
        changed(at, false, RANDOM, 2, |_, file, round| {
            let page = round * 1_000_003 % 512;
            file.write_all_at(&[9; 8 * 4096], page * 8 * 4096).unwrap();
        })
    }),
    case("a_neighbors_direct_writes_invalidate_cached_pages", |at| {
        changed(
            at,
            true,
            |path| {
                pass(
                    path,
                    "randread",
                    json!({"rate_iops": 3000, "norandommap": 1}),
                )
            },
            20,
            |path, _, round| {
                let output = format!("of={}", path.display());
                let seek = format!("seek={}", round * 7919 % 64);
                let words = [
                    "if=/dev/zero",
                    &output,
                    "bs=256k",
                    "count=1",
                    "conv=notrunc",
                ];
                run("dd", &[&words[..], &[&seek, "oflag=direct"]].concat()).unwrap();
            },
        )
    }),
    case("a_neighbor_evicts_single_ranges_of_a_warm_file", |at| {
        changed(
            at,
            true,
            |path| {
                pass(
                    path,
                    "randread",
                    json!({"rate_iops": 4000, "norandommap": 1, "runtime": "1s", "time_based": 1}),
                )
            },
            5,
            |_, file, round| {
                let offset = round * 7919 % 128 * 128 * KIB;
                // SAFETY: the call takes no pointers.
                unsafe {
                    libc::posix_fadvise(
                        file.as_raw_fd(),
                        offset as i64,
                        128 << 10,
                        libc::POSIX_FADV_DONTNEED,
                    )
                };
            },
        )
    }),
    case("a_file_punched_during_direct_reads", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let truth = counted_holes(volume.device.0.clone());
        let job = pass(&path, "randread", json!({"direct": 1, "rate_iops": 3000}));
        let neighbor = Neighbor::every(Duration::from_millis(20), move |round| {
            let offset = (round * 7919 % 128 * 128 * KIB).to_string();
            let file = path.to_str().unwrap();
            let _ = run(
                "fallocate",
                &["--punch-hole", "-o", &offset, "-l", "128K", file],
            );
        });
        situation_with(job, vec![Box::new(neighbor), Box::new(volume)], truth)
    }),
    case("a_hole_filled_during_direct_reads", |at| {
        let volume = ext4(at)?;
        let path = volume.at.join("f");
        sparse(&path, SIZE);
        let truth = counted_holes(volume.device.0.clone());
        let job = pass(&path, "randread", json!({"direct": 1, "rate_iops": 3000}));
        let file = open(&path);
        let neighbor = Neighbor::every(Duration::from_millis(10), move |round| {
            let offset = round * 7919 % 128 * 128 * KIB;
            file.write_all_at(&vec![5; 128 << 10], offset).unwrap();
            file.sync_all().unwrap();
        });
        situation_with(job, vec![Box::new(neighbor), Box::new(volume)], truth)
    }),
    case("a_file_that_grows_while_it_is_read", |at| {
        changed(at, false, RANDOM, 5, |_, file, round| {
            file.write_all_at(&[1; 4096], SIZE + round * 4096).unwrap();
        })
    }),
    // Workers that run one after another
    case("a_second_worker_follows_the_stream_of_the_first", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let truth = counted_reads(volume.device.0.clone());
        let stream = |delay: &str| {
            pass(
                &path,
                "read",
                json!({"rate_iops": 3500, "startdelay": delay}),
            )
        };
        let job = jobs(&[stream("0"), stream("200ms")]);
        situation_with(job, vec![Box::new(volume)], truth)
    }),
    case("two_streams_one_starting_in_the_middle", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let truth = counted_reads(volume.device.0.clone());
        let stream = |changes| pass(&path, "read", with(&json!({"rate_iops": 3000}), changes));
        let job = jobs(&[
            stream(json!({})),
            stream(json!({"offset": "8m", "size": "8m", "loops": 2})),
        ]);
        situation_with(job, vec![Box::new(volume)], truth)
    }),
    case("a_fast_stream_behind_a_slow_stream", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let truth = counted_reads(volume.device.0.clone());
        let stream = |changes| pass(&path, "read", changes);
        let job = jobs(&[
            stream(json!({"rate_iops": 1000, "runtime": "2s"})),
            stream(json!({"rate_iops": 5000, "startdelay": "700ms"})),
        ]);
        situation_with(job, vec![Box::new(volume)], truth)
    }),
    case("a_direct_and_a_buffered_stream_on_the_same_file", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let locked = lock(&path, SIZE);
        let job = jobs(&[
            pass(&path, "read", json!({"loops": 20})),
            pass(&path, "read", json!({"direct": 1})),
        ]);
        situation_with(
            job,
            vec![Box::new(locked), Box::new(volume)],
            by_job(&[Memory, Device]),
        )
    }),
    case("writes_of_one_job_ahead_of_reads_of_another", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let truth = counted_reads(volume.device.0.clone());
        let job = jobs(&[
            pass(&path, "randwrite", json!({"rate_iops": 3000})),
            pass(
                &path,
                "randread",
                json!({"rate_iops": 3000, "randseed": 99}),
            ),
        ]);
        situation_with(job, vec![Box::new(volume)], truth)
    }),
    // The path changes while the job has the file open
    case("a_file_replaced_by_a_hole_during_direct_reads", |at| {
        moved(at, |path| {
            std::fs::rename(path, path.with_extension("old")).unwrap();
            sparse(path, SIZE);
        })
    }),
    case("a_file_removed_during_direct_reads", |at| {
        moved(at, |path| std::fs::remove_file(path).unwrap())
    }),
    case("a_file_replaced_by_a_link_to_tmpfs", |at| {
        moved(at, |path| {
            std::fs::remove_file(path).unwrap();
            std::os::unix::fs::symlink("/dev/null", path).unwrap();
        })
    }),
    case("a_disk_unmounted_during_direct_reads", |at| {
        // The filesystem is only detached from the tree, so the file stays open.
        moved(at, |path| {
            let at = path.parent().unwrap().to_str().unwrap();
            run("umount", &["--lazy", at]).unwrap();
            run("mount", &["-t", "tmpfs", "none", at]).unwrap();
        })
    }),
    case("cached_reads_of_a_removed_file", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let locked = lock(&path, SIZE / 2);
        let truth = counted_reads(volume.device.0.clone());
        let job = RANDOM(&path);
        let prepared = situation_with(job, vec![Box::new(locked), Box::new(volume)], truth);
        during(prepared, move || {
            sleep(Duration::from_millis(500));
            // The expected shares are also correct if the run has already ended.
            let _ = std::fs::remove_file(&path);
        })
    }),
    // Data under writeback is overwritten.
    case(
        "a_neighbor_writes_pages_back_while_they_are_overwritten",
        |at| overwritten(at, |file| write_back_of(file, 0, 0)),
    ),
    case("a_neighbor_syncs_the_file_while_it_is_overwritten", |at| {
        overwritten(at, |file| file.sync_data().unwrap())
    }),
];

/// Direct reads for 1.4 s. The file's path changes after 500 ms.
fn moved(at: &Path, change: fn(&Path)) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", SIZE);
    let job = pass(&path, "randread", json!({"direct": 1, "rate_iops": 3000}));
    let prepared = situation(job, vec![Box::new(volume)], vec![device("read")]);
    during(prepared, move || {
        sleep(Duration::from_millis(500));
        change(&path);
    })
}

/// Fast reads of a cached file, which is evicted once, after `after` milliseconds.
fn evicted_late(at: &Path, after: u64) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", 64 * MIB);
    read_with_readahead(&path);
    let truth = counted_reads(volume.device.0.clone());
    let changes = json!({"size": "64m", "runtime": "1s", "time_based": 1});
    let job = pass(&path, "randread", changes);
    let prepared = situation_with(job, vec![Box::new(volume)], truth);
    during(prepared, move || {
        sleep(Duration::from_millis(after + 200));
        setup::evict(&path);
    })
}

/// Random writes to 4 MiB while a neighbor writes them back. The truth is the number of bytes
/// written to the device.
fn overwritten(at: &Path, flush: fn(&File)) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", 4 * MIB);
    let file = File::open(&path).unwrap();
    let neighbor = Neighbor::every(Duration::from_millis(5), move |_| flush(&file));
    let changes = json!({"size": "4m", "rate_iops": 60_000, "invalidate": 0});
    let job = timed(&path, "randwrite", changes);
    let truth = counted_writes(volume.device.0.clone());
    situation_with(job, vec![Box::new(neighbor), Box::new(volume)], truth)
}
