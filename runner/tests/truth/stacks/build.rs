//! Builders: devices on the disks of the user-mode Linux, filesystems on them, and truths from the
//! counters of the disks.

use crate::scratch::{
    Loop, Mounted,
    mapped::{Array, Mapped},
    run,
};
pub(crate) use crate::{
    case::{Case, Expected},
    writes::build::{
        MIB, Prepared, SIZE, case, cold_file, device, drop_pages, ios, job, jobs, lock, memory,
        reads_of, situation, situation_with, split, zeros,
    },
};
use std::{
    any::Any,
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
};

pub(crate) const EXT4: &str = "mkfs.ext4 -q -F -E lazy_itable_init=0,lazy_journal_init=0";
pub(crate) const XFS: &str = "mkfs.xfs -q -f";
pub(crate) const BTRFS: &str = "mkfs.btrfs -q -f";
/// Bytes of a device with a filesystem: the minimum of XFS.
pub(crate) const VOLUME: u64 = 320 * MIB;
const KEY: &str = "5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e";

pub(crate) type Resources = Vec<Box<dyn Any>>;

/// Only the cases write back pages, and every swapped page is read alone.
pub(crate) fn prepare_host() {
    fs::write("/proc/sys/vm/dirty_writeback_centisecs", "0").unwrap();
    fs::write("/proc/sys/vm/page-cluster", "0").unwrap();
    fs::create_dir("/run/cgroup").unwrap();
    run("mount", &["-t", "cgroup2", "none", "/run/cgroup"]).unwrap();
    fs::write("/run/cgroup/cgroup.subtree_control", "+memory").unwrap();
    fs::read(env!("CARGO_BIN_EXE_leadline-runner")).unwrap();
}

/// A device, with everything that exists for it, top first.
pub(crate) struct Pile {
    pub node: String,
    pub parts: Resources,
}

pub(crate) fn disk(name: &str) -> Pile {
    Pile {
        node: format!("/dev/{name}"),
        parts: vec![],
    }
}

/// dm over devices. The target contains `{0}`, `{1}` for them.
pub(crate) fn mapped(lower: Vec<Pile>, bytes: u64, target: &str) -> Pile {
    static USED: AtomicU64 = AtomicU64::new(0);
    let mut target = target.to_owned();
    for (number, pile) in lower.iter().enumerate() {
        target = target.replace(&format!("{{{number}}}"), &pile.node);
    }
    let name = format!("dm{}", USED.fetch_add(1, Ordering::Relaxed));
    let top = Mapped::new(&name, bytes, &target);
    let node = top.node.clone();
    pile(node, Box::new(top), lower)
}

fn pile(node: String, top: Box<dyn Any>, lower: Vec<Pile>) -> Pile {
    let mut parts = vec![top];
    parts.extend(lower.into_iter().flat_map(|pile| pile.parts));
    Pile { node, parts }
}

pub(crate) fn linear(lower: Pile, bytes: u64) -> Pile {
    mapped(vec![lower], bytes, "linear {0} 0")
}

pub(crate) fn crypt(lower: Pile, bytes: u64) -> Pile {
    let target = format!("crypt aes-xts-plain64 {KEY} 0 {{0}} 0");
    mapped(vec![lower], bytes, &target)
}

pub(crate) fn stripe(one: Pile, two: Pile, bytes: u64) -> Pile {
    mapped(vec![one, two], bytes, "striped 2 128 {0} 0 {1} 0")
}

/// md over whole devices.
pub(crate) fn array(level: &str, options: &[&str], lower: Vec<Pile>) -> Pile {
    let nodes: Vec<String> = lower.iter().map(|pile| pile.node.clone()).collect();
    let array = Array::new(level, options, &nodes);
    pile(array.0.clone(), Box::new(array), lower)
}

pub(crate) fn disks(names: &[&str]) -> Vec<Pile> {
    names.iter().map(|name| disk(name)).collect()
}

/// A loop device over a file.
pub(crate) fn attached(
    file: &Path,
    options: &[&str],
    mut below: Resources,
) -> Result<Pile, String> {
    let device = Loop::attach(file, options).ok_or("no loop device")?;
    let node = device.0.clone();
    below.insert(0, Box::new(device));
    Ok(Pile { node, parts: below })
}

/// A filesystem on a device. Returns its mount point.
pub(crate) fn volume(at: &Path, make: &str, mut on: Pile) -> Result<(PathBuf, Resources), String> {
    crate::writes::build::make_filesystem(make, &on.node)?;
    let at = at.join(format!("on-{}", on.node.trim_start_matches("/dev/")));
    let mounted = Mounted::new(&on.node, &at);
    on.parts.insert(0, Box::new(mounted));
    Ok((at, on.parts))
}

/// Writes all of a raw device, and drops its pages.
pub(crate) fn fill(node: &str, bytes: u64) {
    let file = fs::File::options().write(true).open(node).unwrap();
    let chunk: Vec<u8> = (0..MIB).map(|at| (at % 251) as u8).collect();
    for offset in (0..bytes).step_by(chunk.len()) {
        std::os::unix::fs::FileExt::write_all_at(&file, &chunk, offset).unwrap();
    }
    drop(file);
    drop_pages(Path::new(node));
}

/// Keeps the first half in the page cache.
pub(crate) fn half_warm(path: &Path, parts: &mut Resources) {
    parts.insert(0, Box::new(lock(path, SIZE / 2)));
}

pub(crate) fn reads_of_all(disks: &[&str]) -> u64 {
    let each = disks.iter().map(|name| reads_of(&format!("/dev/{name}")));
    each.sum()
}

/// Random reads of a page each, that reached one of the disks.
pub(crate) fn counted(disks: &'static [&'static str]) -> Expected {
    let before = reads_of_all(disks);
    Box::new(move |result| {
        let share = ((reads_of_all(disks) - before) as f64 / ios(result, "read")).min(1.0);
        vec![split("read", 1.0 - share, 0.0, share)]
    })
}

/// Random direct reads of a page each: those that did not reach a disk were zeros.
pub(crate) fn counted_zeros(disks: &'static [&'static str]) -> Expected {
    let before = reads_of_all(disks);
    Box::new(move |result| {
        let share = ((reads_of_all(disks) - before) as f64 / ios(result, "read")).min(1.0);
        vec![split("read", 0.0, 1.0 - share, share)]
    })
}

/// Bytes written to the disks, of blocks that are written once each. Nothing is written back after
/// the run.
pub(crate) fn counted_writes(disks: &'static [&'static str]) -> Expected {
    let written = move || -> u64 { disks.iter().map(|name| written_bytes(name)).sum() };
    let before = written();
    Box::new(move |result| {
        let issued = ios(result, "write") * 4096.0;
        let share = ((written() - before) as f64 / issued).min(1.0);
        let mut truth = split("write", 1.0 - share, 0.0, share);
        // Metadata is written as well.
        truth.memory = (1.0 - share - 0.02).max(0.0)..=(1.0 - share + 0.05).min(1.0);
        truth.device = (share - 0.05).max(0.0)..=(share + 0.02).min(1.0);
        vec![truth]
    })
}

fn written_bytes(disk: &str) -> u64 {
    let text = fs::read_to_string(format!("/sys/block/{disk}/stat")).unwrap();
    let sectors = text.split_whitespace().nth(6).unwrap();
    sectors.parse::<u64>().unwrap() * 512
}
