//! Writes that are flushed at known times, very few writes, and unusual ways for writes to reach
//! the device.

use super::KIB;
use crate::{
    case::{Case, Expected, Truth},
    reads::setup::{self, MemoryLimit, Prepared},
    scratch::{program::with, run},
    writes::builders::*,
};
use serde_json::{Value, json};
use std::{
    fs::File,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    thread::sleep,
    time::Duration,
};

const WRITES: u64 = SIZE / 4096;

/// Writes in bursts of `burst` I/Os, with pauses that are long enough for the neighbor's I/O.
fn bursts(path: &Path, rw: &str, burst: u64, changes: Value) -> Value {
    let pauses = json!({"thinktime": 300_000, "thinktime_blocks": burst, "invalidate": 0});
    job(path, rw, with(&pauses, changes))
}

/// Number of dirty pages of the file.
fn dirty_pages(path: &Path) -> u64 {
    pages(path, 0, 0).dirty
}

/// Each burst consists of a quarter of the writes. The neighbor flushes in the first pause.
fn in_the_first_pause(at: &Path, make: &str, rw: &str, flush: fn(&Path)) -> Prepared {
    let volume = volume(at, make, "defaults")?;
    let path = volume.cold_file("f", SIZE);
    let prepared = situation(
        bursts(&path, rw, WRITES / 4, json!({})),
        vec![Box::new(volume)],
        vec![split("write", 0.75, 0.0, 0.25)],
    );
    during(prepared, move || {
        wait_until(|| dirty_pages(&path) >= WRITES / 4);
        sleep(Duration::from_millis(30));
        flush(&path);
    })
}

fn sync_data(path: &Path) {
    open(path).sync_data().unwrap();
}

fn sync_range(path: &Path) {
    write_back(path, 0, 0);
}

/// Two passes: one is flushed completely, and the other stays in memory.
fn flushed_pass(at: &Path, changes: Value) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", SIZE);
    let prepared = situation(
        bursts(
            &path,
            "randwrite",
            WRITES,
            with(&json!({"loops": 2}), changes),
        ),
        vec![Box::new(volume)],
        vec![split("write", 0.5, 0.0, 0.5)],
    );
    during(prepared, move || {
        wait_until(|| dirty_pages(&path) >= WRITES);
        sleep(Duration::from_millis(30));
        sync_data(&path);
    })
}

/// Sequential writes of small blocks. In the pause after the first half, that half is flushed.
fn small_blocks(at: &Path, make: &str, block: u64) -> Prepared {
    let volume = volume(at, make, "defaults")?;
    let bytes = 3 * MIB;
    let path = volume.cold_file("f", bytes);
    let count = bytes / block;
    let prepared = situation(
        bursts(
            &path,
            "write",
            count / 2,
            json!({"bs": block, "size": bytes}),
        ),
        vec![Box::new(volume)],
        vec![split("write", 0.5, 0.0, 0.5)],
    );
    during(prepared, move || {
        wait_until(|| dirty_pages(&path) * 4096 >= bytes / 2);
        sleep(Duration::from_millis(30));
        sync_data(&path);
    })
}

/// Random writes without a neighbor.
fn plain(volume: Volume, path: &Path, changes: Value, truth: Truth) -> Prepared {
    let job = job(path, "randwrite", changes);
    situation(job, vec![Box::new(volume)], vec![truth])
}

/// The first writes to a file, of which `flushed` reach the device.
fn few(at: &Path, count: u64, changes: Value, flushed: u64) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", SIZE);
    let device = flushed as f64 / count as f64;
    let truth = split("write", 1.0 - device, 0.0, device);
    plain(
        volume,
        &path,
        with(&json!({"number_ios": count}), changes),
        truth,
    )
}

/// Two jobs on one file or on two files; the second one calls fsync.
fn with_fsync_of_another_job(at: &Path, other: &str) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", SIZE);
    if other != "f" {
        volume.cold_file(other, SIZE);
    }
    let second = volume.at.join(other);
    let jobs = jobs(&[
        job(
            &path,
            "write",
            json!({"size": "8m", "rate_iops": 2000, "invalidate": 0}),
        ),
        job(
            &second,
            "write",
            json!({"offset": "8m", "size": "64k", "fsync": 16, "startdelay": "500ms", "invalidate": 0}),
        ),
    ]);
    let truth = written(vec![path, second]);
    situation_with(jobs, vec![Box::new(volume)], truth)
}

/// Writes whose pages are no longer dirty after the run count as having reached the device.
fn written(mut files: Vec<PathBuf>) -> Expected {
    files.dedup();
    Box::new(move |result| {
        let dirty: u64 = files
            .iter()
            .map(|path| pages(path, 0, 0))
            .map(|pages| pages.dirty + pages.writeback)
            .sum();
        let share = dirty as f64 / ios(result, "write");
        vec![split("write", share, 0.0, 1.0 - share)]
    })
}

/// The first job's writes have reached the device before the second job dirties the same pages.
fn overwritten(at: &Path, first: Value) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", 4 * MIB);
    let plain = json!({"size": "4m", "invalidate": 0});
    let one = job(
        &path,
        "randwrite",
        with(&plain, with(&first, json!({"runtime": "700ms"}))),
    );
    let two = job(
        &path,
        "randwrite",
        with(&plain, json!({"startdelay": "1s"})),
    );
    situation_with(
        jobs(&[one, two]),
        vec![Box::new(volume)],
        Box::new(|result| {
            let share = job_ios(result, 1, "write") / ios(result, "write");
            vec![split("write", share, 0.0, 1.0 - share)]
        }),
    )
}

/// Writes that stay in memory, in parallel with writes of another size that reach the device.
fn sizes(at: &Path, buffered: &str, synchronous: &str) -> Prepared {
    let volume = ext4(at)?;
    let one = json!({"bs": buffered, "rate_iops": 2000});
    let one = timed(&volume.cold_file("a", SIZE), "randwrite", one);
    let two = json!({"bs": synchronous, "sync": "dsync"});
    let two = timed(&volume.cold_file("b", SIZE), "randwrite", two);
    situation_with(
        jobs(&[one, two]),
        vec![Box::new(volume)],
        Box::new(|result| {
            let share = job_ios(result, 0, "write") / ios(result, "write");
            vec![split("write", share, 0.0, 1.0 - share)]
        }),
    )
}

/// A job that writes to pages that were read as large folios. After half of the writes, the
/// neighbor writes back the first half of the file.
fn strided_in_folios(at: &Path, make: &str) -> Prepared {
    let volume = volume(at, make, "defaults")?;
    let path = volume.cold_file("f", 64 * MIB);
    read_with_readahead(&path);
    let prepared = situation(
        bursts(
            &path,
            "write:124k",
            256,
            json!({"size": "64m", "number_ios": 512}),
        ),
        vec![Box::new(volume)],
        vec![split("write", 0.5, 0.0, 0.5)],
    );
    during(prepared, move || {
        wait_until(|| pages(&path, 31 * MIB, MIB).dirty > 0);
        sleep(Duration::from_millis(100));
        write_back(&path, 0, 32 * MIB);
    })
}

pub(super) const CASES: &[Case] = &[
    case("random_writes_flushed_by_fdatasync_in_a_pause", |at| {
        in_the_first_pause(at, EXT4, "randwrite", sync_data)
    }),
    case(
        "random_writes_flushed_by_sync_file_range_in_a_pause",
        |at| in_the_first_pause(at, EXT4, "randwrite", sync_range),
    ),
    case("random_writes_flushed_in_a_pause_on_xfs", |at| {
        in_the_first_pause(at, XFS, "randwrite", sync_data)
    }),
    case("sequential_writes_flushed_in_a_pause_on_btrfs", |at| {
        in_the_first_pause(at, BTRFS, "write", sync_data)
    }),
    case("a_first_pass_that_is_flushed_before_the_second", |at| {
        flushed_pass(at, json!({}))
    }),
    case(
        "a_first_pass_that_is_flushed_before_an_identical_second",
        |at| flushed_pass(at, json!({"rw": "write"})),
    ),
    case("the_second_and_the_last_burst_stay_dirty", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let prepared = situation(
            bursts(&path, "write", WRITES / 4, json!({})),
            vec![Box::new(volume)],
            vec![split("write", 0.5, 0.0, 0.5)],
        );
        during(prepared, move || {
            for quarter in [0, 2] {
                let offset = quarter * SIZE / 4;
                wait_until(|| pages(&path, offset, SIZE / 4).dirty >= WRITES / 4);
                sleep(Duration::from_millis(30));
                write_back(&path, offset, SIZE / 4);
            }
        })
    }),
    case("a_burst_of_writes_before_a_long_pause_with_a_flush", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let changes = json!({"thinktime": 1_200_000, "thinktime_blocks": 4000});
        let job = job(&path, "randwrite", changes);
        let prepared = situation(
            job,
            vec![Box::new(volume)],
            vec![split("write", 96.0 / 4096.0, 0.0, 4000.0 / 4096.0)],
        );
        during(prepared, move || {
            wait_until(|| dirty_pages(&path) >= 4000);
            sleep(Duration::from_millis(500));
            sync_range(&path);
        })
    }),
    case("fast_writes_the_first_thousandth_flushed", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", 128 * MIB);
        let truth = still_dirty(path.clone());
        let job = job(&path, "write", json!({"size": "128m", "invalidate": 0}));
        let prepared = situation_with(job, vec![Box::new(volume)], truth);
        during(prepared, move || {
            wait_until(|| dirty_pages(&path) >= 32);
            write_back(&path, 0, 32 * 4096);
        })
    }),
    case("sequential_kibibytes_flushed_in_a_pause", |at| {
        small_blocks(at, EXT4, 1024)
    }),
    case("sequential_sectors_flushed_in_a_pause_on_xfs", |at| {
        small_blocks(at, XFS, 512)
    }),
    case(
        "sequential_blocks_of_three_sectors_flushed_in_a_pause",
        |at| small_blocks(at, EXT4, 1536),
    ),
    case(
        "strided_writes_in_large_folios_half_flushed_on_ext4",
        |at| strided_in_folios(at, EXT4),
    ),
    case("strided_writes_in_large_folios_half_flushed_on_xfs", |at| {
        strided_in_folios(at, XFS)
    }),
    case("passes_with_an_fsync_after_each_but_the_last", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", MIB);
        // As in fio, no sync follows the last write.
        let changes = json!({"size": "1m", "loops": 3, "fsync": 256});
        let truth = split("write", 1.0 / 3.0, 0.0, 2.0 / 3.0);
        plain(volume, &path, changes, truth)
    }),
    case("passes_that_a_neighbor_flushes_except_the_last", |at| {
        // Five passes over 256 pages. After each pass except the last, there is a pause and a
        // flush.
        let volume = ext4(at)?;
        let path = volume.cold_file("f", MIB);
        let job = bursts(&path, "randwrite", 256, json!({"size": "1m", "loops": 5}));
        let prepared = situation(
            job,
            vec![Box::new(volume)],
            vec![split("write", 0.2, 0.0, 0.8)],
        );
        during(prepared, move || {
            for _ in 0..4 {
                wait_until(|| dirty_pages(&path) >= 256);
                sleep(Duration::from_millis(30));
                sync_data(&path);
            }
        })
    }),
    case("synchronous_writes_that_are_overwritten_in_memory", |at| {
        overwritten(at, json!({"sync": "dsync"}))
    }),
    case("direct_writes_that_are_overwritten_in_memory", |at| {
        overwritten(at, json!({"direct": 1}))
    }),
    case(
        "dirty_writes_next_to_direct_writes_to_the_other_half",
        |at| {
            let volume = ext4(at)?;
            let path = volume.cold_file("f", SIZE);
            let half = |changes| {
                job(
                    &path,
                    "randwrite",
                    with(
                        &json!({"size": "8m", "invalidate": 0, "rate_iops": 2500}),
                        changes,
                    ),
                )
            };
            let job = jobs(&[half(json!({})), half(json!({"offset": "8m", "direct": 1}))]);
            situation(
                job,
                vec![Box::new(volume)],
                vec![split("write", 0.5, 0.0, 0.5)],
            )
        },
    ),
    case(
        "large_buffered_writes_next_to_small_synchronous_writes",
        |at| sizes(at, "64k", "4k"),
    ),
    case(
        "small_buffered_writes_next_to_large_synchronous_writes",
        |at| sizes(at, "4k", "256k"),
    ),
    case("the_synchronous_attribute_set_during_the_run", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let truth = still_dirty(path.clone());
        let job = bursts(&path, "randwrite", WRITES / 2, json!({}));
        let prepared = situation_with(job, vec![Box::new(volume)], truth);
        during(prepared, move || {
            wait_until(|| dirty_pages(&path) >= WRITES / 2);
            run("chattr", &["+S", path.to_str().unwrap()]).unwrap();
        })
    }),
    case("a_disk_remounted_as_synchronous_during_the_run", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let truth = still_dirty(path.clone());
        let mounted = volume.at.clone();
        let job = bursts(&path, "randwrite", WRITES / 2, json!({}));
        let prepared = situation_with(job, vec![Box::new(volume)], truth);
        during(prepared, move || {
            wait_until(|| dirty_pages(&path) >= WRITES / 2);
            run("mount", &["-o", "remount,sync", mounted.to_str().unwrap()]).unwrap();
        })
    }),
    // Few writes
    case("one_buffered_write", |at| few(at, 1, json!({}), 0)),
    case("one_direct_write", |at| few(at, 1, json!({"direct": 1}), 1)),
    case("one_synchronous_write", |at| {
        few(at, 1, json!({"sync": "dsync"}), 1)
    }),
    case("ten_writes_with_an_fsync_after_seven", |at| {
        few(at, 10, json!({"fsync": 7}), 7)
    }),
    case("ten_writes_with_an_fdatasync_after_five", |at| {
        few(at, 10, json!({"fdatasync": 5}), 5)
    }),
    case("five_hundred_writes_the_last_five_stay_dirty", |at| {
        few(at, 500, json!({"fsync": 99}), 495)
    }),
    // Jobs that flush each other's writes
    case("an_fsync_of_another_job_on_the_same_file", |at| {
        with_fsync_of_another_job(at, "f")
    }),
    case("an_fsync_of_another_job_on_another_file", |at| {
        with_fsync_of_another_job(at, "g")
    }),
    case(
        "millions_of_buffered_writes_next_to_few_synchronous_ones",
        |at| {
            let volume = ext4(at)?;
            let fast = timed(&volume.cold_file("a", SIZE), "randwrite", json!({}));
            let slow = json!({"sync": "dsync", "rate_iops": 20});
            let slow = timed(&volume.cold_file("b", SIZE), "randwrite", slow);
            situation_with(
                jobs(&[fast, slow]),
                vec![Box::new(volume)],
                Box::new(|result| {
                    let share = job_ios(result, 0, "write") / ios(result, "write");
                    vec![split("write", share, 0.0, 1.0 - share)]
                }),
            )
        },
    ),
    // Unusual files
    case(
        "buffered_writes_to_a_file_with_the_synchronous_attribute",
        |at| {
            let volume = ext4(at)?;
            let path = volume.cold_file("f", 4 * MIB);
            run("chattr", &["+S", path.to_str().unwrap()])?;
            plain(volume, &path, json!({"size": "4m"}), device("write"))
        },
    ),
    case("direct_writes_to_a_shared_clone_on_xfs", |at| {
        let volume = volume(at, XFS, "defaults")?;
        let path = volume.cold_file("f", SIZE);
        let clone = volume.at.join("clone");
        let words = [
            "--reflink=always",
            path.to_str().unwrap(),
            clone.to_str().unwrap(),
        ];
        run("cp", &words)?;
        plain(volume, &clone, json!({"direct": 1}), device("write"))
    }),
    case("buffered_writes_to_a_shared_clone_on_xfs", |at| {
        let volume = volume(at, XFS, "defaults")?;
        let path = volume.cold_file("f", SIZE);
        let clone = volume.at.join("clone");
        let words = [
            "--reflink=always",
            path.to_str().unwrap(),
            clone.to_str().unwrap(),
        ];
        run("cp", &words)?;
        plain(volume, &clone, json!({}), memory("write"))
    }),
    case("writes_beyond_a_memory_limit", |at| {
        let disk = setup::Volume::ext4(at)?;
        let path = disk.file("f");
        crate::scratch::image(&path, 64 * MIB);
        drop_pages(&path);
        let job = job(&path, "randwrite", json!({"size": "64m"}));
        // Writeback continues after the run, so every page that is dirty now was also dirty at the
        // end of the run.
        let dirty = still_dirty(path);
        let truth: Expected = Box::new(|result| {
            let truth = dirty(result).remove(0);
            vec![Truth {
                memory: *truth.memory.start()..=0.75,
                device: 0.25..=*truth.device.end(),
                ..truth
            }]
        });
        Ok(MemoryLimit::of(48 * MIB)?.situation(job, truth, disk))
    }),
    case("buffered_writes_evicted_by_a_neighbor_mid_run", |at| {
        // Eviction starts writeback of dirty pages, but the pages stay in memory.
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let truth = still_dirty(path.clone());
        let job = bursts(&path, "randwrite", WRITES / 2, json!({}));
        let prepared = situation_with(job, vec![Box::new(volume)], truth);
        during(prepared, move || {
            wait_until(|| dirty_pages(&path) >= WRITES / 2);
            setup::evict(&path);
        })
    }),
    case(
        "a_neighbor_overwrites_written_blocks_with_direct_io",
        |at| {
            // A direct write first writes back the dirty pages of its range.
            let volume = ext4(at)?;
            let path = volume.cold_file("f", SIZE);
            let prepared = situation(
                bursts(&path, "write", WRITES / 2, json!({})),
                vec![Box::new(volume)],
                vec![split("write", 0.75, 0.0, 0.25)],
            );
            during(prepared, move || {
                wait_until(|| dirty_pages(&path) >= WRITES / 2);
                sleep(Duration::from_millis(30));
                let output = format!("of={}", path.display());
                let words = ["if=/dev/zero", &output, "bs=4M", "count=1", "conv=notrunc"];
                run("dd", &[&words[..], &["oflag=direct"]].concat()).unwrap();
            })
        },
    ),
    case("a_new_file_renamed_and_flushed_during_the_run", |at| {
        let volume = ext4(at)?;
        let path = volume.at.join("f");
        let moved = volume.at.join("g");
        let prepared = situation_with(
            bursts(&path, "write", WRITES / 2, json!({})),
            vec![Box::new(volume)],
            written(vec![moved.clone()]),
        );
        during(prepared, move || {
            wait_until(|| dirty_pages(&path) >= WRITES / 2);
            std::fs::rename(&path, &moved).unwrap();
            sync_data(&moved);
        })
    }),
    case(
        "mixed_writes_flushed_in_a_pause_next_to_cached_reads",
        |at| {
            let volume = ext4(at)?;
            let path = volume.cold_file("f", SIZE);
            let warm = volume.cold_file("warm", SIZE);
            let locked = lock(&warm, SIZE);
            let job = jobs(&[
                bursts(&path, "write", WRITES / 2, json!({})),
                timed(&warm, "randread", json!({"invalidate": 0})),
            ]);
            let prepared = situation(
                job,
                vec![Box::new(locked), Box::new(volume)],
                vec![memory("read"), split("write", 0.5, 0.0, 0.5)],
            );
            during(prepared, move || {
                wait_until(|| dirty_pages(&path) >= WRITES / 2);
                sleep(Duration::from_millis(30));
                sync_data(&path);
            })
        },
    ),
    case("direct_writes_over_pages_dirtied_by_a_mapping", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        map_and_dirty(&path, SIZE);
        assert!(dirty_pages(&path) >= WRITES);
        plain(
            volume,
            &path,
            json!({"direct": 1, "invalidate": 0}),
            device("write"),
        )
    }),
    case("direct_reads_of_a_hole_dirtied_by_a_mapping", |at| {
        let volume = ext4(at)?;
        let path = volume.at.join("f");
        sparse(&path, SIZE);
        map_and_dirty(&path, SIZE);
        let truth = super::counted_holes(volume.device.0.clone());
        let job = job(&path, "randread", json!({"direct": 1, "invalidate": 0}));
        situation_with(job, vec![Box::new(volume)], truth)
    }),
    case("buffered_reads_of_a_hole_dirtied_by_a_mapping", |at| {
        let volume = ext4(at)?;
        let path = volume.at.join("f");
        sparse(&path, SIZE);
        map_and_dirty(&path, SIZE);
        let locked = lock(&path, SIZE);
        let job = job(&path, "randread", json!({"invalidate": 0}));
        situation(
            job,
            vec![Box::new(locked), Box::new(volume)],
            vec![memory("read")],
        )
    }),
    case("reads_of_pages_that_a_neighbor_keeps_dirty", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let locked = lock(&path, SIZE);
        let file: File = open(&path);
        let neighbor = Neighbor::every(Duration::from_millis(1), move |round| {
            let offset = round * 7919 % 256 * 64 * KIB;
            file.write_all_at(&[3; 65536], offset).unwrap();
        });
        let job = timed(
            &path,
            "randread",
            json!({"invalidate": 0, "rate_iops": 5000}),
        );
        situation(
            job,
            vec![Box::new(neighbor), Box::new(locked), Box::new(volume)],
            vec![memory("read")],
        )
    }),
];

/// Changes a byte of every page through a shared mapping.
fn map_and_dirty(path: &Path, bytes: u64) {
    let bytes = bytes as usize;
    let file = open(path);
    let address = {
        use std::os::fd::AsRawFd;
        // SAFETY: a new mapping at an address that the kernel chooses.
        unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                bytes,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                file.as_raw_fd(),
                0,
            )
        }
    };
    assert_ne!(address, libc::MAP_FAILED);
    for offset in (0..bytes).step_by(4096) {
        // SAFETY: within the mapping above.
        unsafe { address.cast::<u8>().add(offset).write_volatile(1) };
    }
    // SAFETY: no references to the mapping remain.
    assert_eq!(unsafe { libc::munmap(address, bytes) }, 0);
}
