//! Writes, mixed jobs, and disks with other users.

use super::{
    builders::*,
    mapped::{KEEP, file_on},
};
use crate::{
    scratch::program::with,
    writes::builders::{Neighbor, counted_reads},
};
use serde_json::{Value, json};
use std::{
    fs::File,
    os::unix::fs::{FileExt, OpenOptionsExt},
    path::Path,
    time::Duration,
};

const A: &[&str] = &["ubda"];
const AB: &[&str] = &["ubda", "ubdb"];
const ABC: &[&str] = &["ubda", "ubdb", "ubdc"];
const NO_BITMAP: &[&str] = &["--bitmap=none"];

pub(super) const CASES: &[Case] = &[
    case("ext4 on linear, buffered writes", |at| {
        buffered(at, EXT4, linear(disk("ubda"), VOLUME))
    }),
    case("xfs on raid1, buffered writes", |at| {
        buffered(at, XFS, array("1", NO_BITMAP, disks(AB)))
    }),
    case("ext4 on crypt, synced writes", |at| {
        let changes = json!({"fsync": 1, "size": "2m"});
        written(at, EXT4, crypt(disk("ubda"), VOLUME), changes)
    }),
    case("ext4 on linear, O_DSYNC writes", |at| {
        let changes = json!({"sync": "dsync", "size": "2m"});
        written(at, EXT4, linear(disk("ubda"), VOLUME), changes)
    }),
    case("ext4 on raid5, direct writes", |at| {
        written(at, EXT4, array("5", &[], disks(ABC)), json!({"direct": 1}))
    }),
    case("xfs on raid1, direct writes", |at| {
        let on = array("1", NO_BITMAP, disks(AB));
        written(at, XFS, on, json!({"direct": 1}))
    }),
    case("btrfs on linear, direct writes", |at| {
        let on = linear(disk("ubda"), VOLUME);
        written(at, BTRFS, on, json!({"direct": 1}))
    }),
    case("ext4 on raid1, direct mixed job", |at| {
        let (file, parts) = file_on(at, EXT4, array("1", NO_BITMAP, disks(AB)))?;
        let truths = vec![device("read"), device("write")];
        situation(job(&file, "randrw", json!({"direct": 1})), parts, truths)
    }),
    case("a warm and a cold job", |at| {
        let (warm, mut parts) = file_on(at, EXT4, linear(disk("ubda"), VOLUME))?;
        let cold = cold_file(warm.parent().unwrap(), "cold", SIZE);
        parts.insert(0, Box::new(lock(&warm, SIZE)));
        let of =
            |file: &Path, name: &str| job(file, "randread", with(&KEEP(), json!({"name": name})));
        let both = jobs(&[of(&warm, "warm"), of(&cold, "cold")]);
        let truth = counted(A);
        situation_with(both, parts, truth)
    }),
    case("half-warm reads, a neighbor writes", |at| {
        let (file, mut parts) = file_on(at, EXT4, linear(disk("ubda"), VOLUME))?;
        half_warm(&file, &mut parts);
        let truth = counted(A);
        parts.insert(0, writer(file.with_file_name("other")));
        situation_with(job(&file, "randread", KEEP()), parts, truth)
    }),
    case("half-warm reads, a neighbor reads the disk", |at| {
        let on = linear(disk("ubda"), VOLUME);
        let own = on.node.clone();
        let (file, mut parts) = file_on(at, EXT4, on)?;
        half_warm(&file, &mut parts);
        let truth = counted_reads(own);
        parts.insert(0, reader("/dev/ubda"));
        situation_with(job(&file, "randread", KEEP()), parts, truth)
    }),
    case("warm reads, a neighbor reads the disk", |at| {
        let (file, mut parts) = file_on(at, EXT4, crypt(disk("ubda"), VOLUME))?;
        parts.insert(0, Box::new(lock(&file, SIZE)));
        parts.insert(0, reader("/dev/ubda"));
        let changes = with(&KEEP(), json!({"runtime": "2s", "time_based": 1}));
        situation(job(&file, "randread", changes), parts, vec![memory("read")])
    }),
    case("buffered writes, a neighbor writes", |at| {
        let (file, mut parts) = file_on(at, EXT4, linear(disk("ubda"), VOLUME))?;
        parts.insert(0, writer(file.with_file_name("other")));
        situation(
            job(&file, "randwrite", KEEP()),
            parts,
            vec![memory("write")],
        )
    }),
    case("half of the writes already written back", |at| {
        let (file, parts) = file_on(at, EXT4, linear(disk("ubda"), VOLUME))?;
        let truth = counted_writes(A);
        let half = file.clone();
        let prepared = situation_with(job(&file, "write", KEEP()), parts, truth);
        crate::writes::builders::during(prepared, move || {
            for _ in 0..40 {
                crate::writes::builders::write_back(&half, 0, SIZE / 2);
                std::thread::sleep(Duration::from_millis(50));
            }
        })
    }),
];

/// All data stays in memory, because nothing is written back.
fn buffered(at: &Path, make: &str, on: Stack) -> Prepared {
    let (file, parts) = file_on(at, make, on)?;
    situation(
        job(&file, "randwrite", KEEP()),
        parts,
        vec![memory("write")],
    )
}

fn written(at: &Path, make: &str, on: Stack, changes: Value) -> Prepared {
    let (file, parts) = file_on(at, make, on)?;
    situation(
        job(&file, "randwrite", changes),
        parts,
        vec![device("write")],
    )
}

fn direct(path: &Path, is_writable: bool) -> File {
    let mut options = File::options();
    options.read(true).write(is_writable);
    let options = options.custom_flags(libc::O_DIRECT);
    options.open(path).unwrap()
}

/// A buffer aligned for direct I/O.
#[repr(align(4096))]
struct Block([u8; 1 << 16]);

/// Direct 64 KiB writes to another file.
fn writer(path: std::path::PathBuf) -> Box<dyn std::any::Any> {
    crate::scratch::image(&path, MIB);
    let file = direct(&path, true);
    let block = Box::new(Block([7; 1 << 16]));
    Box::new(Neighbor::every(Duration::from_millis(2), move |round| {
        file.write_all_at(&block.0, round % 16 * (1 << 16)).unwrap();
    }))
}

/// Direct 64 KiB reads from a disk.
fn reader(disk: &str) -> Box<dyn std::any::Any> {
    let file = direct(disk.as_ref(), false);
    let mut block = Box::new(Block([0; 1 << 16]));
    Box::new(Neighbor::every(Duration::from_millis(2), move |round| {
        file.read_exact_at(&mut block.0, round % 1024 * (1 << 16))
            .unwrap();
    }))
}
