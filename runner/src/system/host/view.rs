//! The plan's eyes: answers `HostView` from one look at the real host.

use crate::plan::host_view::{DirectAlignment, HostView, PathFacts, PathKind};
use crate::system::guard::{Guard, Purpose};
use crate::system::host::block_device::BlockDevice;
use crate::system::host::file::{alignment_in, alignment_of, free_bytes, is_fully_written};
use crate::system::host::identity::identity;
use crate::system::host::interference;
use crate::system::host::interference::results_directory;
use crate::system::host::inventory::Inventory;
use crate::system::host::ioctl::LOOP_CONTROL;
use crate::system::host::kernel::{Kernel, value};
use crate::system::host::resolved_path::ResolvedPath;
use crate::system::host::{io_uring_support, meminfo, ownership};
use rustix::fs::{Access, access};
use rustix::process::{Resource, getrlimit};
use rustix::thread::{CapabilitySet, CpuSet, capabilities, sched_getaffinity};
use std::path::{Path, PathBuf};

/// One look at the host, and the target roots.
#[derive(Clone, Debug)]
pub struct View {
    kernel: Kernel,
    guard: Guard,
    default_directory: PathBuf,
}

impl View {
    /// Looks at the host now. `roots`: directories under which files may be targets; when empty, files may be
    /// anywhere, and names are relative to the current directory.
    pub fn new(roots: Vec<PathBuf>) -> Self {
        let here = || std::env::current_dir().unwrap_or_else(|_| "/".into());
        let default_directory = roots.first().map_or_else(here, |root| {
            root.canonicalize().unwrap_or_else(|_| root.clone())
        });
        Self {
            kernel: Kernel::live(),
            guard: Guard::live(&roots),
            default_directory,
        }
    }
}

impl HostView for View {
    fn path(&self, path: &str) -> PathFacts {
        let place = ResolvedPath::find(&self.default_directory.join(path));
        let refused = |purpose| self.guard.admit(&place, purpose).err();
        let facts = match place.kind {
            PathKind::Device => device_facts(&self.guard.host, &place),
            _ => file_facts(&self.guard.host, &place),
        };
        PathFacts {
            under_target_root: self.guard.is_under_root(&place.path),
            reading_refused: refused(Purpose::Read),
            writing_refused: refused(Purpose::Write),
            ..facts
        }
    }

    fn default_directory(&self) -> String {
        self.default_directory.to_string_lossy().into_owned()
    }

    fn available_memory(&self) -> u64 {
        meminfo::read(&self.kernel, "MemAvailable").unwrap_or(0)
    }

    fn io_uring_unavailable(&self) -> Option<(String, String)> {
        io_uring_support::unavailable(&self.kernel)
    }

    fn kernel_version(&self) -> Option<(u32, u32)> {
        self.kernel.version()
    }

    fn loop_unavailable(&self) -> Option<(String, String)> {
        let error = access(LOOP_CONTROL, Access::READ_OK | Access::WRITE_OK).err()?;
        let reason = format!(
            "No loop device can be made: {LOOP_CONTROL}: {}.",
            std::io::Error::from(error)
        );
        Some((
            reason,
            "Run as root, with the module loop (modprobe loop), or leave loop_device out.".into(),
        ))
    }

    fn cpus(&self) -> Vec<u32> {
        let set = sched_getaffinity(None).ok();
        set.map_or_else(
            || vec![0],
            |set| {
                (0..CpuSet::MAX_CPU)
                    .filter(|&cpu| set.is_set(cpu))
                    .map(|cpu| cpu as u32)
                    .collect()
            },
        )
    }

    fn results_on(&self, device: &str) -> Option<String> {
        let results = results_directory()?;
        interference::shares_disk(&self.guard.host, device, &results)
            .then(|| results.to_string_lossy().into_owned())
    }

    fn misaligned_by(&self, device: &str) -> Option<u64> {
        interference::misaligned_by(self.guard.host.blocks.get(device)?)
    }

    fn may_drop_caches(&self) -> bool {
        access(
            self.kernel.proc.join("sys/vm/drop_caches"),
            Access::WRITE_OK,
        )
        .is_ok()
    }

    fn lockable_bytes(&self) -> u64 {
        let exempt =
            capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
        getrlimit(Resource::Memlock)
            .current
            .filter(|_| !exempt)
            .unwrap_or(u64::MAX)
    }
}

/// What is told of every place; the guard's words are added afterwards.
fn bare_facts(
    place: &ResolvedPath,
    direct_alignment: Result<DirectAlignment, String>,
) -> PathFacts {
    PathFacts {
        kind: place.kind,
        canonical: place.path.to_string_lossy().into_owned(),
        length: 0,
        filesystem: None,
        device: None,
        identity: None,
        direct_alignment,
        free_bytes: 0,
        fully_written: None,
        is_ours: false,
        under_target_root: false,
        reading_refused: None,
        writing_refused: None,
    }
}

fn device_facts(host: &Inventory, place: &ResolvedPath) -> PathFacts {
    let block = place.stat.and_then(|stat| host.by_dev(stat.rdev));
    PathFacts {
        length: block.map_or(0, |block| block.size_bytes),
        device: block.map(|block| block.name.clone()),
        identity: block.and_then(|block| identity(host, block)),
        ..bare_facts(
            place,
            alignment_of(&place.path, block.and_then(logical_block)),
        )
    }
}

fn file_facts(host: &Inventory, place: &ResolvedPath) -> PathFacts {
    let standing = standing(&place.path);
    let mount = host.mount_at(standing);
    let block = mount.and_then(|mount| host.mounted_device(mount));
    let block_bytes = block.and_then(logical_block);
    let is_file = place.kind == PathKind::File;
    let direct = if is_file {
        alignment_of(&place.path, block_bytes)
    } else {
        alignment_in(standing, block_bytes)
    };
    PathFacts {
        length: place.stat.filter(|_| is_file).map_or(0, |stat| stat.length),
        filesystem: mount.map(|mount| mount.filesystem.clone()),
        device: block.map(|block| block.name.clone()),
        free_bytes: free_bytes(standing),
        fully_written: is_file.then(|| is_fully_written(&place.path)).flatten(),
        is_ours: is_file && ownership::is_owned(&place.path),
        ..bare_facts(place, direct)
    }
}

/// The path itself, or the deepest directory above it that exists.
fn standing(path: &Path) -> &Path {
    path.ancestors()
        .find(|path| path.exists())
        .unwrap_or(Path::new("/"))
}

fn logical_block(block: &BlockDevice) -> Option<u32> {
    value(block.queue().join("logical_block_size"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_and_where_it_lies() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("f"), vec![1; 8192]).unwrap();
        let view = View::new(vec![dir.path().into()]);
        let facts = view.path("f");
        assert_eq!(
            (facts.kind, facts.length, facts.fully_written),
            (PathKind::File, 8192, Some(true))
        );
        assert!(facts.under_target_root && facts.filesystem.is_some() && facts.free_bytes > 0);
        assert_eq!((facts.reading_refused, facts.writing_refused), (None, None));
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
    fn what_is_not_there_is_told_apart() {
        let dir = tempfile::tempdir().unwrap();
        let view = View::new(vec![dir.path().into()]);
        for (path, kind, refused) in [
            ("no/such/file", PathKind::MissingDirectory, None),
            (".", PathKind::Directory, Some("not_a_file")),
            ("/etc/hostname", PathKind::File, Some("outside_roots")),
            (
                "/dev/no-such-disk",
                PathKind::Missing,
                Some("not_a_block_device"),
            ),
        ] {
            let facts = view.path(path);
            assert_eq!(
                (
                    facts.kind,
                    facts.reading_refused.map(|problem| problem.code).as_deref()
                ),
                (kind, refused),
                "{path}"
            );
        }
    }

    #[test]
    fn the_machine_has_memory_and_processors() {
        let view = View::new(Vec::new());
        assert!(view.available_memory() > 1 << 20);
        assert!(!view.cpus().is_empty());
    }
}
