//! Earlier writers, neighbors, and data that is discarded after it is written.

use super::builders::*;
use crate::{case::Case, scratch::run};
use serde_json::{Value, json};
use std::{
    fs::{self, File},
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

/// Number of writes in a job that takes 2 s.
const WRITES: u64 = 4000;
const BYTES: u64 = WRITES * 4096;

pub(super) const CASES: &[Case] = &[
    case(
        "earlier_writer_left_dirty_pages_elsewhere_in_the_file",
        |at| {
            let (volume, path) = half_dirty(at)?;
            situation(
                slow(&path, "randwrite"),
                vec![Box::new(volume)],
                vec![memory("write")],
            )
        },
    ),
    case("an_earlier_writers_pages_are_flushed_mid_run", |at| {
        let (volume, path) = half_dirty(at)?;
        let prepared = situation(
            slow(&path, "randwrite"),
            vec![Box::new(volume)],
            vec![memory("write")],
        );
        during(prepared, move || {
            wait_until(|| pages(&path, 0, BYTES).dirty > 1000);
            write_back(&path, 64 * MIB, 64 * MIB);
        })
    }),
    case("overwrites_of_already_dirty_pages", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", BYTES);
        dirty(&path, 0, BYTES);
        situation(
            slow(&path, "randwrite"),
            vec![Box::new(volume)],
            vec![memory("write")],
        )
    }),
    case(
        "an_earlier_writers_dirty_pages_before_direct_writes_elsewhere",
        |at| {
            let (volume, path) = half_dirty(at)?;
            let job =
                crate::scratch::program::with(&slow(&path, "randwrite"), json!({"direct": 1}));
            situation(job, vec![Box::new(volume)], vec![device("write")])
        },
    ),
    case("first_half_flushed_by_sync_file_range_on_ext4", |at| {
        half_flushed(at, EXT4)
    }),
    case("first_half_flushed_by_sync_file_range_on_xfs", |at| {
        half_flushed(at, XFS)
    }),
    case("neighbor_calls_fsync_on_the_file_once", |at| {
        flushed_by(at, |path| open(path).sync_all().unwrap())
    }),
    case("neighbor_syncs_the_filesystem_once", |at| {
        flushed_by(at, |path| {
            drop(run("sync", &["-f", path.to_str().unwrap()]))
        })
    }),
    case("file_truncated_mid_run", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", BYTES);
        let prepared = situation(
            slow(&path, "write"),
            vec![Box::new(volume)],
            vec![memory("write")],
        );
        during(prepared, move || {
            wait_until_dirty(&path, 0, BYTES / 2);
            open(&path).set_len(0).unwrap();
        })
    }),
    case("written_pages_punched_out_mid_run", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", BYTES);
        let prepared = situation(
            slow(&path, "write"),
            vec![Box::new(volume)],
            vec![memory("write")],
        );
        during(prepared, move || {
            wait_until_dirty(&path, 0, BYTES / 2);
            let length = (BYTES / 2).to_string();
            run(
                "fallocate",
                &["--punch-hole", "-l", &length, path.to_str().unwrap()],
            )
            .unwrap();
        })
    }),
    case("file_removed_mid_run", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", BYTES);
        let prepared = situation(
            slow(&path, "write"),
            vec![Box::new(volume)],
            vec![memory("write")],
        );
        during(prepared, move || {
            wait_until_dirty(&path, 0, BYTES / 2);
            fs::remove_file(&path).unwrap();
        })
    }),
    case(
        "neighbor_writes_as_much_as_the_job_to_the_same_disk",
        |at| {
            let volume = ext4(at)?;
            let path = volume.cold_file("f", BYTES);
            let neighbor = writer(volume.cold_file("neighbor", SIZE), 4);
            situation(
                slow(&path, "randwrite"),
                vec![Box::new(neighbor), Box::new(volume)],
                vec![memory("write")],
            )
        },
    ),
    case("neighbor_writes_more_than_the_job_to_the_same_disk", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", BYTES);
        let neighbor = writer(volume.cold_file("neighbor", SIZE), 64);
        situation(
            slow(&path, "randwrite"),
            vec![Box::new(neighbor), Box::new(volume)],
            vec![memory("write")],
        )
    }),
    case("neighbor_writes_to_another_part_of_the_same_file", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", 128 * MIB);
        let (target, unwritten) = (path.clone(), modified(&path));
        let neighbor = Neighbor::every(Duration::from_millis(4), move |round| {
            // The guard rejects files that are already in use before the run.
            if modified(&target) == unwritten {
                return;
            }
            let file = open(&target);
            let offset = 64 * MIB + round % 256 * 65536;
            file.write_all_at(&[1; 65536], offset).unwrap();
            write_back_of(&file, offset, 65536);
        });
        situation(
            slow(&path, "randwrite"),
            vec![Box::new(neighbor), Box::new(volume)],
            vec![memory("write")],
        )
    }),
    case("neighbor_writes_next_to_direct_writes", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", BYTES);
        let neighbor = writer(volume.cold_file("neighbor", SIZE), 16);
        let job = crate::scratch::program::with(&slow(&path, "randwrite"), json!({"direct": 1}));
        situation(
            job,
            vec![Box::new(neighbor), Box::new(volume)],
            vec![device("write")],
        )
    }),
    case("neighbor_allocates_and_removes_files", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", BYTES);
        let directory = volume.at.clone();
        let neighbor = Neighbor::every(Duration::from_millis(10), move |round| {
            let name = directory.join(format!("allocated{}", round % 8));
            let _ = run("fallocate", &["-l", "8M", name.to_str().unwrap()]);
            File::open(&name).unwrap().sync_all().unwrap();
            fs::remove_file(&name).unwrap();
        });
        situation(
            slow(&path, "randwrite"),
            vec![Box::new(neighbor), Box::new(volume)],
            vec![memory("write")],
        )
    }),
    case("a_neighbors_commits_flush_allocating_writes", |at| {
        let volume = volume(at, EXT4, "nodelalloc,dioread_lock,data=ordered")?;
        let path = volume.at.join("f");
        let other = volume.cold_file("neighbor", MIB);
        let job = slow(&path, "write");
        let prepared = situation_with(job, vec![Box::new(volume)], still_dirty(path.clone()));
        during(prepared, move || {
            wait_until_dirty(&path, 0, BYTES / 2);
            dirty(&other, 0, MIB);
            File::create(other.with_extension("new"))
                .unwrap()
                .sync_all()
                .unwrap();
        })
    }),
    case("a_neighbors_direct_read_flushes_the_first_half", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", BYTES);
        let prepared = situation_with(
            slow(&path, "write"),
            vec![Box::new(volume)],
            still_dirty(path.clone()),
        );
        during(prepared, move || {
            wait_until_dirty(&path, 0, BYTES / 2);
            let input = format!("if={}", path.display());
            run(
                "dd",
                &[&input, "of=/dev/null", "iflag=direct", "bs=4M", "count=2"],
            )
            .unwrap();
        })
    }),
    case(
        "cached_reads_while_a_neighbor_reads_the_same_amount_from_the_disk",
        |at| {
            let volume = ext4(at)?;
            let warm = volume.cold_file("warm", SIZE);
            let locked = lock(&warm, SIZE);
            let other = volume.cold_file("other", SIZE);
            let neighbor = Neighbor::every(Duration::from_millis(20), move |_| {
                drop_pages(&other);
                read_with_readahead(&other);
            });
            let job = timed(
                &warm,
                "randread",
                json!({"invalidate": 0, "rate_iops": 4000}),
            );
            situation(
                job,
                vec![Box::new(neighbor), Box::new(locked), Box::new(volume)],
                vec![memory("read")],
            )
        },
    ),
    case(
        "buffered_writes_next_to_direct_writes_by_the_same_process",
        |at| {
            let volume = ext4(at)?;
            let buffered = slow(&volume.cold_file("a", BYTES), "randwrite");
            let direct = slow(&volume.cold_file("b", BYTES), "randwrite");
            let direct = crate::scratch::program::with(&direct, json!({"direct": 1}));
            situation_with(
                jobs(&[buffered, direct]),
                vec![Box::new(volume)],
                Box::new(first_job_in_memory),
            )
        },
    ),
    case(
        "synchronous_writes_next_to_dirty_writes_by_the_same_process",
        |at| {
            let volume = ext4(at)?;
            let buffered = slow(&volume.cold_file("a", BYTES), "randwrite");
            let direct = slow(&volume.cold_file("b", BYTES), "randwrite");
            let direct = crate::scratch::program::with(&direct, json!({"sync": "dsync"}));
            situation_with(
                jobs(&[buffered, direct]),
                vec![Box::new(volume)],
                Box::new(first_job_in_memory),
            )
        },
    ),
];

fn first_job_in_memory(result: &Value) -> Vec<crate::case::Truth> {
    let share = job_ios(result, 0, "write") / ios(result, "write");
    vec![split("write", share, 0.0, 1.0 - share)]
}

fn slow(path: &Path, rw: &str) -> Value {
    job(
        path,
        rw,
        json!({"size": BYTES, "rate_iops": WRITES / 2, "invalidate": 0}),
    )
}

fn modified(path: &Path) -> SystemTime {
    path.metadata().unwrap().modified().unwrap()
}

/// A file whose second half is dirty. The job writes to its first pages.
fn half_dirty(at: &Path) -> Result<(Volume, PathBuf), String> {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", 128 * MIB);
    dirty(&path, 64 * MIB, 64 * MIB);
    Ok((volume, path))
}

fn half_flushed(at: &Path, make: &str) -> Prepared {
    let volume = volume(at, make, "defaults")?;
    let path = volume.cold_file("f", BYTES);
    let truth = split("write", 0.5, 0.0, 0.5);
    let prepared = situation(slow(&path, "write"), vec![Box::new(volume)], vec![truth]);
    during(prepared, move || {
        wait_until_dirty(&path, 0, BYTES / 2);
        write_back(&path, 0, BYTES / 2);
    })
}

fn flushed_by(at: &Path, flush: impl FnOnce(&Path) + 'static) -> Prepared {
    let volume = ext4(at)?;
    let path = volume.cold_file("f", BYTES);
    let truth = still_dirty(path.clone());
    let prepared = situation_with(slow(&path, "randwrite"), vec![Box::new(volume)], truth);
    during(prepared, move || {
        wait_until(|| pages(&path, 0, BYTES).dirty > WRITES / 3);
        flush(&path);
    })
}

/// Writes this many pages and writes them back, every 2 ms.
fn writer(path: PathBuf, pages: usize) -> Neighbor {
    let file = open(&path);
    let data = vec![3; pages * 4096];
    Neighbor::every(Duration::from_millis(2), move |round| {
        let offset = round * data.len() as u64 % SIZE;
        file.write_all_at(&data, offset).unwrap();
        write_back_of(&file, offset, data.len() as u64);
    })
}
