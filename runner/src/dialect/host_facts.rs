//! Facts about the host that an import depends on.

/// Facts about the host that fio uses while it parses a job.
pub struct HostFacts<'a> {
    pub cpus: u64,
    /// In bytes.
    pub page_size: u64,
    pub memory_mib: u64,
    /// Called only with paths below `/dev`.
    pub path_kind: &'a dyn Fn(&str) -> PathKind,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum PathKind {
    Missing,
    RegularFile,
    Other,
}
