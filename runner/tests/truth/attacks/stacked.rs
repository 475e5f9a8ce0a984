//! Stacks: filesystems on multiple devices, loop devices with offsets and multiple layers, overlays
//! that change during the run, mounts of single files, and devices that are actually memory.

use super::lock_stripes;
use crate::{
    case::{Case, Situation, Truth},
    reads::setup::{self, Prepared},
    scratch::{Loop, Mounted, program::with, run},
    writes::builders::*,
};
use serde_json::{Value, json};
use std::{
    any::Any,
    fs,
    path::{Path, PathBuf},
    thread::sleep,
    time::Duration,
};

type Resources = Vec<Box<dyn Any>>;

fn direct_reads(path: &Path) -> Value {
    job(path, "randread", json!({"direct": 1, "invalidate": 0}))
}

fn raw_reads(device: &Loop) -> Value {
    let mut job = direct_reads(Path::new(&device.0));
    job.as_object_mut().unwrap().remove("fallocate");
    job
}

/// A tmpfs below `at`.
fn tmpfs(at: &Path) -> (PathBuf, Box<dyn Any>) {
    setup::tmpfs_of(at, "900m")
}

/// A 600 MiB disk backed by a file in the directory.
fn disk(at: &Path, name: &str) -> Result<Loop, String> {
    let image = at.join(name);
    sparse(&image, 600 * MIB);
    attach(&image, DIRECT)
}

/// btrfs on two disks, the second of which may be in memory.
fn two_disks(at: &Path, profile: &str, in_memory: bool) -> Result<(PathBuf, Resources), String> {
    let (memory, tmpfs) = tmpfs(at);
    let first = disk(at, "first")?;
    let second = disk(if in_memory { &memory } else { at }, "second")?;
    let (one, two) = (first.0.clone(), second.0.clone());
    run(
        "mkfs.btrfs",
        &["-q", "-f", "-d", profile, "-m", "raid1", &one, &two],
    )?;
    let mounted = at.join("mounted");
    let options = format!("device={one},device={two}");
    let mount = Mounted::with_options(&one, &mounted, &options);
    let path = cold_file(&mounted, "f", SIZE);
    Ok((
        path,
        vec![Box::new(mount), Box::new((first, second)), tmpfs],
    ))
}

/// Direct reads of a file that is striped across a disk and a disk in memory. The truth is the
/// first disk's counter.
fn striped(at: &Path) -> Prepared {
    let (memory, tmpfs) = tmpfs(at);
    let (first, second) = (disk(at, "first")?, disk(&memory, "second")?);
    let (one, two) = (first.0.clone(), second.0.clone());
    run(
        "mkfs.btrfs",
        &["-q", "-f", "-d", "raid0", "-m", "raid1", &one, &two],
    )?;
    let mounted = at.join("mounted");
    let mount = Mounted::with_options(&one, &mounted, &format!("device={two},nodatasum"));
    let path = cold_file(&mounted, "f", SIZE);
    let before = reads_of(&one);
    situation_with(
        direct_reads(&path),
        vec![Box::new(mount), Box::new((first, second)), tmpfs],
        Box::new(move |result| {
            let share = (reads_of(&one) - before) as f64 / ios(result, "read");
            vec![split("read", 1.0 - share, 0.0, share)]
        }),
    )
}

/// XFS with its files on a realtime device.
fn realtime(at: &Path, main_in_memory: bool) -> Prepared {
    let (memory_at, tmpfs) = tmpfs(at);
    let (main_at, realtime_at) = if main_in_memory {
        (memory_at.as_path(), at)
    } else {
        (at, memory_at.as_path())
    };
    let (main, realtime) = (disk(main_at, "main")?, disk(realtime_at, "realtime")?);
    let option = format!("rtdev={}", realtime.0);
    run(
        "mkfs.xfs",
        &["-q", "-f", "-d", "rtinherit=1", "-r", &option, &main.0],
    )?;
    let mounted = at.join("mounted");
    fs::create_dir(&mounted).unwrap();
    // Not every kernel supports realtime devices.
    run(
        "mount",
        &["-o", &option, &main.0, mounted.to_str().unwrap()],
    )?;
    let mount = Mounted::existing(&mounted);
    let path = cold_file(&mounted, "f", SIZE);
    let truth = if main_in_memory {
        device("read")
    } else {
        memory("read")
    };
    situation(
        direct_reads(&path),
        vec![Box::new(mount), Box::new((main, realtime)), tmpfs],
        vec![truth],
    )
}

/// ext4 on a disk, with its journal on a disk in memory.
fn external_journal(at: &Path, changes: Value) -> Prepared {
    let (memory_at, tmpfs) = tmpfs(at);
    let (main, journal) = (disk(at, "main")?, disk(&memory_at, "journal")?);
    run(
        "mke2fs",
        &["-q", "-O", "journal_dev", "-b", "4096", &journal.0],
    )?;
    let option = format!("device={}", journal.0);
    run("mkfs.ext4", &["-q", "-b", "4096", "-J", &option, &main.0])?;
    let mounted = at.join("mounted");
    let mount = Mounted::new(&main.0, &mounted);
    let path = cold_file(&mounted, "f", 4 * MIB);
    situation(
        job(&path, "randwrite", with(&json!({"size": "4m"}), changes)),
        vec![Box::new(mount), Box::new((main, journal)), tmpfs],
        vec![device("write")],
    )
}

/// A volume whose device has readahead disabled.
fn without_readahead(at: &Path, make: &str) -> Result<Volume, String> {
    let volume = volume(at, make, "defaults")?;
    let name = volume.device.name();
    let of_device = PathBuf::from(format!("/sys/block/{name}/queue/read_ahead_kb"));
    let settings = btrfs_readahead(name).into_iter().chain([of_device]);
    for setting in settings {
        fs::write(setting, "0").map_err(|error| error.to_string())?;
    }
    Ok(volume)
}

/// btrfs has its own readahead setting, which is at least 4 MiB.
fn btrfs_readahead(device: &str) -> Option<PathBuf> {
    let filesystems = fs::read_dir("/sys/fs/btrfs").ok()?.flatten();
    filesystems
        .map(|filesystem| filesystem.path())
        .find(|filesystem| filesystem.join("devices").join(device).exists())
        .map(|filesystem| filesystem.join("bdi/read_ahead_kb"))
}

/// Raw reads of a loop device whose image is on a filesystem.
fn image_on(at: &Path, make: &str, options: &[&str], locked: u64) -> Prepared {
    let volume = without_readahead(at, make)?;
    let image = volume.cold_file("image", 64 * MIB);
    let device = attach(&image, options)?;
    drop_scanned_pages(&device, &image);
    let locked = (locked > 0).then(|| lock(&image, locked));
    let truth = counted_reads(volume.device.0.clone());
    situation_with(
        raw_reads(&device),
        vec![Box::new(locked), Box::new(device), Box::new(volume)],
        truth,
    )
}

/// Drops the pages that were read when the new device was scanned.
fn drop_scanned_pages(device: &Loop, image: &Path) {
    let _ = run("udevadm", &["settle"]);
    drop_pages(Path::new(&device.0));
    drop_pages(image);
}

/// An overlay of a lower and an upper directory, each of which may be in memory.
struct Overlay {
    merged: PathBuf,
    lower: PathBuf,
    resources: Resources,
}

fn overlay(at: &Path, lower: &Path, upper: &Path) -> Overlay {
    let (lower, merged) = (lower.join("lower"), at.join("merged"));
    for path in [
        lower.clone(),
        upper.join("upper"),
        upper.join("work"),
        merged.clone(),
    ] {
        fs::create_dir(path).unwrap();
    }
    cold_file(&lower, "f", SIZE);
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        lower.display(),
        upper.join("upper").display(),
        upper.join("work").display()
    );
    let target = merged.to_str().unwrap();
    run("mount", &["-t", "overlay", "-o", &options, "none", target]).unwrap();
    Overlay {
        resources: vec![Box::new(Mounted::existing(&merged))],
        merged,
        lower,
    }
}

/// The job opens the file in the lower layer, and keeps reading it after a neighbor has caused a
/// copy-up.
fn copied_up(at: &Path, in_memory: &str) -> Prepared {
    let volume = ext4(at)?;
    let (memory_at, tmpfs) = tmpfs(at);
    let truth = if in_memory == "lower" {
        memory("read")
    } else {
        device("read")
    };
    let (lower, upper) = if in_memory == "lower" {
        (&memory_at, &volume.at)
    } else {
        (&volume.at, &memory_at)
    };
    let mut overlay = overlay(at, lower, upper);
    let path = overlay.merged.join("f");
    let reads = with(&direct_reads(&path), json!({"rate_iops": 3000}));
    overlay
        .resources
        .extend([Box::new(volume) as Box<dyn Any>, tmpfs]);
    let prepared = situation(reads, overlay.resources, vec![truth]);
    during(prepared, move || {
        sleep(Duration::from_millis(500));
        drop(fs::File::options().append(true).open(&path).unwrap());
    })
}

/// An overlay whose lower directory is an overlay.
fn overlay_of_overlay(at: &Path, locked: u64, changes: Value) -> Prepared {
    let volume = ext4(at)?;
    let lower_at = volume.at.join("one");
    fs::create_dir(&lower_at).unwrap();
    let inner = overlay(&lower_at, &lower_at, &volume.at);
    let merged = at.join("outer");
    let upper = volume.at.join("outer");
    for path in [&merged, &upper] {
        fs::create_dir(path).unwrap();
    }
    fs::create_dir(upper.join("upper")).unwrap();
    fs::create_dir(upper.join("work")).unwrap();
    let options = format!(
        "lowerdir={},upperdir={},workdir={}",
        inner.merged.display(),
        upper.join("upper").display(),
        upper.join("work").display()
    );
    run(
        "mount",
        &[
            "-t",
            "overlay",
            "-o",
            &options,
            "none",
            merged.to_str().unwrap(),
        ],
    )?;
    let outer = Mounted::existing(&merged);
    let locked = (locked > 0).then(|| lock(&inner.lower.join("f"), locked));
    let truth = counted_reads(volume.device.0.clone());
    let changes = with(&json!({"invalidate": 0}), changes);
    let job = job(&merged.join("f"), "randread", changes);
    let mut resources: Resources = vec![Box::new(locked), Box::new(outer)];
    resources.extend(inner.resources);
    resources.push(Box::new(volume));
    situation_with(job, resources, truth)
}

/// A loop device on an overlay file whose lower directory is on a private disk.
fn loop_on_overlay(at: &Path, options: &[&str], locked: u64) -> Prepared {
    let volume = without_readahead(at, EXT4)?;
    let overlay = overlay(at, &volume.at, &volume.at);
    let image = overlay.merged.join("f");
    // Read-only, because opening the image for writing would cause a copy-up.
    let device = attach(&image, &[options, &["--read-only"]].concat())?;
    drop_scanned_pages(&device, &image);
    drop_pages(&overlay.lower.join("f"));
    let locked = (locked > 0).then(|| lock(&overlay.lower.join("f"), locked));
    let truth = counted_reads(volume.device.0.clone());
    let mut resources: Resources = vec![Box::new(locked)];
    let job = raw_reads(&device);
    resources.push(Box::new(device));
    resources.extend(overlay.resources);
    resources.push(Box::new(volume));
    situation_with(job, resources, truth)
}

/// Bind-mounts a file or directory of another filesystem over `to`.
fn bound(at: &Path, from: &Path, to: &Path) -> Mounted {
    run(
        "mount",
        &["--bind", from.to_str().unwrap(), to.to_str().unwrap()],
    )
    .unwrap();
    let _ = at;
    Mounted::existing(to)
}

pub(super) const CASES: &[Case] = &[
    // Filesystems on multiple devices
    case("btrfs_striped_across_two_disks", |at| {
        let (path, resources) = two_disks(at, "raid0", false)?;
        situation(direct_reads(&path), resources, vec![device("read")])
    }),
    case("btrfs_mirrored_on_two_disks_half_cached", |at| {
        let (path, mut resources) = two_disks(at, "raid1", false)?;
        resources.insert(0, Box::new(lock(&path, SIZE / 2)));
        let job = job(&path, "randread", json!({"invalidate": 0}));
        situation(job, resources, vec![split("read", 0.5, 0.0, 0.5)])
    }),
    case("btrfs_striped_over_a_disk_and_memory", striped),
    case("btrfs_writes_mirrored_on_two_disks", |at| {
        let (path, resources) = two_disks(at, "raid1", false)?;
        let job = job(&path, "randwrite", json!({"fsync": 64}));
        situation(job, resources, vec![device("write")])
    }),
    case("xfs_realtime_device_in_memory", |at| realtime(at, false)),
    case(
        "xfs_realtime_device_on_disk_with_metadata_in_memory",
        |at| realtime(at, true),
    ),
    case("synchronous_writes_with_a_journal_in_memory", |at| {
        external_journal(at, json!({"sync": "dsync"}))
    }),
    case("direct_writes_with_a_journal_in_memory", |at| {
        external_journal(at, json!({"direct": 1}))
    }),
    // Subvolumes and snapshots
    case("a_btrfs_snapshot_of_a_cached_file", |at| {
        let (volume, path) = subvolume(at)?;
        let locked = lock(&path, SIZE);
        let snapshot = volume.at.join("snapshot");
        let from = path.parent().unwrap().to_str().unwrap();
        run(
            "btrfs",
            &["subvolume", "snapshot", from, snapshot.to_str().unwrap()],
        )?;
        let truth = counted_reads(volume.device.0.clone());
        let job = job(&snapshot.join("f"), "randread", json!({"invalidate": 0}));
        situation_with(job, vec![Box::new(locked), Box::new(volume)], truth)
    }),
    case("a_half_cached_file_in_a_btrfs_subvolume", |at| {
        let (volume, path) = subvolume(at)?;
        let locked = lock(&path, SIZE / 2);
        let truth = counted_reads(volume.device.0.clone());
        let job = job(&path, "randread", json!({"invalidate": 0}));
        situation_with(job, vec![Box::new(locked), Box::new(volume)], truth)
    }),
    case("a_btrfs_file_and_its_snapshot", |at| {
        let (volume, path) = subvolume(at)?;
        let snapshot = volume.at.join("snapshot");
        let from = path.parent().unwrap().to_str().unwrap();
        run(
            "btrfs",
            &["subvolume", "snapshot", from, snapshot.to_str().unwrap()],
        )?;
        let locked = lock(&path, SIZE);
        let plain = json!({"invalidate": 0});
        let job = jobs(&[
            job(&path, "randread", plain.clone()),
            job(&snapshot.join("f"), "randread", plain),
        ]);
        situation(
            job,
            vec![Box::new(locked), Box::new(volume)],
            vec![split("read", 0.5, 0.0, 0.5)],
        )
    }),
    case("direct_writes_after_a_btrfs_snapshot", |at| {
        let (volume, path) = subvolume(at)?;
        let snapshot = volume.at.join("snapshot");
        let from = path.parent().unwrap().to_str().unwrap();
        run(
            "btrfs",
            &["subvolume", "snapshot", from, snapshot.to_str().unwrap()],
        )?;
        let job = job(&path, "randwrite", json!({"direct": 1, "fsync": 256}));
        situation(job, vec![Box::new(volume)], vec![device("write")])
    }),
    // Loop devices
    case("a_loop_with_an_unaligned_offset_on_a_cached_image", |at| {
        image_on(at, EXT4, &["--direct-io=off", "--offset=512"], 32 * MIB)
    }),
    case("a_loop_with_an_unaligned_offset_on_a_cold_image", |at| {
        let volume = without_readahead(at, EXT4)?;
        let image = volume.cold_file("image", 64 * MIB);
        let device = attach(&image, &["--direct-io=off", "--offset=512"])?;
        drop_scanned_pages(&device, &image);
        // Read every fourth block so that no two reads share a page.
        let mut reads = raw_reads(&device);
        reads["rw"] = json!("read:12k");
        reads["size"] = json!("32m");
        reads["number_ios"] = json!(2000);
        situation(
            reads,
            vec![Box::new(device), Box::new(volume)],
            vec![crate::writes::builders::device("read")],
        )
    }),
    case("a_cached_loop_on_a_half_cached_image_on_xfs", |at| {
        image_on(at, XFS, CACHED, SIZE / 2)
    }),
    case("a_cached_loop_on_a_half_cached_image_on_btrfs", |at| {
        image_on(at, BTRFS, CACHED, SIZE / 2)
    }),
    case("a_direct_loop_on_a_cached_image_on_btrfs", |at| {
        image_on(at, BTRFS, DIRECT, SIZE)
    }),
    case("a_loop_with_blocks_of_4k_on_a_half_cached_image", |at| {
        image_on(
            at,
            EXT4,
            &["--direct-io=off", "--sector-size=4096"],
            SIZE / 2,
        )
    }),
    case("a_read_only_loop_on_a_half_cached_image", |at| {
        image_on(at, EXT4, &["--direct-io=off", "--read-only"], SIZE / 2)
    }),
    case("a_loop_switched_to_direct_io_during_the_run", |at| {
        switched(at, CACHED, "--direct-io=on")
    }),
    case("a_loop_switched_to_the_cache_during_the_run", |at| {
        switched(at, DIRECT, "--direct-io=off")
    }),
    case("a_loop_on_a_half_cached_overlay_file", |at| {
        loop_on_overlay(at, CACHED, SIZE / 2)
    }),
    case("a_direct_loop_on_a_cached_overlay_file", |at| {
        loop_on_overlay(at, DIRECT, SIZE)
    }),
    case("an_image_with_data_holes_and_unwritten_blocks", |at| {
        let volume = without_readahead(at, EXT4)?;
        let image = volume.cold_file("image", 4 * MIB);
        open(&image).set_len(SIZE).unwrap();
        run(
            "fallocate",
            &["-o", "8M", "-l", "4M", image.to_str().unwrap()],
        )?;
        let device = attach(&image, DIRECT)?;
        let _ = run("udevadm", &["settle"]);
        let job = raw_reads(&device);
        situation(
            job,
            vec![Box::new(device), Box::new(volume)],
            vec![split("read", 0.0, 0.75, 0.25)],
        )
    }),
    case("pages_of_the_file_and_of_the_image_in_stripes", |at| {
        let (prepared, _) = blocks_on_image(at, 4096, |file, image| {
            let file = lock_stripes(file, SIZE, 4 * 4096, 4096);
            Box::new((file, lock_stripes(image, 128 * MIB, 2 * MIB, MIB)))
        })?;
        Ok(prepared)
    }),
    case(
        "unaligned_pages_of_the_file_and_of_the_image_in_stripes",
        |at| {
            // Each missing page of the image causes one device request and makes up a quarter to
            // three quarters of a read. On average, an eighth of all bytes are missing.
            let (prepared, device) = blocks_on_image(at, 1024, |file, image| {
                let file = lock_stripes(file, SIZE, 4 * 4096, 4096);
                Box::new((file, lock_stripes(image, 64 * MIB, 2 * MIB, MIB)))
            })?;
            let before = reads_of(&device);
            Ok(Situation {
                truth: Box::new(move |result| {
                    let max = (reads_of(&device) - before) as f64 / ios(result, "read");
                    vec![up_to(max, split("read", 0.875, 0.0, 0.125))]
                }),
                ..prepared
            })
        },
    ),
    case(
        "unaligned_blocks_on_an_image_with_every_other_page_cached",
        |at| {
            // Each read needs one uncached page, which a neighboring block also needs. On average,
            // half of a read's bytes are missing.
            let (prepared, _) = blocks_on_image(at, 1024, |_, image| {
                lock_stripes(image, 64 * MIB, 2 * 4096, 4096)
            })?;
            Ok(or_by_bytes(prepared, 0.24))
        },
    ),
    case(
        "an_unaligned_loop_on_an_image_with_every_other_page_cached",
        |at| {
            let volume = without_readahead(at, EXT4)?;
            let image = volume.cold_file("image", 64 * MIB);
            let device = attach(&image, &["--direct-io=off", "--offset=1024"])?;
            drop_scanned_pages(&device, &image);
            let locked = lock_stripes(&image, 32 * MIB, 2 * 4096, 4096);
            let truth = counted_reads(volume.device.0.clone());
            let prepared = situation_with(
                raw_reads(&device),
                vec![locked, Box::new(device), Box::new(volume)],
                truth,
            )?;
            Ok(or_by_bytes(prepared, 0.24))
        },
    ),
    case(
        "four_page_reads_the_last_page_missing_from_the_image_cache",
        |at| missing_page(at, 3),
    ),
    case(
        "four_page_reads_the_first_page_missing_from_the_image_cache",
        |at| missing_page(at, 0),
    ),
    case(
        "two_passes_on_a_cached_loop_with_a_flush_between_them",
        |at| {
            let volume = without_readahead(at, EXT4)?;
            let image = volume.cold_file("image", 64 * MIB);
            let device = attach(&image, CACHED)?;
            drop_scanned_pages(&device, &image);
            let mut job = raw_reads(&device);
            job["rw"] = json!("write");
            let job = with(
                &job,
                json!({"loops": 2, "thinktime": 300_000, "thinktime_blocks": SIZE / 4096}),
            );
            let prepared = situation(
                job,
                vec![Box::new(device), Box::new(volume)],
                vec![split("write", 0.5, 0.0, 0.5)],
            );
            during(prepared, move || {
                wait_until_dirty(&image, 0, SIZE);
                sleep(Duration::from_millis(30));
                write_back(&image, 0, SIZE);
            })
        },
    ),
    // Overlays
    case(
        "a_lower_file_on_disk_copied_up_to_memory_during_the_run",
        |at| copied_up(at, "upper"),
    ),
    case(
        "a_lower_file_in_memory_copied_up_to_disk_during_the_run",
        |at| copied_up(at, "lower"),
    ),
    case("an_overlay_of_an_overlay_half_cached", |at| {
        overlay_of_overlay(at, SIZE / 2, json!({}))
    }),
    case("direct_reads_of_an_overlay_of_an_overlay", |at| {
        overlay_of_overlay(at, SIZE, json!({"direct": 1}))
    }),
    case(
        "writes_to_an_overlay_whose_upper_directory_is_in_memory",
        |at| {
            let volume = ext4(at)?;
            let (memory_at, tmpfs) = tmpfs(at);
            let mut overlay = overlay(at, &volume.at, &memory_at);
            let job = job(
                &overlay.merged.join("f"),
                "randwrite",
                json!({"sync": "dsync"}),
            );
            overlay
                .resources
                .extend([Box::new(volume) as Box<dyn Any>, tmpfs]);
            situation(job, overlay.resources, vec![memory("write")])
        },
    ),
    case(
        "writes_to_an_overlay_whose_lower_directory_is_in_memory",
        |at| {
            let volume = ext4(at)?;
            let (memory_at, tmpfs) = tmpfs(at);
            let mut overlay = overlay(at, &memory_at, &volume.at);
            let changes = json!({"sync": "dsync", "size": "4m"});
            let job = job(&overlay.merged.join("f"), "randwrite", changes);
            overlay
                .resources
                .extend([Box::new(volume) as Box<dyn Any>, tmpfs]);
            situation(job, overlay.resources, vec![device("write")])
        },
    ),
    // Bind mounts
    case("a_file_on_disk_mounted_over_a_file_in_memory", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let (memory_at, tmpfs) = tmpfs(at);
        let target = memory_at.join("f");
        sparse(&target, SIZE);
        let bound = bound(at, &path, &target);
        situation(
            direct_reads(&target),
            vec![Box::new(bound), Box::new(volume), tmpfs],
            vec![device("read")],
        )
    }),
    case("a_file_in_memory_mounted_over_a_file_on_disk", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let (memory_at, tmpfs) = tmpfs(at);
        let from = cold_file(&memory_at, "f", SIZE);
        let bound = bound(at, &from, &path);
        situation(
            direct_reads(&path),
            vec![Box::new(bound), tmpfs, Box::new(volume)],
            vec![memory("read")],
        )
    }),
    case("a_file_covered_by_a_mount_during_the_run", |at| {
        let volume = ext4(at)?;
        let path = volume.cold_file("f", SIZE);
        let (memory_at, tmpfs) = tmpfs(at);
        let from = cold_file(&memory_at, "f", SIZE);
        // Unmounted before the volume, because a mount on one of its files keeps the volume busy.
        let cover = UnmountOnDrop(path.clone());
        let reads = with(&direct_reads(&path), json!({"rate_iops": 3000}));
        let prepared = situation(
            reads,
            vec![Box::new(cover), tmpfs, Box::new(volume)],
            vec![device("read")],
        );
        during(prepared, move || {
            sleep(Duration::from_millis(500));
            run(
                "mount",
                &["--bind", from.to_str().unwrap(), path.to_str().unwrap()],
            )
            .unwrap();
        })
    }),
    // Memory
    case("half_sparse_tmpfs_file_with_huge_pages", |at| {
        let path = at.join("huge");
        fs::create_dir(&path).unwrap();
        let target = path.to_str().unwrap();
        run(
            "mount",
            &["-t", "tmpfs", "-o", "huge=always,size=200m", "none", target],
        )?;
        let mounted = Mounted::existing(&path);
        let file = cold_file(&path, "f", SIZE / 2);
        open(&file).set_len(SIZE).unwrap();
        let job = job(&file, "randread", json!({}));
        situation(job, vec![Box::new(mounted)], vec![no_device("read")])
    }),
];

/// A bind mount, which is unmounted on drop if it exists.
struct UnmountOnDrop(PathBuf);

impl Drop for UnmountOnDrop {
    fn drop(&mut self) {
        let _ = run("umount", &[self.0.to_str().unwrap()]);
    }
}

fn subvolume(at: &Path) -> Result<(Volume, PathBuf), String> {
    let volume = volume(at, BTRFS, "defaults")?;
    let path = volume.at.join("subvolume");
    run("btrfs", &["subvolume", "create", path.to_str().unwrap()])?;
    cold_file(&path, "f", SIZE);
    run("sync", &["-f", path.to_str().unwrap()])?;
    Ok((volume, path.join("f")))
}

/// A loop device on a partly cached image is switched between direct and buffered I/O during the
/// run. The truth is the disk's counter.
fn switched(at: &Path, options: &[&str], option: &'static str) -> Prepared {
    let volume = without_readahead(at, EXT4)?;
    let image = volume.cold_file("image", 64 * MIB);
    let device = attach(&image, options)?;
    drop_scanned_pages(&device, &image);
    let locked = lock(&image, SIZE);
    let truth = counted_reads(volume.device.0.clone());
    let job = with(&raw_reads(&device), json!({"rate_iops": 3000}));
    let name = device.0.clone();
    let prepared = situation_with(
        job,
        vec![Box::new(locked), Box::new(device), Box::new(volume)],
        truth,
    );
    during(prepared, move || {
        sleep(Duration::from_millis(700));
        run("losetup", &[option, &name]).unwrap();
    })
}

/// Also accepts larger device shares than expected, up to `device`.
fn up_to(device: f64, truth: Truth) -> Truth {
    Truth {
        memory: (1.0 - device - 0.01).min(*truth.memory.start())..=*truth.memory.end(),
        device: *truth.device.start()..=(device + 0.01).max(*truth.device.end()),
        ..truth
    }
}

/// A read that needs the device for only part of its data may count as a whole or by bytes. Also
/// accepts smaller device shares than expected, but at least `min`.
fn or_by_bytes(prepared: Situation, min: f64) -> Situation {
    let counted = prepared.truth;
    let truth = move |result: &Value| {
        let truth = counted(result).remove(0);
        vec![Truth {
            memory: *truth.memory.start()..=1.0 - min,
            device: min..=*truth.device.end(),
            ..truth
        }]
    };
    Situation {
        truth: Box::new(truth),
        ..prepared
    }
}

/// Buffered reads of a file on a cached loop device, through a filesystem with this block size.
/// Pages of both the file and the image are in memory. The truth is the counter of the disk below.
fn blocks_on_image(
    at: &Path,
    block_size: u64,
    locked: fn(&Path, &Path) -> Box<dyn Any>,
) -> Result<(Situation, String), String> {
    let volume = without_readahead(at, EXT4)?;
    let image = volume.cold_file("image", if block_size == 4096 { 128 } else { 64 } * MIB);
    let device = attach(&image, CACHED)?;
    make_filesystem(&format!("{EXT4},nodiscard -b {block_size}"), &device.0)?;
    let mounted = Mounted::new(&device.0, &at.join("upper"));
    let path = cold_file(&at.join("upper"), "f", SIZE);
    run("sync", &["-f", path.to_str().unwrap()])?;
    drop_pages(&image);
    assert_eq!(pages(&image, 0, 0).cached, 0);
    let locked = locked(&path, &image);
    let counter = volume.device.0.clone();
    let truth = counted_reads(counter.clone());
    let job = job(&path, "randread", json!({"invalidate": 0}));
    let resources: Resources = vec![
        locked,
        Box::new(mounted),
        Box::new(device),
        Box::new(volume),
    ];
    Ok((situation_with(job, resources, truth)?, counter))
}

/// Raw 16 KiB reads of an image with one uncached page in four. Each read needs the device for a
/// quarter of its bytes.
fn missing_page(at: &Path, index: u64) -> Prepared {
    let volume = without_readahead(at, EXT4)?;
    let image = volume.cold_file("image", 64 * MIB);
    let device = attach(&image, CACHED)?;
    drop_scanned_pages(&device, &image);
    let locked: Vec<_> = (0..SIZE / 4096)
        .filter(|page| page % 4 != index)
        .map(|page| setup::lock(&image, page * 4096, 4096))
        .collect();
    situation(
        with(&raw_reads(&device), json!({"bs": "16k"})),
        vec![Box::new(locked), Box::new(device), Box::new(volume)],
        vec![Truth {
            memory: 0.0..=0.75,
            device: 0.25..=1.0,
            ..memory("read")
        }],
    )
}
