//! Loop devices, with raw I/O or a filesystem. The image is on a separate volume, whose device
//! counters show only I/O that missed the image's page cache.

use super::builders::*;
use crate::{
    case::{Case, Truth},
    scratch::{Loop, Mounted, program::with, run},
};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};

pub(super) const CASES: &[Case] = &[
    case("raw_reads_of_a_cached_loop_with_cached_image", |at| {
        raw_locked(at, CACHED, memory("read"))
    }),
    case("raw_reads_of_a_direct_loop_with_cached_image", |at| {
        raw_locked(at, DIRECT, device("read"))
    }),
    case("raw_reads_of_a_cached_loop_with_cold_image", |at| {
        let bottom = Bottom::new(at, CACHED)?;
        let job = bottom.raw("randread", json!({}));
        situation(job, vec![Box::new(bottom)], vec![device("read")])
    }),
    case("raw_reads_of_a_cached_loop_with_half_cached_image", |at| {
        let bottom = Bottom::new(at, CACHED)?;
        let locked = lock(&bottom.image, SIZE / 2);
        let job = bottom.raw("randread", json!({}));
        situation(
            job,
            vec![Box::new(locked), Box::new(bottom)],
            vec![split("read", 0.5, 0.0, 0.5)],
        )
    }),
    case(
        "random_raw_reads_of_a_cached_loop_with_image_readahead",
        |at| {
            let volume = ext4(at)?;
            let image = volume.cold_file("image", 64 * MIB);
            let bottom = Bottom::of(volume, image, CACHED)?;
            let (device, before) = (bottom.volume.device.0.clone(), bottom.reads());
            let job = bottom.raw("randread", json!({}));
            // A request may trigger readahead, which serves later reads from memory. Reads of such
            // pages may trigger more readahead, so the number of requests is an upper bound for the
            // reads that reach the device.
            situation_with(
                job,
                vec![Box::new(bottom)],
                Box::new(move |result| {
                    let share =
                        ((reads_of(&device) - before) as f64 / ios(result, "read")).min(1.0);
                    vec![Truth {
                        memory: 0.99 - share..=1.0,
                        device: 0.0..=share,
                        ..memory("read")
                    }]
                }),
            )
        },
    ),
    case("raw_reads_of_a_cached_loop_in_two_passes", |at| {
        let bottom = Bottom::new(at, CACHED)?;
        let job = bottom.raw("randread", json!({"loops": 2}));
        let truth = bottom.counted_reads();
        situation_with(job, vec![Box::new(bottom)], truth)
    }),
    case("image_dropped_mid_run", |at| {
        let bottom = Bottom::new(at, CACHED)?;
        read_with_readahead(&bottom.image);
        let job = bottom.raw("randread", json!({"rate_iops": 3000, "loops": 2}));
        let (truth, image) = (bottom.counted_reads(), bottom.image.clone());
        let prepared = situation_with(job, vec![Box::new(bottom)], truth);
        during(prepared, move || {
            std::thread::sleep(Duration::from_millis(1300));
            drop_pages(&image);
        })
    }),
    case("image_dropped_repeatedly", |at| {
        let bottom = Bottom::new(at, CACHED)?;
        read_with_readahead(&bottom.image);
        let image = bottom.image.clone();
        let neighbor = Neighbor::every(Duration::from_millis(200), move |_| drop_pages(&image));
        let job = bottom.raw("randread", json!({"rate_iops": 8000, "loops": 2}));
        let truth = bottom.counted_reads();
        situation_with(job, vec![Box::new(neighbor), Box::new(bottom)], truth)
    }),
    case("image_read_into_memory_mid_run", |at| {
        let bottom = Bottom::new(at, CACHED)?;
        let job = bottom.raw("randread", json!({"rate_iops": 4000}));
        let (image, volume) = (bottom.image.clone(), bottom.volume.device.0.clone());
        // The job reads a quarter of the image before the neighbor starts to read all of it, which
        // takes only a fraction of the run.
        let truth = Truth {
            memory: 0.5..=0.78,
            device: 0.22..=0.5,
            ..memory("read")
        };
        let prepared = situation(job, vec![Box::new(bottom)], vec![truth]);
        during(prepared, move || {
            wait_until(|| pages(&image, 0, SIZE).cached > 1000);
            set_readahead(&volume, "1024").unwrap();
            read_with_readahead(&image);
        })
    }),
    case("file_on_a_cached_loop_with_cached_image", |at| {
        file_on_loop(
            at,
            CACHED,
            true,
            "randread",
            json!({"direct": 1}),
            memory("read"),
        )
    }),
    case("file_on_a_cached_loop_with_cold_image", |at| {
        file_on_loop(
            at,
            CACHED,
            false,
            "randread",
            json!({"direct": 1}),
            device("read"),
        )
    }),
    case("file_on_a_direct_loop_with_cached_image", |at| {
        file_on_loop(
            at,
            DIRECT,
            true,
            "randread",
            json!({"direct": 1}),
            device("read"),
        )
    }),
    case("buffered_reads_of_a_cold_file_on_a_cached_image", |at| {
        file_on_loop(at, CACHED, true, "randread", json!({}), memory("read"))
    }),
    case("direct_writes_to_a_file_on_a_cached_loop", |at| {
        file_on_loop(
            at,
            CACHED,
            false,
            "randwrite",
            json!({"direct": 1}),
            memory("write"),
        )
    }),
    case(
        "direct_writes_with_fsync_to_a_file_on_a_cached_loop",
        |at| {
            file_on_loop(
                at,
                CACHED,
                false,
                "randwrite",
                json!({"direct": 1, "fsync": 1, "size": "4m"}),
                device("write"),
            )
        },
    ),
    case(
        "direct_writes_with_some_fsyncs_to_a_file_on_a_cached_loop",
        |at| some_fsyncs(at, 4096),
    ),
    // Most 1 KiB blocks are not aligned to the image's pages, so a write may dirty two pages.
    case("direct_writes_with_some_fsyncs_across_image_pages", |at| {
        some_fsyncs(at, 1024)
    }),
    case(
        "direct_mixed_job_on_a_cached_loop_with_cached_image",
        |at| {
            let bottom = Bottom::new(at, CACHED)?;
            let locked = lock(&bottom.image, SIZE);
            let job = bottom.raw("randrw", json!({}));
            situation(
                job,
                vec![Box::new(locked), Box::new(bottom)],
                vec![memory("read"), memory("write")],
            )
        },
    ),
    case("raw_direct_writes_to_a_cached_loop", |at| {
        raw(at, CACHED, "randwrite", json!({}), memory("write"))
    }),
    case("raw_direct_writes_to_a_direct_loop", |at| {
        raw(at, DIRECT, "randwrite", json!({}), device("write"))
    }),
    case("raw_synchronous_writes_to_a_cached_loop", |at| {
        raw(
            at,
            CACHED,
            "randwrite",
            json!({"sync": "dsync", "size": "4m"}),
            device("write"),
        )
    }),
    case("raw_buffered_writes_to_a_direct_loop", |at| {
        raw(
            at,
            DIRECT,
            "randwrite",
            json!({"direct": 0}),
            memory("write"),
        )
    }),
    case("raw_buffered_synchronous_writes_to_a_direct_loop", |at| {
        raw(
            at,
            DIRECT,
            "randwrite",
            json!({"direct": 0, "sync": "dsync", "size": "4m"}),
            device("write"),
        )
    }),
    case("raw_buffered_writes_to_a_cached_loop", |at| {
        raw(
            at,
            CACHED,
            "randwrite",
            json!({"direct": 0}),
            memory("write"),
        )
    }),
    case("dirty_image_flushed_mid_run", |at| {
        let bottom = Bottom::new(at, CACHED)?;
        let job = bottom.raw("write", json!({"rate_iops": 2000}));
        let image = bottom.image.clone();
        let prepared = situation(
            job,
            vec![Box::new(bottom)],
            vec![split("write", 0.5, 0.0, 0.5)],
        );
        during(prepared, move || {
            wait_until_dirty(&image, 0, SIZE / 2);
            write_back(&image, 0, SIZE / 2);
        })
    }),
    case("buffered_raw_reads_of_a_cold_direct_loop", |at| {
        raw(at, DIRECT, "randread", json!({"direct": 0}), device("read"))
    }),
    case("buffered_raw_reads_of_locked_device_pages", |at| {
        let bottom = Bottom::new(at, DIRECT)?;
        let locked = lock(Path::new(&bottom.device.0), SIZE);
        let job = bottom.raw("randread", json!({"direct": 0, "invalidate": 0}));
        situation(
            job,
            vec![Box::new(locked), Box::new(bottom)],
            vec![memory("read")],
        )
    }),
    case("buffered_raw_reads_of_half_locked_device_pages", |at| {
        let bottom = Bottom::new(at, DIRECT)?;
        let locked = lock(Path::new(&bottom.device.0), SIZE / 2);
        let job = bottom.raw("randread", json!({"direct": 0, "invalidate": 0}));
        situation(
            job,
            vec![Box::new(locked), Box::new(bottom)],
            vec![split("read", 0.5, 0.0, 0.5)],
        )
    }),
    case("direct_raw_reads_of_locked_device_pages", |at| {
        let bottom = Bottom::new(at, DIRECT)?;
        let locked = lock(Path::new(&bottom.device.0), SIZE);
        let job = bottom.raw("randread", json!({"invalidate": 0}));
        situation(
            job,
            vec![Box::new(locked), Box::new(bottom)],
            vec![device("read")],
        )
    }),
    case(
        "buffered_raw_reads_of_a_cached_loop_with_cached_image",
        |at| {
            let bottom = Bottom::new(at, CACHED)?;
            let locked = lock(&bottom.image, SIZE);
            let job = bottom.raw("randread", json!({"direct": 0}));
            situation(
                job,
                vec![Box::new(locked), Box::new(bottom)],
                vec![memory("read")],
            )
        },
    ),
    case(
        "buffered_raw_reads_with_device_pages_and_image_pages",
        |at| {
            let bottom = Bottom::new(at, CACHED)?;
            let image = lock(&bottom.image, SIZE / 2);
            let device = lock(Path::new(&bottom.device.0), SIZE / 4);
            let job = bottom.raw("randread", json!({"direct": 0, "invalidate": 0}));
            situation(
                job,
                vec![Box::new(image), Box::new(device), Box::new(bottom)],
                vec![split("read", 0.5, 0.0, 0.5)],
            )
        },
    ),
    case("direct_raw_reads_of_a_sparse_image", |at| {
        sparse_image(at, DIRECT, 0, zeros("read"))
    }),
    case("direct_raw_reads_of_a_half_sparse_image", |at| {
        sparse_image(at, DIRECT, SIZE / 2, split("read", 0.0, 0.5, 0.5))
    }),
    case("cached_raw_reads_of_a_sparse_image", |at| {
        sparse_image(at, CACHED, 0, no_device("read"))
    }),
    case("cached_raw_reads_of_a_half_sparse_image", |at| {
        let half = Truth {
            memory: 0.0..=0.51,
            zeros: 0.0..=0.51,
            ..split("read", 0.0, 0.5, 0.5)
        };
        sparse_image(at, CACHED, SIZE / 2, half)
    }),
    case("raw_reads_after_half_of_the_device_was_discarded", |at| {
        let bottom = Bottom::new(at, DIRECT)?;
        run("blkdiscard", &["-l", "8M", &bottom.device.0])?;
        let job = bottom.raw("randread", json!({}));
        situation(
            job,
            vec![Box::new(bottom)],
            vec![split("read", 0.0, 0.5, 0.5)],
        )
    }),
    case("device_discarded_mid_run", |at| {
        let bottom = Bottom::new(at, DIRECT)?;
        let job = bottom.raw("read", json!({"rate_iops": 2000}));
        // After about 1,500 of 4,096 sequential reads, a hole is punched into the second half of
        // the image. The expected shares are computed from the counter of the volume's device.
        let (image, counter) = (bottom.image.clone(), bottom.reads());
        let truth = bottom.counted_zeros();
        let volume = bottom.volume.device.0.clone();
        let prepared = situation_with(job, vec![Box::new(bottom)], truth);
        during(prepared, move || {
            wait_until(|| reads_of(&volume) > counter + 1500);
            punch(&image, SIZE / 2, SIZE / 2);
        })
    }),
    case("unwritten_image_below_a_direct_loop", |at| {
        let volume = without_readahead(at)?;
        let image = volume.at.join("image");
        run("fallocate", &["-l", "64M", image.to_str().unwrap()])?;
        let bottom = Bottom::of(volume, image, DIRECT)?;
        let job = bottom.raw("randread", json!({}));
        situation(job, vec![Box::new(bottom)], vec![zeros("read")])
    }),
    case("direct_raw_writes_to_a_sparse_image", |at| {
        sparse_image_written(at, DIRECT, device("write"))
    }),
    case("cached_raw_writes_to_a_sparse_image", |at| {
        sparse_image_written(at, CACHED, memory("write"))
    }),
    case("slow_cached_loop_next_to_a_plain_file", |at| {
        next_to_plain_file(at, 500, 4000)
    }),
    case("fast_cached_loop_next_to_a_slow_plain_file", |at| {
        next_to_plain_file(at, 8000, 300)
    }),
    case("cached_and_direct_loop_on_the_same_volume", |at| {
        let volume = without_readahead(at)?;
        let cached = volume.cold_file("cached", SIZE);
        let direct = volume.cold_file("direct", SIZE);
        let locked = (lock(&cached, SIZE), lock(&direct, SIZE));
        let (cached, direct) = (attach(&cached, CACHED)?, attach(&direct, DIRECT)?);
        let rate = json!({"direct": 1, "rate_iops": 2000});
        let job = jobs(&[
            timed(Path::new(&cached.0), "randread", rate.clone()),
            timed(Path::new(&direct.0), "randread", rate),
        ]);
        situation_with(
            job,
            vec![
                Box::new(locked),
                Box::new((cached, direct)),
                Box::new(volume),
            ],
            Box::new(first_job_in_memory),
        )
    }),
    case("two_loops_on_the_halves_of_a_half_cached_image", |at| {
        let volume = without_readahead(at)?;
        let image = volume.cold_file("image", 2 * SIZE);
        let locked = lock(&image, SIZE);
        let first = attach(&image, &["--direct-io=off", "--sizelimit=16M"])?;
        let second = attach(&image, &["--direct-io=off", "--offset=16M"])?;
        let once = json!({"direct": 1});
        let job = jobs(&[
            job(Path::new(&first.0), "randread", once.clone()),
            job(Path::new(&second.0), "randread", once),
        ]);
        situation_with(
            job,
            vec![
                Box::new(locked),
                Box::new((first, second)),
                Box::new(volume),
            ],
            Box::new(first_job_in_memory),
        )
    }),
    case(
        "loop_with_offset_on_the_cold_half_of_a_cached_image",
        |at| {
            let volume = without_readahead(at)?;
            let image = volume.cold_file("image", 2 * SIZE);
            let locked = lock(&image, SIZE);
            let top = attach(&image, &["--direct-io=off", "--offset=16M"])?;
            let job = job(Path::new(&top.0), "randread", json!({"direct": 1}));
            situation(
                job,
                vec![Box::new(locked), Box::new(top), Box::new(volume)],
                vec![device("read")],
            )
        },
    ),
    case("direct_loop_over_a_cached_loop_with_cached_image", |at| {
        let bottom = Bottom::new(at, CACHED)?;
        let locked = lock(&bottom.image, SIZE);
        over(bottom, DIRECT, Box::new(locked), "randread", memory("read"))
    }),
    case("direct_loop_over_a_cached_loop_with_cold_image", |at| {
        over(
            Bottom::new(at, CACHED)?,
            DIRECT,
            Box::new(()),
            "randread",
            device("read"),
        )
    }),
    case(
        "cached_loop_over_a_direct_loop_with_cold_device_pages",
        |at| {
            over(
                Bottom::new(at, DIRECT)?,
                CACHED,
                Box::new(()),
                "randread",
                device("read"),
            )
        },
    ),
    case(
        "cached_loop_over_a_direct_loop_with_cached_device_pages",
        |at| {
            let bottom = Bottom::new(at, DIRECT)?;
            let locked = lock(Path::new(&bottom.device.0), SIZE);
            over(bottom, CACHED, Box::new(locked), "randread", memory("read"))
        },
    ),
    case("partition_of_a_direct_loop", |at| {
        partition(at, DIRECT, device("read"))
    }),
    case("partition_of_a_cached_loop_with_cached_image", |at| {
        partition(at, CACHED, memory("read"))
    }),
    case("partition_beyond_the_cached_part_of_an_image", |at| {
        let bottom = Bottom::partitioned(at, CACHED)?;
        let locked = lock(&bottom.image, 8 * MIB);
        partition_of(
            bottom,
            Box::new(locked),
            split("read", 7.0 / 16.0, 0.0, 9.0 / 16.0),
        )
    }),
    case("runner_created_loop_with_direct_reads", |at| {
        runner_created_loop_reads(at, json!({"direct": 1}))
    }),
    case("runner_created_loop_with_buffered_reads", |at| {
        runner_created_loop_reads(at, json!({"direct": 0}))
    }),
    case("runner_created_loop_with_direct_writes", |at| {
        let volume = without_readahead(at)?;
        let job = job(
            &volume.at.join("image"),
            "randwrite",
            json!({"loop_device": 1, "direct": 1}),
        );
        let job = without_fallocate(job);
        let truth = counted_writes(volume.device.0.clone());
        situation_with(job, vec![Box::new(volume)], truth)
    }),
    case("runner_created_loop_with_buffered_writes", |at| {
        let volume = without_readahead(at)?;
        let job = job(
            &volume.at.join("image"),
            "randwrite",
            json!({"loop_device": 1}),
        );
        situation(
            without_fallocate(job),
            vec![Box::new(volume)],
            vec![memory("write")],
        )
    }),
];

/// Disables readahead so that each read of an image reads only one page. A file inherits this
/// setting when it is opened.
fn without_readahead(at: &Path) -> Result<Volume, String> {
    let volume = ext4(at)?;
    set_readahead(&volume.device.0, "0")?;
    Ok(volume)
}

fn set_readahead(device: &str, kib: &str) -> Result<(), String> {
    let setting = device.replace("/dev/", "/sys/block/") + "/queue/read_ahead_kb";
    std::fs::write(setting, kib).map_err(|error| error.to_string())
}

fn without_fallocate(mut job: Value) -> Value {
    job.as_object_mut().unwrap().remove("fallocate");
    job
}

/// A loop device without readahead, backed by an image on a volume. The image holds data, and none
/// of its pages are cached.
struct Bottom {
    device: Loop,
    image: PathBuf,
    volume: Volume,
}

impl Bottom {
    fn new(at: &Path, options: &[&str]) -> Result<Self, String> {
        let volume = without_readahead(at)?;
        let image = volume.cold_file("image", 64 * MIB);
        Self::of(volume, image, options)
    }

    fn partitioned(at: &Path, options: &[&str]) -> Result<Self, String> {
        let bottom = Self::new(at, &[options, &["--partscan"]].concat())?;
        run("addpart", &[&bottom.device.0, "1", "2048", "32768"])?;
        drop_pages(Path::new(&bottom.device.0));
        drop_pages(&bottom.image);
        Ok(bottom)
    }

    fn of(volume: Volume, image: PathBuf, options: &[&str]) -> Result<Self, String> {
        let device = attach(&image, options)?;
        // If another loop device is on top of this one, it reads through this one's page cache.
        set_readahead(&device.0, "0")?;
        // udev scans the device for partition tables and filesystems, which reads parts of it.
        let _ = run("udevadm", &["settle"]);
        drop_pages(Path::new(&device.0));
        drop_pages(&image);
        Ok(Self {
            device,
            image,
            volume,
        })
    }

    /// One pass of direct I/O on the device.
    fn raw(&self, rw: &str, changes: Value) -> Value {
        let job = job(
            Path::new(&self.device.0),
            rw,
            with(&json!({"direct": 1}), changes),
        );
        without_fallocate(job)
    }

    fn counted_reads(&self) -> crate::case::Expected {
        counted_reads(self.volume.device.0.clone())
    }

    fn reads(&self) -> u64 {
        reads_of(&self.volume.device.0)
    }

    /// Reads that did not reach the volume's device were served from holes.
    fn counted_zeros(&self) -> crate::case::Expected {
        let (device, before) = (self.volume.device.0.clone(), self.reads());
        Box::new(move |result| {
            let share = (reads_of(&device) - before) as f64 / ios(result, "read");
            vec![split("read", 0.0, 1.0 - share, share.min(1.0))]
        })
    }
}

fn punch(image: &Path, offset: u64, bytes: u64) {
    let (offset, bytes) = (offset.to_string(), bytes.to_string());
    let options = [
        "--punch-hole",
        "-o",
        &offset,
        "-l",
        &bytes,
        image.to_str().unwrap(),
    ];
    run("fallocate", &options).unwrap();
}

fn raw(at: &Path, options: &[&str], rw: &str, changes: Value, truth: Truth) -> Prepared {
    let bottom = Bottom::new(at, options)?;
    let job = bottom.raw(rw, changes);
    situation(job, vec![Box::new(bottom)], vec![truth])
}

fn raw_locked(at: &Path, options: &[&str], truth: Truth) -> Prepared {
    let bottom = Bottom::new(at, options)?;
    let locked = lock(&bottom.image, SIZE);
    let job = bottom.raw("randread", json!({}));
    situation(job, vec![Box::new(locked), Box::new(bottom)], vec![truth])
}

/// Uses a file on a filesystem on a loop device whose image is on a volume.
fn file_on_loop(
    at: &Path,
    options: &[&str],
    is_cached: bool,
    rw: &str,
    changes: Value,
    truth: Truth,
) -> Prepared {
    file_in_blocks(at, 4096, options, is_cached, rw, changes, truth)
}

/// An fsync flushes the first 3,000 of 4,096 writes.
fn some_fsyncs(at: &Path, block_size: u64) -> Prepared {
    let truth = split("write", 1096.0 / 4096.0, 0.0, 3000.0 / 4096.0);
    let changes = json!({"direct": 1, "fsync": 3000});
    file_in_blocks(at, block_size, CACHED, false, "randwrite", changes, truth)
}

fn file_in_blocks(
    at: &Path,
    block_size: u64,
    options: &[&str],
    is_cached: bool,
    rw: &str,
    changes: Value,
    truth: Truth,
) -> Prepared {
    let volume = without_readahead(at)?;
    let image = volume.cold_file("image", 64 * MIB);
    let device = attach(&image, options)?;
    let make =
        format!("mkfs.ext4 -q -b {block_size} -E nodiscard,lazy_itable_init=0,lazy_journal_init=0");
    make_filesystem(&make, &device.0)?;
    let mounted_at = at.join("upper");
    let mounted = Mounted::new(&device.0, &mounted_at);
    let path = cold_file(&mounted_at, "f", SIZE);
    run("sync", &["-f", mounted_at.to_str().unwrap()])?;
    drop_pages(&image);
    let locked = is_cached.then(|| lock(&image, 64 * MIB));
    let job = job(&path, rw, changes);
    situation(
        job,
        vec![
            Box::new(locked),
            Box::new(mounted),
            Box::new(device),
            Box::new(volume),
        ],
        vec![truth],
    )
}

fn sparse_image(at: &Path, options: &[&str], written: u64, truth: Truth) -> Prepared {
    let volume = without_readahead(at)?;
    let image = volume.cold_file("image", written);
    open(&image).set_len(64 * MIB).unwrap();
    let bottom = Bottom::of(volume, image, options)?;
    let job = bottom.raw("randread", json!({}));
    situation(job, vec![Box::new(bottom)], vec![truth])
}

fn sparse_image_written(at: &Path, options: &[&str], truth: Truth) -> Prepared {
    let volume = without_readahead(at)?;
    let image = volume.at.join("image");
    sparse(&image, 64 * MIB);
    let bottom = Bottom::of(volume, image, options)?;
    let job = bottom.raw("randwrite", json!({}));
    situation(job, vec![Box::new(bottom)], vec![truth])
}

fn first_job_in_memory(result: &Value) -> Vec<Truth> {
    let share = job_ios(result, 0, "read") / ios(result, "read");
    vec![split("read", share, 0.0, 1.0 - share)]
}

fn next_to_plain_file(at: &Path, loop_rate: u64, file_rate: u64) -> Prepared {
    let bottom = Bottom::new(at, CACHED)?;
    let locked = lock(&bottom.image, SIZE);
    let plain = bottom.volume.cold_file("plain", SIZE);
    let cached = timed(
        Path::new(&bottom.device.0),
        "randread",
        json!({"direct": 1, "rate_iops": loop_rate}),
    );
    let plain = timed(
        &plain,
        "randread",
        json!({"direct": 1, "rate_iops": file_rate}),
    );
    let job = jobs(&[cached, plain]);
    situation_with(
        job,
        vec![Box::new(locked), Box::new(bottom)],
        Box::new(first_job_in_memory),
    )
}

/// A second loop device, on top of the first one.
fn over(
    bottom: Bottom,
    options: &[&str],
    locked: Box<dyn std::any::Any>,
    rw: &str,
    truth: Truth,
) -> Prepared {
    let top = attach(Path::new(&bottom.device.0), options)?;
    let job = job(Path::new(&top.0), rw, json!({"direct": 1}));
    situation(
        without_fallocate(job),
        vec![Box::new(top), locked, Box::new(bottom)],
        vec![truth],
    )
}

fn partition(at: &Path, options: &[&str], truth: Truth) -> Prepared {
    let bottom = Bottom::partitioned(at, options)?;
    let locked = lock(&bottom.image, 32 * MIB);
    partition_of(bottom, Box::new(locked), truth)
}

/// Reads the partition, which starts at 1 MiB and is 16 MiB long.
fn partition_of(bottom: Bottom, locked: Box<dyn std::any::Any>, truth: Truth) -> Prepared {
    let path = format!("{}p1", bottom.device.0);
    let job = without_fallocate(job(Path::new(&path), "randread", json!({"direct": 1})));
    situation(job, vec![locked, Box::new(bottom)], vec![truth])
}

/// Reads from a loop device that the run creates on an existing file.
fn runner_created_loop_reads(at: &Path, changes: Value) -> Prepared {
    let volume = without_readahead(at)?;
    let image = volume.cold_file("image", SIZE);
    let job = job(
        &image,
        "randread",
        with(&json!({"loop_device": 1}), changes),
    );
    let truth = counted_reads(volume.device.0.clone());
    situation_with(without_fallocate(job), vec![Box::new(volume)], truth)
}

/// Writes that reached the device, except the layout's requests of up to 1 MiB.
fn counted_writes(device: String) -> crate::case::Expected {
    let before = writes_of(&device);
    Box::new(move |result| {
        let share = ((writes_of(&device) - before) as f64 / ios(result, "write")).min(1.0);
        vec![Truth {
            device: share - 0.05..=share,
            memory: 1.0 - share..=1.05 - share,
            ..split("write", 0.0, 0.0, 0.0)
        }]
    })
}
