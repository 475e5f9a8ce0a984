//! Errors of the database that may end: a full disk, a lock of another process, a missing file.

use sqlx::error::DatabaseError;

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum StoreFault {
    DiskFull,
    Locked,
    /// Read-only, I/O error, deleted or replaced.
    Unavailable,
}

/// `None` for other errors, which a retry would not solve.
pub(crate) fn fault(error: &anyhow::Error) -> Option<StoreFault> {
    error
        .chain()
        .find_map(|cause| match cause.downcast_ref::<sqlx::Error>()? {
            sqlx::Error::Database(error) => of_sqlite(error.as_ref()),
            sqlx::Error::Io(_) | sqlx::Error::PoolTimedOut => Some(StoreFault::Unavailable),
            _ => None,
        })
}

/// By primary result code (https://www.sqlite.org/rescode.html).
fn of_sqlite(error: &dyn DatabaseError) -> Option<StoreFault> {
    const PRIMARY: u32 = 0xff;
    let code: u32 = error.code()?.parse().ok()?;
    match code & PRIMARY {
        // SQLITE_BUSY, SQLITE_LOCKED
        5 | 6 => Some(StoreFault::Locked),
        // SQLITE_FULL
        13 => Some(StoreFault::DiskFull),
        // SQLITE_READONLY, SQLITE_IOERR, SQLITE_CANTOPEN
        8 | 10 | 14 => Some(StoreFault::Unavailable),
        _ => None,
    }
}
