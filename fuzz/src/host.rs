//! A host with a file, a sparse file, a device, and free space.

use leadline_runner::plan::host_view::{DirectAlignment, HostView, PathFacts, PathKind};

const GIB: u64 = 1 << 30;

pub struct TableHost;

impl HostView for TableHost {
    fn path(&self, path: &str) -> PathFacts {
        let missing = missing(path);
        match path {
            "/data/full" => file(missing, GIB, true),
            "/data/sparse" => file(missing, GIB, false),
            "/data/odd" => file(missing, 1000, true),
            "/data" => PathFacts {
                kind: PathKind::Directory,
                ..missing
            },
            "/dev/loop0" => PathFacts {
                kind: PathKind::Device,
                length: GIB,
                filesystem: None,
                device: Some("loop0".into()),
                identity: Some("loop0".into()),
                free_bytes: 0,
                ..missing
            },
            "/shm/file" => PathFacts {
                filesystem: Some("tmpfs".into()),
                device: None,
                direct_alignment: Err("tmpfs has no O_DIRECT".into()),
                ..missing
            },
            _ => missing,
        }
    }

    fn default_directory(&self) -> String {
        "/data".into()
    }

    fn available_memory(&self) -> u64 {
        8 * GIB
    }

    fn io_uring_unavailable(&self) -> Option<(String, String)> {
        None
    }

    fn kernel_version(&self) -> Option<(u32, u32)> {
        Some((6, 18))
    }

    fn loop_unavailable(&self) -> Option<(String, String)> {
        None
    }

    fn cpus(&self) -> Vec<u32> {
        vec![0, 1]
    }

    fn data_directory_on(&self, _device: &str) -> Option<String> {
        None
    }

    fn misaligned_by(&self, _device: &str) -> Option<u64> {
        None
    }

    fn may_drop_caches(&self) -> bool {
        true
    }

    fn lockable_bytes(&self) -> u64 {
        8 << 20
    }

    fn entropy(&self) -> u64 {
        1
    }
}

fn file(missing: PathFacts, length: u64, fully_written: bool) -> PathFacts {
    PathFacts {
        kind: PathKind::File,
        length,
        allocated_bytes: length,
        fully_written: Some(fully_written),
        ..missing
    }
}

fn missing(path: &str) -> PathFacts {
    PathFacts {
        kind: PathKind::Missing,
        canonical: path.into(),
        length: 0,
        allocated_bytes: 0,
        filesystem: Some("ext4".into()),
        device: Some("vda".into()),
        identity: None,
        direct_alignment: Ok(DirectAlignment {
            memory: 4,
            offset: 512,
        }),
        can_poll: true,
        free_bytes: 100 * GIB,
        fully_written: None,
        is_owned: false,
        under_target_root: true,
        read_problem: None,
        write_problem: None,
    }
}
