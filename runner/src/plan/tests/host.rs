//! Simulated host with a fixed table of paths: two disks, a writable loop device, and files in
//! various states.

use crate::plan::host_view::{DirectAlignment, HostView, PathFacts, PathKind};
use leadline_protocol::problem::Problem;

pub(crate) const MIB: u64 = 1 << 20;
pub(crate) const GIB: u64 = 1 << 30;

pub(crate) struct TableHost {
    pub memory: u64,
    pub huge_pages: Option<u64>,
    pub free: u64,
    pub is_root: bool,
    pub io_uring: bool,
    pub kernel: (u32, u32),
    pub aio: Option<u64>,
}

impl Default for TableHost {
    fn default() -> Self {
        Self {
            memory: 8 * GIB,
            huge_pages: None,
            free: 100 * GIB,
            is_root: true,
            io_uring: true,
            kernel: (6, 18),
            aio: Some(65_536),
        }
    }
}

impl HostView for TableHost {
    fn path(&self, path: &str) -> PathFacts {
        let file = |length, fully_written| PathFacts {
            kind: PathKind::File,
            length,
            fully_written,
            ..self.missing(path)
        };
        let other = |kind| PathFacts {
            kind,
            ..self.missing(path)
        };
        match path {
            "/data/full" | "/data/link" => PathFacts {
                canonical: "/data/full".into(),
                ..file(GIB, Some(true))
            },
            "/data/short" => file(64 * MIB, Some(true)),
            "/data/sparse" | "/data/owned-sparse" => file(GIB, Some(false)),
            "/data/linked-sparse" => PathFacts {
                write_problem: Some(Problem::guard(
                    "hard_linked",
                    "filename",
                    "The file has 2 links.",
                    "Use another file.",
                )),
                ..file(GIB, Some(false))
            },
            "/data/owned" => file(GIB, Some(true)),
            "/data/odd" => file(1000, Some(true)),
            "/data/empty" => file(0, Some(true)),
            "/data" | "/data/dir" | "/dev/" => other(PathKind::Directory),
            "/data/fifo" => other(PathKind::Other),
            "/etc/passwd" | "/etc/new" => {
                let kind = if path.ends_with("new") {
                    PathKind::Missing
                } else {
                    PathKind::File
                };
                PathFacts {
                    kind,
                    length: 4096,
                    under_target_root: false,
                    ..self.missing(path)
                }
            }
            "/shm/file" => PathFacts {
                filesystem: Some("tmpfs".into()),
                device: None,
                direct_alignment: Err("tmpfs has no O_DIRECT".into()),
                ..self.missing(path)
            },
            "/dev/shm/new" => PathFacts {
                filesystem: Some("tmpfs".into()),
                ..self.missing(path)
            },
            "/dev/vdb" => PathFacts {
                write_problem: Some(Problem::guard(
                    "raw_write_refused",
                    "filename",
                    "vdb is a disk.",
                    "Use a loop device.",
                )),
                ..device("vdb", 10 * GIB, 512)
            },
            "/dev/loop0" => device("loop0", GIB, 4096),
            _ if path.starts_with("/dev/") || path.starts_with("/nowhere/") => {
                other(if path.matches('/').count() > 2 {
                    PathKind::MissingDirectory
                } else {
                    PathKind::Missing
                })
            }
            _ => self.missing(path),
        }
    }

    fn default_directory(&self) -> String {
        "/data".into()
    }

    fn available_aio(&self) -> Option<u64> {
        self.aio
    }

    fn available_memory(&self) -> u64 {
        self.memory
    }

    fn available_huge_pages(&self) -> Option<u64> {
        self.huge_pages
    }

    fn io_uring_unavailable(&self) -> Option<(String, String)> {
        (!self.io_uring).then(|| {
            (
                "kernel.io_uring_disabled is 2.".into(),
                "Run sysctl kernel.io_uring_disabled=0.".into(),
            )
        })
    }

    fn kernel_version(&self) -> Option<(u32, u32)> {
        Some(self.kernel)
    }

    fn loop_unavailable(&self) -> Option<(String, String)> {
        (!self.is_root).then(|| ("Loop devices need root.".into(), "Run as root.".into()))
    }

    fn cpus(&self) -> Vec<u32> {
        vec![0, 1]
    }

    fn lockable_bytes(&self) -> u64 {
        8 * MIB
    }

    fn data_directory_on(&self, device: &str) -> Option<String> {
        (device == "vdb").then(|| "/var/leadline".into())
    }

    fn misaligned_by(&self, device: &str) -> Option<u64> {
        (device == "vdb").then_some(512)
    }

    fn may_drop_caches(&self) -> bool {
        self.is_root
    }
}

impl TableHost {
    /// A missing file on the ext4 filesystem on vda.
    fn missing(&self, path: &str) -> PathFacts {
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
            free_bytes: self.free,
            fully_written: None,
            is_owned: path.starts_with("/data/owned"),
            under_target_root: true,
            read_problem: None,
            write_problem: None,
        }
    }
}

fn device(name: &str, length: u64, offset: u32) -> PathFacts {
    PathFacts {
        kind: PathKind::Device,
        canonical: format!("/dev/{name}"),
        length,
        allocated_bytes: 0,
        filesystem: None,
        device: Some(name.into()),
        identity: Some(format!("serial:{name}-1")),
        direct_alignment: Ok(DirectAlignment {
            memory: offset,
            offset,
        }),
        can_poll: false,
        free_bytes: 0,
        fully_written: None,
        is_owned: false,
        under_target_root: false,
        read_problem: None,
        write_problem: None,
    }
}
