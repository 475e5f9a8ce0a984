//! Swapped-out memory, and page caches limited by a cgroup.

use super::{
    builders::*,
    mapped::{KEEP, file_on},
};
use crate::scratch::{Mounted, program::with, run};
use serde_json::json;
use std::{
    fs,
    path::{Path, PathBuf},
    thread::sleep,
    time::Duration,
};

const A: &[&str] = &["ubda"];
const SWAP: &[&str] = &["ubde"];
/// Size of a file that does not fit in the cgroup.
const LARGE: u64 = 48 * MIB;
const LIMIT: u64 = 24 * MIB;

pub(super) const CASES: &[Case] = &[
    case("tmpfs, swapped out", |at| swapped(at, SIZE, 2 * MIB)),
    case("tmpfs, half swapped out", |at| swapped(at, SIZE, 10 * MIB)),
    case("tmpfs with unused swap", |at| {
        let swap = Swap::on();
        let (file, mounted) = tmpfs_file(at, None);
        let resources: Resources = vec![mounted, Box::new(swap)];
        situation(
            job(&file, "randread", KEEP()),
            resources,
            vec![memory("read")],
        )
    }),
    case("loop on a swapped tmpfs, direct", |at| {
        let (group, swap) = (Cgroup::new(2 * MIB), Swap::on());
        let (file, mounted) = tmpfs_file(at, Some(&group));
        let resources: Resources = vec![mounted, Box::new(group), Box::new(swap)];
        let stack = attached(&file, &["--direct-io=off"], resources)?;
        let truth = counted(SWAP);
        let job = super::mapped::raw(&stack.node, json!({"direct": 1}));
        situation_with(job, stack.parts, truth)
    }),
    case("cgroup smaller than the file, cold", |at| {
        limited(
            at,
            "randread",
            json!({"runtime": "3s", "time_based": 1}),
            false,
        )
    }),
    case("cgroup smaller than the file, read before", |at| {
        limited(at, "randread", json!({}), true)
    }),
    case("cgroup smaller than the file, multiple passes", |at| {
        limited(at, "randread", json!({"loops": 3}), true)
    }),
    case("cgroup smaller than the file, zipf", |at| {
        let changes = json!({"runtime": "3s", "time_based": 1, "random_distribution": "zipf:1.1"});
        limited(at, "randread", changes, true)
    }),
    case("cgroup, buffered writes", |at| {
        let (file, mut parts) = large_file(at)?;
        let group = Cgroup::new(LIMIT);
        let truth = counted_writes(A);
        let job = job(&file, "randwrite", with(&KEEP(), json!({"size": LARGE})));
        let path = group.0.clone();
        parts.push(Box::new(group));
        in_group(situation_with(job, parts, truth), path)
    }),
    case("cgroup, direct reads", |at| {
        let (file, mut parts) = large_file(at)?;
        let group = Cgroup::new(LIMIT);
        let job = job(&file, "randread", json!({"size": LARGE, "direct": 1}));
        let path = group.0.clone();
        parts.push(Box::new(group));
        in_group(situation(job, parts, vec![device("read")]), path)
    }),
];

/// Swap on ubde.
struct Swap;

impl Swap {
    fn on() -> Self {
        run("mkswap", &["-q", "/dev/ubde"]).unwrap();
        run("swapon", &["/dev/ubde"]).unwrap();
        Self
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        run("swapoff", &["/dev/ubde"]).unwrap();
    }
}

/// A cgroup with a memory limit.
struct Cgroup(PathBuf);

impl Cgroup {
    fn new(limit: u64) -> Self {
        let path = PathBuf::from("/run/cgroup/limited");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("memory.max"), limit.to_string()).unwrap();
        Self(path)
    }

    fn shell(&self, command: &str) {
        let entered = format!("echo $$ > {}/cgroup.procs && {command}", self.0.display());
        run("sh", &["-c", &entered]).unwrap();
    }
}

impl Drop for Cgroup {
    fn drop(&mut self) {
        // The kernel removes an exited runner from the cgroup with a delay.
        for _ in 0..100 {
            if fs::remove_dir(&self.0).is_ok() {
                return;
            }
            sleep(Duration::from_millis(20));
        }
        panic!("{} was not removed", self.0.display());
    }
}

/// A file on a tmpfs whose pages are charged to a cgroup.
fn tmpfs_file(at: &Path, group: Option<&Cgroup>) -> (PathBuf, Box<dyn std::any::Any>) {
    let at = at.join("memory");
    fs::create_dir(&at).unwrap();
    let target = at.to_str().unwrap();
    run("mount", &["-t", "tmpfs", "-o", "size=64m", "none", target]).unwrap();
    let mounted = Box::new(Mounted::existing(&at));
    let file = at.join("f");
    let write = format!("head -c {SIZE} /dev/urandom > {}", file.display());
    match group {
        Some(group) => {
            group.shell(&write);
            // A page stays in memory once it has been read.
            fs::write(group.0.join("memory.max"), "max").unwrap();
        }
        None => drop(run("sh", &["-c", &write]).unwrap()),
    }
    (file, mounted)
}

/// Reads each page of a tmpfs file once. A cgroup keeps only `limit` bytes of the file in memory.
fn swapped(at: &Path, bytes: u64, limit: u64) -> Prepared {
    let (group, swap) = (Cgroup::new(limit), Swap::on());
    let (file, mounted) = tmpfs_file(at, Some(&group));
    let resources: Resources = vec![mounted, Box::new(group), Box::new(swap)];
    let truth = counted(SWAP);
    let changes = with(&KEEP(), json!({"size": bytes}));
    situation_with(job(&file, "randread", changes), resources, truth)
}

fn large_file(at: &Path) -> Result<(PathBuf, Resources), String> {
    let (small, parts) = file_on(at, EXT4, linear(disk("ubda"), VOLUME))?;
    let file = cold_file(small.parent().unwrap(), "large", LARGE);
    Ok((file, parts))
}

/// Moves the runner into a cgroup when it starts.
fn in_group(prepared: Prepared, group: PathBuf) -> Prepared {
    prepared.map(|mut situation| {
        situation.during_run = Some(Box::new(move |pid| {
            fs::write(group.join("cgroup.procs"), pid.to_string()).unwrap();
        }));
        situation
    })
}

/// Reads in a cgroup that is too small to keep the file in memory.
fn limited(at: &Path, rw: &str, changes: serde_json::Value, was_read: bool) -> Prepared {
    let (file, mut parts) = large_file(at)?;
    let group = Cgroup::new(LIMIT);
    if was_read {
        group.shell(&format!("cat {} > /dev/null", file.display()));
    }
    let truth = counted(A);
    let changes = with(&with(&KEEP(), json!({"size": LARGE})), changes);
    let path = group.0.clone();
    // The cgroup must be removed after the file's pages.
    parts.push(Box::new(group));
    in_group(situation_with(job(&file, rw, changes), parts, truth), path)
}
