//! One I/O.

/// Operation. It is as wide as the padding that it replaces in `Io`, so an `Io` is copied in whole
/// words.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[repr(u16)]
pub(crate) enum Kind {
    #[default]
    Read = 0,
    Write = 1,
    Trim = 2,
    /// fsync.
    Sync = 3,
    /// fdatasync.
    Datasync = 4,
}

#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Io {
    /// Offset in the target in bytes.
    pub offset: u64,
    /// Length in bytes; 0 for a sync.
    pub len: u32,
    /// Index among the worker's targets, in the order of `ResolvedJob::targets_of`.
    pub target: u16,
    pub kind: Kind,
}
