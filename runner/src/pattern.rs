//! What the next I/O is: kind, target, offset, size. Pure and seeded: the same job gives the same list.

/// What an I/O does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum Kind {
    /// Read into the buffer.
    Read = 0,
    /// Write from the buffer.
    Write = 1,
    /// Discard blocks.
    Trim = 2,
    /// fsync.
    Sync = 3,
    /// fdatasync.
    Datasync = 4,
}

/// One I/O.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct Io {
    /// Where it begins in the target, in bytes.
    pub offset: u64,
    /// How many bytes; 0 for a sync.
    pub len: u32,
    /// Which of the clone's targets.
    pub target: u16,
    /// What it does.
    pub kind: Kind,
}
