//! The `HostView` of the real host, based on one inventory. Paths and contents are examined once,
//! so a study with hundreds of runs on one device does not read it hundreds of times. The guard
//! repeats all checks when a run starts.

use crate::{
    plan::host_view::{HostView, Overwritten, PathFacts, PathKind},
    system::{
        clock::tsc,
        guard::{Guard, Purpose, permissions::Permissions},
        host::{
            aio_support,
            block_device::BlockDevice,
            cgroup_memory,
            file::{file_alignment, free_bytes, is_fully_written, new_file_alignment},
            identity::identity,
            interference::{self, data_directory, shares_disk},
            inventory::Inventory,
            io_uring_support,
            ioctl::LOOP_CONTROL,
            kernel::{Kernel, value},
            meminfo,
            overlay::storage_of_new_files,
            ownership::{self, Mark},
            resolved_path::{ResolvedPath, deepest_existing_path},
        },
        target::cancellable::run_with_timeout,
    },
};
use leadline_protocol::problem::Problem;
use rustix::{
    fs::{Access, access},
    process::{Resource, getrlimit},
    thread::{CapabilitySet, CpuSet, capabilities, sched_getaffinity},
    time::{ClockId, clock_gettime},
};
use std::{
    cell::RefCell,
    collections::HashMap,
    fs,
    hash::Hash,
    ops::Range,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::Duration,
};

/// Timeout for reading samples of a target: long enough for a slow disk to spin up.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(10);

type FoundData = Result<Option<Overwritten>, Problem>;
/// Cached results.
type Cache<K, V> = RefCell<HashMap<K, V>>;

#[derive(Debug)]
pub struct View {
    kernel: Kernel,
    guard: Guard,
    default_directory: PathBuf,
    /// By path.
    facts: Cache<String, PathFacts>,
    /// Keyed by path and regions.
    overwritten: Cache<(String, Vec<Range<u64>>), FoundData>,
}

impl View {
    /// Relative names refer to the first target root or, if there are no target roots, to the
    /// current directory.
    pub fn new(permissions: &Permissions) -> Self {
        let default_directory = match permissions.roots().next() {
            Some(root) => root.into(),
            None => std::env::current_dir().unwrap_or_else(|_| "/".into()),
        };
        Self::at(Kernel::live(), Guard::live(permissions), default_directory)
    }

    fn at(kernel: Kernel, guard: Guard, default_directory: PathBuf) -> Self {
        Self {
            kernel,
            guard,
            default_directory,
            facts: RefCell::default(),
            overwritten: RefCell::default(),
        }
    }

    /// The view of a host other than this one.
    #[cfg(test)]
    pub(crate) fn of(kernel: Kernel, guard: Guard) -> Self {
        Self::at(kernel, guard, "/".into())
    }

    fn examine_path(&self, path: &str) -> PathFacts {
        let found = ResolvedPath::find(&self.default_directory.join(path));
        let host = &self.guard.host;
        let rejected = |purpose| self.guard.admit(&found, purpose).err();
        let facts = PathFacts {
            kind: found.kind,
            canonical: found.path.to_string_lossy().into_owned(),
            length: 0,
            allocated_bytes: 0,
            filesystem: None,
            device: None,
            identity: None,
            direct_alignment: Err(String::new()),
            can_poll: false,
            free_bytes: 0,
            fully_written: None,
            is_owned: false,
            under_target_root: self.guard.is_under_root(&found.path),
            read_problem: rejected(Purpose::Read),
            write_problem: rejected(Purpose::Write),
        };
        match found.kind {
            PathKind::Device => device_facts(host, &found, facts),
            _ => file_facts(host, &found, facts),
        }
    }

    fn examine_data(&self, path: &str, regions: &[Range<u64>]) -> FoundData {
        let found = ResolvedPath::find(Path::new(path));
        let guard = self.guard.clone();
        let regions = regions.to_vec();
        let examine = move || guard.overwritten(&found, &regions);
        run_with_timeout(RESPONSE_TIMEOUT, "examine", examine)
            .unwrap_or_else(|| Err(no_response(path)))
    }
}

/// Returns the cached value for a key, computing it on the first call.
fn get_or_compute<K: Eq + Hash, V: Clone>(
    cache: &Cache<K, V>,
    key: K,
    compute: impl FnOnce() -> V,
) -> V {
    if let Some(value) = cache.borrow().get(&key) {
        return value.clone();
    }
    let value = compute();
    cache.borrow_mut().insert(key, value.clone());
    value
}

impl HostView for View {
    fn path(&self, path: &str) -> PathFacts {
        get_or_compute(&self.facts, path.to_owned(), || self.examine_path(path))
    }

    fn default_directory(&self) -> String {
        self.default_directory.to_string_lossy().into_owned()
    }

    fn available_memory(&self) -> u64 {
        let host = meminfo::read(&self.kernel, "MemAvailable");
        let group = cgroup_memory::available(&self.kernel);
        // 0 means that the limit is unknown, so a group without headroom counts as having 1 byte.
        let group = group.map(|bytes| bytes.max(1));
        host.into_iter().chain(group).min().unwrap_or(0)
    }

    fn available_huge_pages(&self) -> Option<u64> {
        meminfo::available_huge_pages(&self.kernel)
    }

    fn available_aio(&self) -> Option<u64> {
        aio_support::available(&self.kernel)
    }

    fn io_uring_unavailable(&self) -> Option<(String, String)> {
        io_uring_support::unavailable_reason(&self.kernel)
    }

    fn kernel_version(&self) -> Option<(u32, u32)> {
        self.kernel.version()
    }

    fn loop_unavailable(&self) -> Option<(String, String)> {
        let error = access(LOOP_CONTROL, Access::READ_OK | Access::WRITE_OK).err()?;
        Some((
            format!("Loop devices are not available: {LOOP_CONTROL}: {error}."),
            "Run as root with the loop module loaded (modprobe loop), or remove loop_device."
                .into(),
        ))
    }

    fn cpus(&self) -> Vec<u32> {
        let Ok(set) = sched_getaffinity(None) else {
            return vec![0];
        };
        (0..CpuSet::MAX_CPU as u32)
            .filter(|&cpu| set.is_set(cpu as usize))
            .collect()
    }

    fn data_directory_on(&self, device: &str) -> Option<String> {
        let results = data_directory()?;
        shares_disk(&self.guard.host, device, &results)
            .then(|| results.to_string_lossy().into_owned())
    }

    fn misaligned_by(&self, device: &str) -> Option<u64> {
        interference::misaligned_by(self.guard.host.blocks.get(device)?)
    }

    fn may_drop_caches(&self) -> bool {
        let file = self.kernel.proc.join("sys/vm/drop_caches");
        access(file, Access::WRITE_OK).is_ok()
    }

    fn has_tsc_clock(&self) -> bool {
        tsc::is_trusted()
    }

    fn overwritten(&self, path: &str, regions: &[Range<u64>]) -> FoundData {
        let key = (path.to_owned(), regions.to_vec());
        get_or_compute(&self.overwritten, key, || self.examine_data(path, regions))
    }

    fn minute(&self) -> u64 {
        // Unlike the wall clock, this clock cannot be set.
        clock_gettime(ClockId::Boottime).tv_sec as u64 / 60
    }

    fn lockable_bytes(&self) -> u64 {
        let is_exempt =
            capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
        match getrlimit(Resource::Memlock).current {
            Some(limit) if !is_exempt => limit,
            _ => u64::MAX,
        }
    }
}

fn no_response(path: &str) -> Problem {
    Problem::environment(
        "no_response",
        "filename",
        format!(
            "{path} did not respond within {} s.",
            RESPONSE_TIMEOUT.as_secs()
        ),
        "Check the device and its filesystem (dmesg).",
    )
}

fn device_facts(host: &Inventory, found: &ResolvedPath, facts: PathFacts) -> PathFacts {
    let block = found.stat.and_then(|stat| host.by_dev(stat.rdev));
    PathFacts {
        length: block.map_or(0, |block| block.size_bytes),
        device: block.map(|block| block.name.clone()),
        identity: block.and_then(|block| identity(host, block)),
        direct_alignment: file_alignment(&found.path, block.and_then(logical_block_bytes)),
        can_poll: block.is_some_and(can_poll),
        ..facts
    }
}

fn file_facts(host: &Inventory, found: &ResolvedPath, mut facts: PathFacts) -> PathFacts {
    let existing = deepest_existing_path(&found.path);
    let mount = host.mount_at(existing);
    let block = host.device_at(existing);
    let block_bytes = block.and_then(logical_block_bytes);
    facts.filesystem = mount.map(|mount| mount.filesystem.clone());
    facts.device = block.map(|block| block.name.clone());
    facts.can_poll = block.is_some_and(can_poll);
    facts.free_bytes = free_bytes(existing);
    if found.kind == PathKind::File {
        facts.length = found.stat.map_or(0, |stat| stat.length);
        facts.allocated_bytes = fs::metadata(&found.path).map_or(0, |found| found.blocks() * 512);
        facts.fully_written = is_fully_written(&found.path);
        facts.is_owned = ownership::is_owned(Mark::Target, &found.path);
        facts.direct_alignment = file_alignment(&found.path, block_bytes);
    } else {
        let storage = storage_of_new_files(&host.mounts, existing);
        facts.direct_alignment = new_file_alignment(storage.as_deref(), block_bytes);
    }
    facts
}

fn can_poll(block: &BlockDevice) -> bool {
    value(block.queue().join("io_poll")) == Some(1)
}

fn logical_block_bytes(block: &BlockDevice) -> Option<u32> {
    value(block.queue().join("logical_block_size"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_about_an_existing_and_a_missing_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), vec![1; 8192]).unwrap();
        let view = View::new(&Permissions::below(&[dir.path().into()]));
        let facts = view.path("f");
        assert_eq!(
            (facts.kind, facts.length, facts.fully_written),
            (PathKind::File, 8192, Some(true))
        );
        assert!(facts.under_target_root && facts.filesystem.is_some() && facts.free_bytes > 0);
        assert_eq!((facts.read_problem, facts.write_problem), (None, None));
        let missing = view.path("new");
        assert_eq!(
            (missing.kind, missing.length, missing.fully_written),
            (PathKind::Missing, 0, None)
        );
        assert_eq!(
            (missing.filesystem, missing.device, missing.direct_alignment),
            (facts.filesystem, facts.device, facts.direct_alignment)
        );
    }

    #[test]
    fn facts_about_paths_that_are_not_targets() {
        let dir = tempfile::tempdir().unwrap();
        let view = View::new(&Permissions::below(&[dir.path().into()]));
        for (path, kind, rejected) in [
            ("missing/dir/file", PathKind::MissingDirectory, None),
            (".", PathKind::Directory, Some("not_a_file")),
            ("/etc/hostname", PathKind::File, Some("outside_roots")),
            (
                "/dev/missing-disk",
                PathKind::Missing,
                Some("not_a_block_device"),
            ),
        ] {
            let facts = view.path(path);
            assert_eq!(
                (
                    facts.kind,
                    facts.read_problem.map(|problem| problem.code).as_deref()
                ),
                (kind, rejected),
                "{path}"
            );
        }
    }

    #[test]
    fn host_has_memory_and_processors() {
        let view = View::new(&Permissions::default());
        assert!(view.available_memory() > 1 << 20);
        assert!(!view.cpus().is_empty());
    }
}
