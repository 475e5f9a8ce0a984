//! Memory devices, stacked filesystems, and images on unusual filesystems.

use super::builders::*;
use crate::{
    case::{Case, Truth},
    scratch::{Mounted, run},
};
use serde_json::{Value, json};
use std::{
    any::Any,
    fs,
    path::{Path, PathBuf},
};

const DIRECT_JOB: fn() -> Value = || json!({"direct": 1});

pub(super) const CASES: &[Case] = &[
    case("buffered_writes_to_tmpfs", |at| {
        on_tmpfs(at, "randwrite", json!({}), vec![memory("write")])
    }),
    case("direct_writes_to_tmpfs", |at| {
        on_tmpfs(at, "randwrite", DIRECT_JOB(), vec![memory("write")])
    }),
    case("synchronous_writes_to_tmpfs", |at| {
        on_tmpfs(
            at,
            "randwrite",
            json!({"sync": "dsync", "fsync": 1}),
            vec![memory("write")],
        )
    }),
    case("mixed_job_on_tmpfs", |at| {
        on_tmpfs(
            at,
            "randrw",
            json!({}),
            vec![memory("read"), memory("write")],
        )
    }),
    case("tmpfs_next_to_direct_reads_from_a_disk", |at| {
        let volume = ext4(at)?;
        let (mounted, memory_file) = tmpfs_file(&volume.at)?;
        let disk_file = volume.cold_file("disk", SIZE);
        let rate = json!({"rate_iops": 2000});
        let job = jobs(&[
            timed(&memory_file, "randread", rate.clone()),
            timed(
                &disk_file,
                "randread",
                json!({"direct": 1, "rate_iops": 2000}),
            ),
        ]);
        situation_with(
            job,
            vec![Box::new(mounted), Box::new(volume)],
            Box::new(|result| {
                let share = job_ios(result, 0, "read") / ios(result, "read");
                vec![split("read", share, 0.0, 1.0 - share)]
            }),
        )
    }),
    case("link_from_a_disk_to_tmpfs", |at| {
        let volume = ext4(at)?;
        let (mounted, path) = tmpfs_file(&volume.at)?;
        let link = volume.at.join("link");
        std::os::unix::fs::symlink(path, &link).unwrap();
        let job = job(&link, "randread", json!({}));
        situation(
            job,
            vec![Box::new(mounted), Box::new(volume)],
            vec![memory("read")],
        )
    }),
    case("disk_mounted_below_a_tmpfs", |at| {
        let (mounted, path) = tmpfs_file(at)?;
        let volume = ext4(at)?;
        let inner = path.with_file_name("inner");
        let bound = Mounted::with_options(volume.at.to_str().unwrap(), &inner, "bind");
        cold_file(&inner, "f", SIZE);
        let job = job(&inner.join("f"), "randread", DIRECT_JOB());
        situation(
            job,
            vec![Box::new(bound), Box::new(volume), Box::new(mounted)],
            vec![device("read")],
        )
    }),
    case("cached_loop_on_tmpfs", |at| {
        loop_on_tmpfs(at, CACHED, "randread", memory("read"))
    }),
    case("direct_loop_on_tmpfs", |at| {
        loop_on_tmpfs(at, DIRECT, "randread", memory("read"))
    }),
    case("writes_to_a_cached_loop_on_tmpfs", |at| {
        loop_on_tmpfs(at, CACHED, "randwrite", memory("write"))
    }),
    case("writes_to_a_direct_loop_on_tmpfs", |at| {
        loop_on_tmpfs(at, DIRECT, "randwrite", memory("write"))
    }),
    case("files_on_a_loop_on_tmpfs", |at| {
        files_on_tmpfs(at, "randread", DIRECT_JOB(), memory("read"))
    }),
    case("synchronous_writes_to_files_on_a_loop_on_tmpfs", |at| {
        files_on_tmpfs(
            at,
            "randwrite",
            json!({"direct": 1, "sync": "dsync"}),
            memory("write"),
        )
    }),
    case("direct_loop_on_an_image_compressed_by_btrfs", |at| {
        compressed_image(at, DIRECT)
    }),
    case("cached_loop_on_an_image_compressed_by_btrfs", |at| {
        compressed_image(at, CACHED)
    }),
    case("direct_loop_on_an_image_with_journaled_data", |at| {
        let volume = volume(at, EXT4, "data=journal,commit=60")?;
        let image = volume.cold_file("image", 64 * MIB);
        let locked = lock(&image, SIZE);
        raw_read(
            &image,
            DIRECT,
            vec![Box::new(locked), Box::new(volume)],
            memory("read"),
        )
    }),
    case("raw_reads_of_zram", |at| {
        on_zram(at, "randread", true, vec![memory("read")])
    }),
    case("raw_reads_of_unwritten_zram", |at| {
        on_zram(at, "randread", false, vec![no_device("read")])
    }),
    case("files_on_zram", |at| {
        let zram = Zram::new()?;
        make_filesystem(EXT4, "/dev/zram0")?;
        let mounted = Mounted::new("/dev/zram0", &at.join("zram"));
        let path = cold_file(&at.join("zram"), "f", SIZE);
        let job = job(&path, "randread", DIRECT_JOB());
        situation(
            job,
            vec![Box::new(mounted), Box::new(zram)],
            vec![memory("read")],
        )
    }),
    case("synchronous_writes_to_files_on_zram", |at| {
        let zram = Zram::new()?;
        make_filesystem(EXT4, "/dev/zram0")?;
        let mounted = Mounted::new("/dev/zram0", &at.join("zram"));
        let path = cold_file(&at.join("zram"), "f", SIZE);
        let job = job(&path, "randwrite", json!({"direct": 1, "fsync": 8}));
        situation(
            job,
            vec![Box::new(mounted), Box::new(zram)],
            vec![memory("write")],
        )
    }),
    case("direct_loop_on_a_filesystem_on_zram", |at| {
        let zram = Zram::new()?;
        make_filesystem(EXT4, "/dev/zram0")?;
        let mounted = Mounted::new("/dev/zram0", &at.join("zram"));
        let image = cold_file(&at.join("zram"), "image", SIZE);
        raw_read(
            &image,
            DIRECT,
            vec![Box::new(mounted), Box::new(zram)],
            memory("read"),
        )
    }),
    case("direct_reads_of_a_lower_file_through_overlayfs", |at| {
        overlay(at, "randread", false, DIRECT_JOB(), device("read"))
    }),
    case(
        "buffered_reads_of_a_cold_lower_file_through_overlayfs",
        |at| overlay(at, "randread", false, json!({}), device("read")),
    ),
    case(
        "buffered_reads_of_a_locked_lower_file_through_overlayfs",
        |at| {
            overlay(
                at,
                "randread",
                true,
                json!({"invalidate": 0}),
                memory("read"),
            )
        },
    ),
    case("direct_writes_through_overlayfs", |at| {
        overlay(at, "randwrite", false, DIRECT_JOB(), device("write"))
    }),
    case("buffered_writes_through_overlayfs", |at| {
        overlay(at, "randwrite", false, json!({}), memory("write"))
    }),
    case("synchronous_writes_through_overlayfs", |at| {
        overlay(
            at,
            "randwrite",
            false,
            json!({"sync": "dsync", "size": "4m"}),
            device("write"),
        )
    }),
    case("volatile_overlayfs_ignores_fsync", |at| {
        overlay_with(
            at,
            "volatile,",
            "randwrite",
            false,
            json!({"fsync": 64}),
            memory("write"),
        )
    }),
    case("direct_reads_of_holes_through_overlayfs", |at| {
        let volume = ext4(at)?;
        let mounted = mount_overlay(at, &volume, "")?;
        let path = at.join("merged/holes");
        sparse(&path, SIZE);
        let job = job(&path, "randread", DIRECT_JOB());
        situation(
            job,
            vec![Box::new(mounted), Box::new(volume)],
            vec![zeros("read")],
        )
    }),
    case("trims_next_to_cached_reads", |at| {
        let volume = ext4(at)?;
        let warm = volume.cold_file("warm", SIZE);
        let locked = lock(&warm, SIZE);
        let image = volume.cold_file("image", 64 * MIB);
        let trimmed = attach(&image, DIRECT)?;
        let mut trims = timed(
            Path::new(&trimmed.0),
            "randtrim",
            json!({"direct": 1, "rate_iops": 500}),
        );
        trims.as_object_mut().unwrap().remove("fallocate");
        let job = jobs(&[
            timed(
                &warm,
                "randread",
                json!({"invalidate": 0, "rate_iops": 2000}),
            ),
            trims,
        ]);
        situation(
            job,
            vec![Box::new(locked), Box::new(trimmed), Box::new(volume)],
            vec![memory("read")],
        )
    }),
    case("filesystem_trimmed_next_to_buffered_writes", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let mount = volume.at.to_str().unwrap().to_string();
        let prepared = situation(
            job(&path, "write", json!({"rate_iops": 4000})),
            vec![Box::new(volume)],
            vec![memory("write")],
        );
        during(prepared, move || {
            wait_until_dirty(&path, 0, MIB);
            run("fstrim", &[&mount]).unwrap();
        })
    }),
];

/// A fully written file on a new tmpfs.
fn tmpfs_file(at: &Path) -> Result<(Mounted, PathBuf), String> {
    let at = at.join("memory");
    fs::create_dir_all(&at).unwrap();
    let target = at.to_str().unwrap();
    run(
        "mount",
        &["-t", "tmpfs", "-o", "size=256m", "memory", target],
    )?;
    let mounted = Mounted::existing(&at);
    let path = at.join("f");
    crate::scratch::image(&path, SIZE);
    Ok((mounted, path))
}

fn on_tmpfs(at: &Path, rw: &str, changes: Value, truths: Vec<Truth>) -> Prepared {
    let (mounted, path) = tmpfs_file(at)?;
    situation(job(&path, rw, changes), vec![Box::new(mounted)], truths)
}

fn raw(device: &str, rw: &str) -> Value {
    let mut job = job(Path::new(device), rw, DIRECT_JOB());
    job.as_object_mut().unwrap().remove("fallocate");
    job
}

/// Reads from a new loop device on the image.
fn raw_read(
    image: &Path,
    options: &[&str],
    mut resources: Vec<Box<dyn Any>>,
    truth: Truth,
) -> Prepared {
    let device = attach(image, options)?;
    let job = raw(&device.0, "randread");
    resources.insert(0, Box::new(device));
    situation(job, resources, vec![truth])
}

fn loop_on_tmpfs(at: &Path, options: &[&str], rw: &str, truth: Truth) -> Prepared {
    let (mounted, image) = tmpfs_file(at)?;
    let device = attach(&image, options)?;
    situation(
        raw(&device.0, rw),
        vec![Box::new(device), Box::new(mounted)],
        vec![truth],
    )
}

fn files_on_tmpfs(at: &Path, rw: &str, changes: Value, truth: Truth) -> Prepared {
    let (mounted, _) = tmpfs_file(at)?;
    let image = at.join("memory/image");
    sparse(&image, 128 * MIB);
    let device = attach(&image, CACHED)?;
    make_filesystem(EXT4, &device.0)?;
    let upper = Mounted::new(&device.0, &at.join("upper"));
    let path = cold_file(&at.join("upper"), "f", SIZE);
    let resources: Vec<Box<dyn Any>> = vec![Box::new(upper), Box::new(device), Box::new(mounted)];
    situation(job(&path, rw, changes), resources, vec![truth])
}

/// Compressed extents are always read through the page cache, even if the loop device uses direct
/// I/O.
fn compressed_image(at: &Path, options: &[&str]) -> Prepared {
    let volume = volume(at, BTRFS, "compress-force=zstd")?;
    let image = volume.cold_file("image", 64 * MIB);
    let locked = lock(&image, SIZE);
    raw_read(
        &image,
        options,
        vec![Box::new(locked), Box::new(volume)],
        memory("read"),
    )
}

/// The first zram device, if it is unused. Reset on drop.
struct Zram;

impl Zram {
    fn new() -> Result<Self, String> {
        let size = "/sys/block/zram0/disksize";
        if fs::read_to_string(size)
            .map_err(|error| error.to_string())?
            .trim()
            != "0"
        {
            return Err("zram0 is in use".into());
        }
        fs::write(size, "256M").map_err(|error| error.to_string())?;
        Ok(Self)
    }
}

impl Drop for Zram {
    fn drop(&mut self) {
        // udev may keep the device open briefly.
        wait_until(|| fs::write("/sys/block/zram0/reset", "1").is_ok());
    }
}

fn on_zram(_: &Path, rw: &str, is_written: bool, truths: Vec<Truth>) -> Prepared {
    let zram = Zram::new()?;
    if is_written {
        // Do not use pages filled with a single value, because zram does not store them.
        run(
            "dd",
            &[
                "if=/dev/urandom",
                "of=/dev/zram0",
                "bs=1M",
                "count=16",
                "oflag=direct",
            ],
        )?;
    }
    situation(raw("/dev/zram0", rw), vec![Box::new(zram)], truths)
}

fn mount_overlay(at: &Path, volume: &Volume, options: &str) -> Result<Mounted, String> {
    for name in ["lower", "upper", "work"] {
        fs::create_dir_all(volume.at.join(name)).unwrap();
    }
    let merged = at.join("merged");
    fs::create_dir(&merged).unwrap();
    let base = volume.at.display();
    let options =
        format!("{options}lowerdir={base}/lower,upperdir={base}/upper,workdir={base}/work");
    run(
        "mount",
        &[
            "-t",
            "overlay",
            "-o",
            &options,
            "overlay",
            merged.to_str().unwrap(),
        ],
    )?;
    Ok(Mounted::existing(&merged))
}

fn overlay(at: &Path, rw: &str, is_locked: bool, changes: Value, truth: Truth) -> Prepared {
    overlay_with(at, "", rw, is_locked, changes, truth)
}

fn overlay_with(
    at: &Path,
    options: &str,
    rw: &str,
    is_locked: bool,
    changes: Value,
    truth: Truth,
) -> Prepared {
    let volume = ext4(at)?;
    fs::create_dir(volume.at.join("lower")).unwrap();
    let lower = volume.cold_file("lower/f", SIZE);
    let locked = is_locked.then(|| lock(&lower, SIZE));
    let mounted = mount_overlay(at, &volume, options)?;
    let job = job(&at.join("merged/f"), rw, changes);
    situation(
        job,
        vec![Box::new(locked), Box::new(mounted), Box::new(volume)],
        vec![truth],
    )
}
