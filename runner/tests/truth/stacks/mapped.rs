//! dm and md devices with files in known states, and devices whose storage is memory.

use super::builders::*;
use crate::scratch::{program::with, run};
use serde_json::{Value, json};
use std::{fs, path::Path};

const A: &[&str] = &["ubda"];
const AB: &[&str] = &["ubda", "ubdb"];
const ABC: &[&str] = &["ubda", "ubdb", "ubdc"];
const ABCD: &[&str] = &["ubda", "ubdb", "ubdc", "ubdd"];
const DIRECT: &[&str] = &["--direct-io=on"];
const CACHED: &[&str] = &["--direct-io=off"];
const NO_BITMAP: &[&str] = &["--bitmap=none"];
/// Size of a device without a filesystem, including md metadata.
const RAW: u64 = 32 * MIB;

pub(super) const CASES: &[Case] = &[
    case("ext4 on linear, half-warm", |at| {
        half_warm_file(at, EXT4, linear(disk("ubda"), VOLUME), A)
    }),
    case("xfs on linear, half-warm", |at| {
        half_warm_file(at, XFS, linear(disk("ubda"), VOLUME), A)
    }),
    case("btrfs on linear, half-warm", |at| {
        half_warm_file(at, BTRFS, linear(disk("ubda"), VOLUME), A)
    }),
    case("ext4 on crypt, half-warm", |at| {
        half_warm_file(at, EXT4, crypt(disk("ubda"), VOLUME), A)
    }),
    case("ext4 on stripe, half-warm", |at| {
        half_warm_file(at, EXT4, striped(), AB)
    }),
    case("ext4 on raid1, half-warm", |at| {
        half_warm_file(at, EXT4, array("1", NO_BITMAP, disks(AB)), AB)
    }),
    case("xfs on raid0, half-warm", |at| {
        half_warm_file(at, XFS, array("0", &[], disks(AB)), AB)
    }),
    case("ext4 on raid5, half-warm", |at| {
        half_warm_file(at, EXT4, array("5", &[], disks(ABC)), ABC)
    }),
    case("raw linear, half-warm", |_| {
        let mut stack = linear(disk("ubda"), RAW);
        let node = stack.node.clone();
        fill(&node, RAW);
        half_warm(node.as_ref(), &mut stack.parts);
        let truth = counted(A);
        situation_with(raw(&node, json!({})), stack.parts, truth)
    }),
    case("ext4 on linear, all warm", |at| {
        let (file, mut parts) = file_on(at, EXT4, linear(disk("ubda"), VOLUME))?;
        parts.insert(0, Box::new(lock(&file, SIZE)));
        situation(job(&file, "randread", KEEP()), parts, vec![memory("read")])
    }),
    case("ext4 on raid0, sequential", |at| {
        let (file, parts) = file_on(at, EXT4, array("0", &[], disks(AB)))?;
        situation(job(&file, "read", KEEP()), parts, vec![device("read")])
    }),
    case("btrfs on crypt, direct", |at| {
        let (file, parts) = file_on(at, BTRFS, crypt(disk("ubda"), VOLUME))?;
        let truth = vec![device("read")];
        situation(job(&file, "randread", DIRECT_IO()), parts, truth)
    }),
    case("ext4 on linear, half sparse, direct", |at| {
        holes(at, EXT4, false)
    }),
    case("ext4 on linear, half unwritten, direct", |at| {
        holes(at, EXT4, true)
    }),
    case("xfs on linear, half unwritten, direct", |at| {
        holes(at, XFS, true)
    }),
    case("raw raid10, direct", |_| {
        let options = ["--layout=n2", "--bitmap=none"];
        direct_reads(array("10", &options, disks(ABCD)))
    }),
    case("raw raid5, direct", |_| {
        direct_reads(array("5", &[], disks(ABC)))
    }),
    case("raw raid5, degraded, direct", |_| {
        let stack = array("5", &[], disks(ABC));
        fill(&stack.node, RAW);
        run("mdadm", &[&stack.node, "--fail", "/dev/ubdb"])?;
        direct_reads_of(stack)
    }),
    case("raw crypt on raid1, direct", |_| {
        direct_reads(crypt(array("1", NO_BITMAP, disks(AB)), RAW))
    }),
    case("stripe with a slow disk, direct", |_| {
        let slow = mapped(disks(&["ubdb"]), RAW, "delay {0} 0 20");
        let stack = stripe(linear(disk("ubda"), RAW), slow, RAW);
        fill(&stack.node, RAW);
        let job = raw(
            &stack.node,
            with(&TIMED(), json!({"direct": 1, "iodepth": 8})),
        );
        situation(job, stack.parts, vec![device("read")])
    }),
    case("raid0 with a slow disk, half-warm", |_| {
        let slow = mapped(disks(&["ubdb"]), RAW, "delay {0} 0 20");
        let mut stack = array("0", &[], vec![linear(disk("ubda"), RAW), slow]);
        let node = stack.node.clone();
        let bytes = 4 * MIB;
        fill(&node, bytes);
        stack
            .parts
            .insert(0, Box::new(lock(node.as_ref(), bytes / 2)));
        let truth = counted(AB);
        let job = raw(&node, with(&KEEP(), json!({"iodepth": 8, "size": bytes})));
        situation_with(job, stack.parts, truth)
    }),
    case("snapshot, half copied, direct", |_| {
        let stack = snapshot();
        // Chunks that have been written are in the copy-on-write store.
        fill(&stack.node, SIZE / 2);
        direct_reads_of(stack)
    }),
    case("snapshot, direct writes", |at| {
        let (file, parts) = file_on(at, EXT4, snapshot())?;
        let truth = vec![device("write")];
        situation(job(&file, "randwrite", DIRECT_IO()), parts, truth)
    }),
    case("origin of a snapshot, half-warm", |at| {
        let base = linear(disk("ubda"), VOLUME);
        let lower = mapped(vec![base, disk("ubdb")], VOLUME, "snapshot {0} {1} N 16");
        half_warm_file(at, EXT4, lower, AB)
    }),
    case("thin, written, direct", |at| {
        let (file, parts) = file_on(at, EXT4, thin(VOLUME)?)?;
        let truth = vec![device("read")];
        situation(job(&file, "randread", DIRECT_IO()), parts, truth)
    }),
    case("thin, half provisioned, direct", |_| {
        let stack = thin(RAW)?;
        fill(&stack.node, SIZE / 2);
        let truth = counted_zeros(&["ubdb"]);
        situation_with(raw(&stack.node, json!({"direct": 1})), stack.parts, truth)
    }),
    case("thin, buffered, half provisioned", |_| {
        let stack = thin(RAW)?;
        fill(&stack.node, SIZE / 2);
        let truth = counted_zeros(&["ubdb"]);
        situation_with(raw(&stack.node, KEEP()), stack.parts, truth)
    }),
    case("dm-zero, direct", |_| {
        let stack = mapped(vec![], RAW, "zero");
        let job = raw(&stack.node, json!({"direct": 1}));
        situation(job, stack.parts, vec![zeros("read")])
    }),
    case("linear on a RAM disk, direct", |_| {
        let stack = linear(ram_disk()?, RAW);
        fill(&stack.node, RAW);
        let job = raw(&stack.node, json!({"direct": 1}));
        situation(job, stack.parts, vec![memory("read")])
    }),
    case("ext4 on linear on a RAM disk, direct writes", |at| {
        let (file, parts) = file_on(at, EXT4, linear(ram_disk()?, 64 * MIB))?;
        let truth = vec![memory("write")];
        situation(job(&file, "randwrite", DIRECT_IO()), parts, truth)
    }),
    case("stripe across a disk and a RAM disk, direct", |_| {
        let stack = stripe(linear(disk("ubda"), RAW), ram_disk()?, RAW);
        fill(&stack.node, RAW);
        let truth = counted(A);
        situation_with(raw(&stack.node, json!({"direct": 1})), stack.parts, truth)
    }),
    case("raid1 that reads from a RAM disk, direct", |_| {
        let disk = linear(disk("ubda"), 60 * MIB);
        let lower = vec![ram_disk()?, disk];
        let nodes: Vec<_> = lower.iter().map(|stack| stack.node.clone()).collect();
        let stack = array("1", &["--bitmap=none"], lower);
        let name = nodes[1].trim_start_matches("/dev/");
        let md = stack.node.trim_start_matches("/dev/");
        fs::write(
            format!("/sys/block/{md}/md/dev-{name}/state"),
            "writemostly",
        )
        .unwrap();
        fill(&stack.node, RAW);
        let truth = counted(A);
        situation_with(raw(&stack.node, json!({"direct": 1})), stack.parts, truth)
    }),
    case("linear on zram, direct", |_| {
        let stack = linear(zram()?, RAW);
        fill(&stack.node, RAW);
        let job = raw(&stack.node, json!({"direct": 1}));
        situation(job, stack.parts, vec![memory("read")])
    }),
    case("linear on a cached loop, warm", |at| {
        over_loop(at, CACHED, SIZE)
    }),
    case("linear on a cached loop, half-warm", |at| {
        over_loop(at, CACHED, SIZE / 2)
    }),
    case("linear on a direct loop", |at| over_loop(at, DIRECT, 0)),
    case("cached loop on ext4 on linear, warm", |at| {
        loop_on(at, CACHED, SIZE)
    }),
    case("cached loop on ext4 on linear, half-warm", |at| {
        loop_on(at, CACHED, SIZE / 2)
    }),
    case("direct loop on ext4 on linear", |at| loop_on(at, DIRECT, 0)),
    case("direct loop on a sparse file", |at| {
        let (file, parts) = file_on(at, EXT4, linear(disk("ubda"), VOLUME))?;
        cut(&file, SIZE / 2);
        let stack = attached(&file, DIRECT, parts)?;
        let truth = counted_zeros(A);
        situation_with(raw(&stack.node, json!({"direct": 1})), stack.parts, truth)
    }),
    case("ext4 on a direct loop on ext4 on linear, half-warm", |at| {
        let (lower, parts) = volume(at, EXT4, linear(disk("ubda"), VOLUME))?;
        let image = cold_file(&lower, "image", 128 * MIB);
        half_warm_file(at, EXT4, attached(&image, DIRECT, parts)?, A)
    }),
];

/// Job options that leave the target's page cache unchanged.
pub(super) const KEEP: fn() -> Value = || json!({"invalidate": 0});
const DIRECT_IO: fn() -> Value = || json!({"direct": 1});
const TIMED: fn() -> Value = || json!({"runtime": "1s", "time_based": 1});

/// Random reads of a device.
pub(super) fn raw(node: &str, changes: Value) -> Value {
    let mut job = job(node.as_ref(), "randread", with(&KEEP(), changes));
    job.as_object_mut().unwrap().remove("fallocate");
    job
}

fn striped() -> Stack {
    stripe(disk("ubda"), disk("ubdb"), VOLUME)
}

/// A cold file on a new filesystem on the device.
pub(super) fn file_on(
    at: &Path,
    make: &str,
    on: Stack,
) -> Result<(std::path::PathBuf, Resources), String> {
    let (at, parts) = volume(at, make, on)?;
    Ok((cold_file(&at, "f", SIZE), parts))
}

fn half_warm_file(at: &Path, make: &str, on: Stack, disks: &'static [&'static str]) -> Prepared {
    let (file, mut parts) = file_on(at, make, on)?;
    half_warm(&file, &mut parts);
    let truth = counted(disks);
    situation_with(job(&file, "randread", KEEP()), parts, truth)
}

fn direct_reads(stack: Stack) -> Prepared {
    fill(&stack.node, RAW);
    direct_reads_of(stack)
}

fn direct_reads_of(stack: Stack) -> Prepared {
    let job = raw(&stack.node, json!({"direct": 1}));
    situation(job, stack.parts, vec![device("read")])
}

/// A file whose second half holds no data.
fn holes(at: &Path, make: &str, is_allocated: bool) -> Prepared {
    let (file, parts) = file_on(at, make, linear(disk("ubda"), VOLUME))?;
    cut(&file, SIZE / 2);
    if is_allocated {
        let length = (SIZE / 2).to_string();
        run(
            "fallocate",
            &["-o", &length, "-l", &length, file.to_str().unwrap()],
        )?;
        drop_pages(&file);
    }
    let truth = counted_zeros(A);
    situation_with(job(&file, "randread", DIRECT_IO()), parts, truth)
}

/// Replaces the end of a file with a hole.
fn cut(file: &Path, from: u64) {
    let opened = fs::File::options().write(true).open(file).unwrap();
    opened.set_len(from).unwrap();
    opened.set_len(SIZE).unwrap();
    drop_pages(file);
}

/// A snapshot with its origin on ubda and its copy-on-write store on ubdb.
fn snapshot() -> Stack {
    fill("/dev/ubda", RAW);
    let lower = vec![linear(disk("ubda"), 128 * MIB), disk("ubdb")];
    mapped(lower, 128 * MIB, "snapshot {0} {1} N 16")
}

/// A thin volume with its metadata on ubda and its data on ubdb.
fn thin(bytes: u64) -> Result<Stack, String> {
    fill("/dev/ubda", MIB);
    let zero = fs::File::options().write(true).open("/dev/ubda").unwrap();
    std::os::unix::fs::FileExt::write_all_at(&zero, &[0; 4096], 0).unwrap();
    zero.sync_all().unwrap();
    drop(zero);
    let lower = vec![linear(disk("ubda"), 16 * MIB), disk("ubdb")];
    let pool = mapped(lower, VOLUME, "thin-pool {0} {1} 128 0");
    let node = pool.node.trim_start_matches("/dev/");
    let name = fs::read_to_string(format!("/sys/block/{node}/dm/name")).unwrap();
    run("dmsetup", &["message", name.trim(), "0", "create_thin 0"])?;
    Ok(mapped(vec![pool], bytes, "thin {0} 0"))
}

/// A RAM disk of 64 MiB.
fn ram_disk() -> Result<Stack, String> {
    run("/run/modprobe", &["brd", "rd_nr=1", "rd_size=65536"])?;
    Ok(disk("ram0"))
}

fn zram() -> Result<Stack, String> {
    run("/run/modprobe", &["zram"])?;
    let size = "/sys/block/zram0/disksize";
    if fs::read_to_string(size).unwrap().trim() == "0" {
        fs::write(size, (64 * MIB).to_string()).unwrap();
    }
    Ok(disk("zram0"))
}

/// dm-linear on a loop device whose backing file is on ext4 on ubda.
fn over_loop(at: &Path, options: &[&str], warm: u64) -> Prepared {
    on_image(at, disk("ubda"), options, warm, |stack| linear(stack, SIZE))
}

/// A loop device whose backing file is on ext4 on dm-linear.
fn loop_on(at: &Path, options: &[&str], warm: u64) -> Prepared {
    let lower = linear(disk("ubda"), VOLUME);
    on_image(at, lower, options, warm, |stack| stack)
}

/// Direct reads of a loop device. `warm` bytes of its backing file are in the page cache.
fn on_image(
    at: &Path,
    lower: Stack,
    options: &[&str],
    warm: u64,
    over: fn(Stack) -> Stack,
) -> Prepared {
    let (image, parts) = file_on(at, EXT4, lower)?;
    let mut stack = over(attached(&image, options, parts)?);
    drop_pages(&image);
    if warm > 0 {
        stack.parts.insert(0, Box::new(lock(&image, warm)));
    }
    let before = reads_of_all(A);
    let job = raw(&stack.node, json!({"direct": 1}));
    // The loop driver may read pages ahead, so later reads find them in memory.
    let cold = 1.0 - warm as f64 / SIZE as f64;
    let truth = move |result: &Value| {
        let min = (reads_of_all(A) - before) as f64 / ios(result, "read");
        let mut truth = split("read", 1.0 - cold, 0.0, cold);
        truth.device = (min - 0.01).max(0.0).min(cold)..=cold + 0.01;
        truth.memory = 1.0 - cold - 0.01..=1.0 - *truth.device.start();
        vec![truth]
    };
    situation_with(job, stack.parts, Box::new(truth))
}
