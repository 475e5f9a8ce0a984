//! Builds devices on UML's disks and filesystems on them, and computes true shares from the disks'
//! counters.

use crate::scratch::{
    Loop, Mounted,
    mapped::{Array, Mapped},
    run,
};
pub(crate) use crate::{
    case::{Case, Expected},
    writes::builders::{
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
/// Size of a device with a filesystem, in bytes: the minimum for XFS.
pub(crate) const VOLUME: u64 = 320 * MIB;
const KEY: &str = "5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e5ca1ab1e";

pub(crate) type Resources = Vec<Box<dyn Any>>;

/// Disables background writeback so that only the cases write back pages. Disables swap readahead
/// so that each swapped page is read separately.
pub(crate) fn prepare_host() {
    fs::write("/proc/sys/vm/dirty_writeback_centisecs", "0").unwrap();
    fs::write("/proc/sys/vm/page-cluster", "0").unwrap();
    fs::create_dir("/run/cgroup").unwrap();
    run("mount", &["-t", "cgroup2", "none", "/run/cgroup"]).unwrap();
    fs::write("/run/cgroup/cgroup.subtree_control", "+memory").unwrap();
    fs::read(env!("CARGO_BIN_EXE_leadline-runner")).unwrap();
}

/// A device with all of its resources, from top to bottom.
pub(crate) struct Stack {
    pub node: String,
    pub parts: Resources,
}

pub(crate) fn disk(name: &str) -> Stack {
    Stack {
        node: format!("/dev/{name}"),
        parts: vec![],
    }
}

/// A dm device on lower devices, which the table refers to as `{0}` and `{1}`.
pub(crate) fn mapped(lower: Vec<Stack>, bytes: u64, target: &str) -> Stack {
    static USED: AtomicU64 = AtomicU64::new(0);
    let mut target = target.to_owned();
    for (number, stack) in lower.iter().enumerate() {
        target = target.replace(&format!("{{{number}}}"), &stack.node);
    }
    let name = format!("dm{}", USED.fetch_add(1, Ordering::Relaxed));
    let top = Mapped::new(&name, bytes, &target);
    let node = top.node.clone();
    stack(node, Box::new(top), lower)
}

fn stack(node: String, top: Box<dyn Any>, lower: Vec<Stack>) -> Stack {
    let mut parts = vec![top];
    parts.extend(lower.into_iter().flat_map(|stack| stack.parts));
    Stack { node, parts }
}

pub(crate) fn linear(lower: Stack, bytes: u64) -> Stack {
    mapped(vec![lower], bytes, "linear {0} 0")
}

pub(crate) fn crypt(lower: Stack, bytes: u64) -> Stack {
    let target = format!("crypt aes-xts-plain64 {KEY} 0 {{0}} 0");
    mapped(vec![lower], bytes, &target)
}

pub(crate) fn stripe(one: Stack, two: Stack, bytes: u64) -> Stack {
    mapped(vec![one, two], bytes, "striped 2 128 {0} 0 {1} 0")
}

/// An md array of whole devices.
pub(crate) fn array(level: &str, options: &[&str], lower: Vec<Stack>) -> Stack {
    let nodes: Vec<String> = lower.iter().map(|stack| stack.node.clone()).collect();
    let array = Array::new(level, options, &nodes);
    stack(array.0.clone(), Box::new(array), lower)
}

pub(crate) fn disks(names: &[&str]) -> Vec<Stack> {
    names.iter().map(|name| disk(name)).collect()
}

/// A loop device backed by a file.
pub(crate) fn attached(
    file: &Path,
    options: &[&str],
    mut below: Resources,
) -> Result<Stack, String> {
    let device = Loop::attach(file, options).ok_or("no loop device")?;
    let node = device.0.clone();
    below.insert(0, Box::new(device));
    Ok(Stack { node, parts: below })
}

/// A filesystem on a device. Returns its mount point.
pub(crate) fn volume(at: &Path, make: &str, mut on: Stack) -> Result<(PathBuf, Resources), String> {
    crate::writes::builders::make_filesystem(make, &on.node)?;
    let at = at.join(format!("on-{}", on.node.trim_start_matches("/dev/")));
    let mounted = Mounted::new(&on.node, &at);
    on.parts.insert(0, Box::new(mounted));
    Ok((at, on.parts))
}

/// Fills a raw device and drops its pages.
pub(crate) fn fill(node: &str, bytes: u64) {
    let file = fs::File::options().write(true).open(node).unwrap();
    let chunk: Vec<u8> = (0..MIB).map(|at| (at % 251) as u8).collect();
    for offset in (0..bytes).step_by(chunk.len()) {
        std::os::unix::fs::FileExt::write_all_at(&file, &chunk, offset).unwrap();
    }
    drop(file);
    drop_pages(Path::new(node));
}

/// Keeps the first half of a file or device in the page cache.
pub(crate) fn half_warm(path: &Path, parts: &mut Resources) {
    parts.insert(0, Box::new(lock(path, SIZE / 2)));
}

pub(crate) fn reads_of_all(disks: &[&str]) -> u64 {
    let each = disks.iter().map(|name| reads_of(&format!("/dev/{name}")));
    each.sum()
}

/// The share of single-page random reads that reached any of the disks.
pub(crate) fn counted(disks: &'static [&'static str]) -> Expected {
    let before = reads_of_all(disks);
    Box::new(move |result| {
        let share = ((reads_of_all(disks) - before) as f64 / ios(result, "read")).min(1.0);
        vec![split("read", 1.0 - share, 0.0, share)]
    })
}

/// Single-page random direct reads. Those that did not reach a disk were served as zeros.
pub(crate) fn counted_zeros(disks: &'static [&'static str]) -> Expected {
    let before = reads_of_all(disks);
    Box::new(move |result| {
        let share = ((reads_of_all(disks) - before) as f64 / ios(result, "read")).min(1.0);
        vec![split("read", 0.0, 1.0 - share, share)]
    })
}

/// The share of bytes that were written to the disks, if the job writes each block once. Nothing is
/// written back after the run.
pub(crate) fn counted_writes(disks: &'static [&'static str]) -> Expected {
    let written = move || -> u64 { disks.iter().map(|name| written_bytes(name)).sum() };
    let before = written();
    Box::new(move |result| {
        let issued = ios(result, "write") * 4096.0;
        let share = ((written() - before) as f64 / issued).min(1.0);
        let mut truth = split("write", 1.0 - share, 0.0, share);
        // Allowance for metadata writes.
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
